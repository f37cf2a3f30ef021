"""Checks of reportMetrics with every kind of value in a report about one table."""

from collections.abc import Iterable, Iterator
from typing import Any

from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import given_commit, given_loaded, given_table, shared_table
from icecheck.conformance.kit.expressions import joined
from icecheck.findings.symptoms import UNNAMED_CHANGED, Severity, declare
from icecheck.judging.check import generated_check
from icecheck.objects import metadata_view as view
from icecheck.objects.evolving import schema_addition, wider_schema
from icecheck.replies.expect import equal
from icecheck.replies.matching import show

_CHANGED_BY_A_REPORT = declare(
    "changed-by-a-report",
    "Reporting metrics changes the table",
    Severity.FALSE_OR_LOST,
    UNNAMED_CHANGED,
)

Json = Any
Report = dict[str, Json]
Value = tuple[str, dict[str, Json]]
Values = list[Value]

LONG_MAX = 2**63 - 1
NUMBERS = (0, 1, 2**31 - 1, 2**31, 2**32, 2**53 + 1, LONG_MAX)
UNITS = ("count", "bytes", "undefined", "rows")
TIME_UNITS = ("nanoseconds", "microseconds", "milliseconds", "seconds", "minutes", "hours", "days")
OPERATIONS = ("append", "replace", "overwrite", "delete")
PROJECTIONS: tuple[tuple[list[int], list[str]], ...] = (
    ([], []),
    ([1], ["id"]),
    ([2, 1], ["data", "id"]),
    ([1, 2, 7], ["id", "data", "place.spot.lat"]),
    ([8, 2**31 - 1], ["scores.value.points", "_file"]),
    ([1], ["\u00fcnic\u00f6de \U0001f600"]),
)
METADATA: tuple[Json, ...] = (
    {},
    {"engine-name": "", "engine-version": "4.0"},
    {"a b/c": "\u00fc=%20&", "long": "x" * 500},
)
_LITERALS: tuple[Json, ...] = (
    True, 42, 2**53 + 1, -1, 3.5, "123.4500", "hello", "",
    "eb26bdb1-a1d8-4aa6-990e-da940875492c", "2007-12-03", "22:31:08.123456",
    "2007-12-03T10:15:30.123456", "2007-12-03T10:15:30.123456789+00:00", "78797A",
)  # fmt: skip
_COMPARISONS = (
    "lt", "lt-eq", "gt", "gt-eq", "eq", "not-eq", "starts-with", "not-starts-with",
)  # fmt: skip
_TRANSFORMS = ("identity", "year", "month", "day", "hour", "bucket[256]", "truncate[16]")


def _filters() -> Iterator[list[Json]]:
    """Yield every kind of expression, those that come together in one report side by side."""
    yield [{"type": "true"}]
    yield [{"type": "false"}]
    plain: list[Json] = [{"type": each, "term": "data", "value": "a"} for each in _COMPARISONS]
    plain += [{"type": "eq", "term": "data", "value": value} for value in _LITERALS]
    plain += [
        {"type": "in", "term": "id", "values": [1, 2**53 + 1]},
        {"type": "not-in", "term": "place.spot.lat", "values": [1.5]},
    ]
    yield from (plain[first::2] for first in range(2))
    first, *others = (
        {
            "type": "eq",
            "term": {"type": "transform", "transform": each, "term": "data"},
            "value": 3,
        }
        for each in _TRANSFORMS
    )
    yield from ([first], others)
    nested = plain[0]
    for at, each in enumerate(plain[1:10]):
        nested = {"type": "and" if at % 2 else "or", "left": {"type": "not", "child": each},
                  "right": nested}  # fmt: skip
    yield [nested]


def _common(table: Table, metrics: Json) -> Report:
    return {
        "table-name": ".".join((*table.namespace, table.name)),
        "snapshot-id": 7_000_000_000_000_000_001,
        "metrics": metrics,
    }


def _scan(table: Table, metrics: Json = None, **members: Json) -> Report:
    report = {
        "report-type": "scan-report",
        **_common(table, metrics or {}),
        "filter": {"type": "eq", "term": "id", "value": 1},
        "schema-id": 0,
        "projected-field-ids": [1],
        "projected-field-names": ["id"],
    }
    return report | {name.replace("_", "-"): value for name, value in members.items()}


def _commit(table: Table, metrics: Json = None, **members: Json) -> Report:
    report = {
        "report-type": "commit-report",
        **_common(table, metrics or {}),
        "sequence-number": 1,
        "operation": "append",
    }
    return report | {name.replace("_", "-"): value for name, value in members.items()}


def _numbered(number: int) -> Json:
    timer = {"count": number, "time-unit": "nanoseconds", "total-duration": number}
    return {"total-duration": timer, "result-data-files": {"unit": "count", "value": number}}


def _counted(unit: str) -> Json:
    return {"total-file-size-bytes": {"unit": unit, "value": 1}}


