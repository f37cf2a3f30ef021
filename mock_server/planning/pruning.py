"""Finds the manifests and files that can hold no matching row, and the residual for the others.

There are three filters, each certain when it excludes: the partition summaries of a manifest, the
partition values of a file, the column metrics of a file.
"""

from collections.abc import Iterator

from msgspec import Struct

from icecheck.mock_server.planning.content_files import ContentFile, FieldSummary, ManifestFile
from icecheck.mock_server.planning.filters.expressions import (
    ALWAYS_FALSE,
    ALWAYS_TRUE,
    Always,
    Connective,
    Tree,
    fold,
    mapped,
)
from icecheck.mock_server.planning.filters.predicates import BoundExpression, BoundPredicate
from icecheck.mock_server.planning.filters.projection import (
    BoundPartitionSpec,
    PartitionColumn,
    PartitionTest,
    ProjectedLeaf,
    passes,
    projected,
)
from icecheck.mock_server.planning.filters.single_values import Value, value_of_bound
from icecheck.mock_server.planning.filters.value_ranges import ValueRange, could_hold, through

_FLOATING = frozenset({"float", "double"})


class SpecFilter(Struct, frozen=True):
    """A filter prepared for the files of one partition spec."""

    spec: BoundPartitionSpec
    expression: BoundExpression
    projected: Tree[ProjectedLeaf]

    def could_match_manifest(self, manifest: ManifestFile) -> bool:
        """Return whether a manifest could list a file with a matching row."""
        summaries = manifest.partitions
        if summaries is None or len(summaries) != len(self.spec.columns):
            return True

        def leaf(of: ProjectedLeaf | Always) -> bool:
            if isinstance(of, Always):
                return of.value
            return all(
                _could_pass(test, self.spec.columns[test.position], summaries[test.position])
                for test in of.inclusive
            )

        return fold(self.projected, leaf, _any_or_all)

    def could_match_file(self, file: ContentFile) -> bool:
        """Return whether a file could have a matching row, by its partition and by its metrics."""
        if file.record_count == 0:
            return False

        def by_partition(of: ProjectedLeaf | Always) -> bool:
            if isinstance(of, Always):
                return of.value
            return all(passes(test, file.partition) for test in of.inclusive)

        def by_metrics(of: BoundPredicate | Always) -> bool:
            return of.value if isinstance(of, Always) else _could_match(of, file)

        if not fold(self.projected, by_partition, _any_or_all):
            return False
        # A negative record count was not counted: the metrics are not reliable either.
        return file.record_count < 0 or fold(self.expression, by_metrics, _any_or_all)

    def residual(self, file: ContentFile) -> BoundExpression:
        """Return the part of the filter that the file's partition values do not decide."""

        def leaf(of: ProjectedLeaf | Always) -> BoundExpression:
            if isinstance(of, Always):
                return of
            if any(passes(test, file.partition) for test in of.strict):
                return ALWAYS_TRUE
            if not all(passes(test, file.partition) for test in of.inclusive):
                return ALWAYS_FALSE
            return of.predicate

        return mapped(self.projected, leaf)


def spec_filter(expression: BoundExpression, spec: BoundPartitionSpec) -> SpecFilter:
    """Prepare a filter for the files of a spec."""
    return SpecFilter(spec, expression, projected(expression, spec))


def _any_or_all(connective: Connective, children: Iterator[bool]) -> bool:
    return all(children) if connective == "and" else any(children)


def _could_pass(test: PartitionTest, column: PartitionColumn, summary: FieldSummary) -> bool:
    values = _range_of_summary(column.transform.result_type, summary)
    if test.through is not None:
        values = through(test.through, values)
    return could_hold(test.operation, test.literals, values)


def _range_of_summary(type_: str | None, summary: FieldSummary) -> ValueRange:
    # A summary without a lower bound means that all values are null or NaN.
    comparable = summary.lower_bound is not None
    may_be_nan = type_ in _FLOATING and summary.contains_nan is not False
    return ValueRange(
        type=type_,
        lower=_value(type_, summary.lower_bound),
        upper=_value(type_, summary.upper_bound),
        may_be_null=summary.contains_null,
        may_be_nan=may_be_nan,
        only_null=summary.contains_null and not comparable and not may_be_nan,
        only_nan=summary.contains_nan is True and not summary.contains_null and not comparable,
        comparable=comparable,
    )


def _could_match(predicate: BoundPredicate, file: ContentFile) -> bool:
    column = predicate.column
    if column.in_collection:
        return True  # metrics count elements, not rows
    values = _range_of_column(
        column.id, column.type if isinstance(column.type, str) else None, file
    )
    return could_hold(predicate.operation, predicate.literals, through(predicate.transform, values))


def _range_of_column(column_id: int, type_: str | None, file: ContentFile) -> ValueRange:
    values = (file.value_counts or {}).get(column_id)
    nulls = (file.null_value_counts or {}).get(column_id)
    nans = (file.nan_value_counts or {}).get(column_id)
    only_null = values is not None and values == nulls
    only_nan = values is not None and values == nans
    return ValueRange(
        type=type_,
        lower=_value(type_, (file.lower_bounds or {}).get(column_id)),
        upper=_value(type_, (file.upper_bounds or {}).get(column_id)),
        may_be_null=nulls != 0,
        may_be_nan=nans != 0,
        only_null=only_null,
        only_nan=only_nan,
        comparable=not only_null and not only_nan,
    )


def _value(type_: str | None, bound: bytes | None) -> Value | None:
    return None if type_ is None or bound is None else value_of_bound(type_, bound)