def _timed(unit: str) -> Json:
    return {"total-planning-duration": {"time-unit": unit, "count": 2, "total-duration": 3}}


_OWN_METRIC = {"x.y/z \u00fc": {"unit": "count", "value": 1}}
_MANY_METRICS = {f"m-{at}": {"unit": "count", "value": at} for at in range(200)}


def _of_metrics() -> list[Values]:
    """Return the values of metrics, by the names of these: one report may have one of each."""
    return [
        [(f"with numbers of {each}", {"metrics": _numbered(each)}) for each in NUMBERS],
        [(f"with a counter of {each}", {"metrics": _counted(each)}) for each in UNITS],
        [(f"with a timer in {each}", {"metrics": _timed(each)}) for each in TIME_UNITS],
        [
            ("with a metric of its own name", {"metrics": _OWN_METRIC}),
            ("with many metrics", {"metrics": _MANY_METRICS}),
        ],
    ]


def _scan_values() -> list[Values]:
    """Return the values of a scan report, by the part of the report that they are for."""
    return [
        *_of_metrics(),
        [(f"filtered by {show(each)}", {"filter": joined("and", each)}) for each in _filters()],
        [
            (f"of {show(names)}", {"projected_field_ids": ids, "projected_field_names": names})
            for ids, names in PROJECTIONS
        ],
        [(f"with metadata {show(each)}", {"metadata": each}) for each in METADATA],
        [(f"of snapshot {number}", {"snapshot_id": number}) for number in NUMBERS],
    ]


def _commit_values() -> list[Values]:
    """Return the values of a commit report in the same way."""
    return [
        *_of_metrics(),
        [(f"with metadata {show(each)}", {"metadata": each}) for each in METADATA],
        [(f"that is {each}", {"operation": each}) for each in OPERATIONS],
        [
            (f"of snapshot and number {each}", {"snapshot_id": each, "sequence_number": each})
            for each in NUMBERS
        ],
    ]


def _joined(values: Iterable[dict[str, Json]]) -> dict[str, Json]:
    """Return members with all these values, metrics beside each other."""
    found: dict[str, Json] = {}
    for member, value in (pair for members in values for pair in members.items()):
        if member == "metrics":
            found[member] = {**found.get(member, {}), **value}
        else:
            found[member] = value
    return found


def _apart(together: Iterable[Value]) -> Iterator[Value]:
    """Yield the values of a report one by one, and so the expressions in its filter."""
    for what, members in together:
        filters = [each for each in _filters() if members == {"filter": joined("and", each)}]
        for each in (one for several in filters for one in several):
            yield f"filtered by {show(each)}", {"filter": each}
        yield what, members


@generated_check("reportMetrics.every-value")
def test_reports_with_every_kind_of_value(catalog: Catalog) -> None:
    """Reports are accepted, whatever their counters, timers, filters, names and numbers are."""
    table = shared_table(catalog)
    for kind, make, parts in (
        ("scan", _scan, _scan_values()),
        ("commit", _commit, _commit_values()),
    ):
        for at in range(max(map(len, parts))):
            together = [values[at % len(values)] for values in parts]
            report = make(table, **_joined(members for _, members in together))
            reply = catalog.report_metrics(table.namespace, table.name, report)
            for what, members in () if reply.ok else _apart(together):  # so that one is named
                alone = catalog.report_metrics(table.namespace, table.name, make(table, **members))
                alone.expect(200, 204, detail=f"sent a {kind} {what}")
            words = ", ".join(what for what, _ in together)
            reply.expect(200, 204, detail=f"sent a {kind} {words}")
    if catalog.claims("updateTable"):
        _expect_of_each_schema(catalog)


def _expect_of_each_schema(catalog: Catalog) -> None:
    """Judge scan reports of an older and of the current schema: a client may use an older one."""
    table = given_table(catalog)
    updates = [
        schema_addition(table.metadata, wider_schema(table)),
        {"action": "set-current-schema", "schema-id": -1},
    ]
    table = given_commit(catalog, table, updates)
    for schema in table.metadata["schemas"]:
        report = _scan(table, schema_id=schema["schema-id"])
        reply = catalog.report_metrics(table.namespace, table.name, report)
        reply.expect(200, 204, detail=f"sent a scan with schema {schema['schema-id']}")


@generated_check("reportMetrics.twice")
def test_reports_that_come_again(catalog: Catalog) -> None:
    """The same report is accepted again and again, and leaves the table as it was."""
    table = given_loaded(catalog, given_table(catalog))
    counter = {"result-data-files": {"unit": "count", "value": 1}}
    scan, commit = _scan(table, counter), _commit(table, counter)
    for report in (scan, commit, commit, scan):
        catalog.report_metrics(table.namespace, table.name, report).expect(200, 204)
    was = view.settled(table.metadata)
    now = view.settled(given_loaded(catalog, table).metadata)
    changed = [member for member in was if was[member] != now[member]]
    equal(changed, [], symptom=_CHANGED_BY_A_REPORT)
