"""Strategies for the other bodies: creations, views, scans, reports and properties."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from icecheck.conformance.fuzzed.drawn_commits import commits, transactions
from icecheck.conformance.fuzzed.drawn_schemas import (
    columns_of,
    schemas,
    sort_orders,
    specs,
    string_maps,
    texts,
)
from icecheck.conformance.generated.live_values import live
from icecheck.conformance.generated.sample_values import (
    NAME,
    NAMESPACE,
    TABLE_LOCATION,
    TABLE_TIME,
)
from icecheck.objects.after_updates import LAST_ADDED

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Json = dict[str, Any]

_UNKNOWN_ID = 7_777
_IDENTIFIER = {"namespace": NAMESPACE, "name": NAME}
_VALUES = (0, 1, -1, 2**31, 2**53 + 1, 1.5, -0.0, True, "", "a", "2026-02-30", "\U0001f427", None)
_TERMS = (
    *("id", "data") * 5, "ID", "no such column", "a.b", "",
    {"type": "transform", "transform": "bucket[4]", "term": "id"},
    {"type": "transform", "transform": "truncate[1]", "term": "data"},
    {"type": "transform", "transform": "day", "term": "id"},
)  # fmt: skip
_DIALECTS = ("spark", "trino", "Spark", "presto", "")


def _namespaces() -> "SearchStrategy[Json]":
    from hypothesis import strategies as st

    levels = st.sampled_from((NAMESPACE, NAMESPACE * 2))
    return st.fixed_dictionaries({"namespace": levels}, optional={"properties": string_maps()})


def _property_changes() -> "SearchStrategy[Json]":
    from hypothesis import strategies as st

    keys = st.sampled_from(("icecheck.gone", "icecheck.generated", "icecheck.a", "", "a b"))
    removals = st.lists(keys, max_size=4, unique=True)
    return st.fixed_dictionaries({}, optional={"removals": removals, "updates": string_maps()})


def _tables() -> "SearchStrategy[Json]":
    from hypothesis import strategies as st

    def with_layout(schema: Json) -> "SearchStrategy[Json]":
        columns = columns_of(schema)
        return st.fixed_dictionaries(
            {"name": st.just(NAME), "schema": st.just(schema)},
            optional={
                "partition-spec": specs(columns),
                "write-order": sort_orders(columns),
                "stage-create": st.sampled_from((False, False, True)),
                "properties": string_maps(),
            },
        )

    return schemas().flatmap(with_layout)


def _registrations() -> "SearchStrategy[Json]":
    from hypothesis import strategies as st

    file = f"{TABLE_LOCATION}/metadata/registered.metadata.json"
    return st.fixed_dictionaries(
        {"name": st.just(NAME), "metadata-location": st.just(file)},
        optional={"overwrite": st.booleans()},
    )


def _renames() -> "SearchStrategy[Json]":
    from hypothesis import strategies as st

    ends = {"source": st.just(_IDENTIFIER), "destination": st.just(_IDENTIFIER)}
    return st.fixed_dictionaries(ends)


def _representations() -> "SearchStrategy[list[Json]]":
    from hypothesis import strategies as st

    unique = st.lists(st.sampled_from(_DIALECTS), min_size=1, max_size=3, unique=True)
    alike = st.just(["spark", "spark"])
    dialects = st.one_of(unique, unique, unique, alike)
    return st.builds(
        lambda chosen, sql: [{"type": "sql", "sql": sql, "dialect": each} for each in chosen],
        dialects,
        st.one_of(st.just("SELECT 1 AS id"), texts()),
    )


def _versions(version_id: Any, schema_id: Any) -> "SearchStrategy[Json]":
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "version-id": st.just(version_id),
            "timestamp-ms": st.just(TABLE_TIME),
            "schema-id": st.just(schema_id),
            "summary": string_maps(2),
            "representations": _representations(),
            "default-namespace": st.just(NAMESPACE),
        },
        optional={"default-catalog": texts()},
    )


def _views() -> "SearchStrategy[Json]":
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "name": st.just(NAME),
            "schema": schemas(),
            "view-version": _versions(1, 0),
            "properties": string_maps(),
        }
    )


def _view_commits() -> "SearchStrategy[Json]":
    from hypothesis import strategies as st

    added = st.builds(
        lambda schema, version, further: [
            {"action": "add-schema", "schema": schema},
            {"action": "add-view-version", "view-version": version},
            *further,
        ],
        schemas(),
        _versions(live("version-id", 1), LAST_ADDED),
        st.sampled_from(
            ([], [{"action": "set-current-view-version", "view-version-id": LAST_ADDED}])
        ),
    )
    version = st.builds(
        lambda made: [{"action": "add-view-version", "view-version": made}],
        _versions(live("version-id", 1), live("schema-id")),
    )
    properties = st.builds(
        lambda updates, removals: [
            {"action": "set-properties", "updates": updates},
            {"action": "remove-properties", "removals": removals},
        ],
        string_maps(),
        st.lists(st.sampled_from(("icecheck.gone", "icecheck.a")), max_size=2),
    )
    single = st.sampled_from(
        (
            [{"action": "set-current-view-version", "view-version-id": _UNKNOWN_ID}],
            [{"action": "set-current-view-version", "view-version-id": live("current-version-id")}],
            [{"action": "assign-uuid", "uuid": live("view-uuid")}],
            [{"action": "upgrade-format-version", "format-version": 1}],
            [{"action": "set-location", "location": TABLE_LOCATION}],
        )
    )
    uuid = {"type": "assert-view-uuid", "uuid": live("view-uuid")}
    other = {**uuid, "uuid": "0b9a5bfa-7b1e-4a3c-9d5e-2f6c8e1d4a70"}
    return st.builds(
        lambda requirements, parts: {
            "requirements": requirements,
            "updates": [update for part in parts for update in part],
        },
        st.sampled_from(([], [uuid], [uuid], [uuid, uuid], [uuid, other])),
        st.lists(
            st.one_of(added, added, added, version, properties, single), min_size=1, max_size=2
        ),
    )


def expressions(depth: int = 3) -> "SearchStrategy[Json]":
    """Draw a filter, whose columns may be missing and whose values may not fit them."""
    from hypothesis import strategies as st

    term, value = st.sampled_from(_TERMS), st.sampled_from(_VALUES)
    compare = ("lt", "lt-eq", "gt", "gt-eq", "eq", "not-eq", "starts-with", "not-starts-with")
    leaves = st.one_of(
        st.builds(lambda op, t, v: {"type": op, "term": t, "value": v},
                  st.sampled_from(compare), term, value),
        st.builds(lambda op, t, v: {"type": op, "term": t, "values": v},
                  st.sampled_from(("in", "not-in")), term, st.lists(value, max_size=4)),
        st.builds(lambda op, t: {"type": op, "term": t},
                  st.sampled_from(("is-null", "not-null", "is-nan", "not-nan")), term),
    )  # fmt: skip
    if depth == 0:
        return leaves
    inner = st.deferred(lambda: expressions(depth - 1))
    return st.one_of(
        leaves,
        st.builds(lambda child: {"type": "not", "child": child}, inner),
        st.builds(
            lambda op, left, right: {"type": op, "left": left, "right": right},
            st.sampled_from(("and", "or")),
            inner,
            inner,
        ),
    )


def _scans() -> "SearchStrategy[Json]":
    from hypothesis import strategies as st

    columns = st.lists(st.sampled_from(("id", "data", "ID", "none", "")), max_size=3)
    snapshot = st.sampled_from((_UNKNOWN_ID, 0, -1))
    usual = {
        "select": columns,
        "stats-fields": columns,
        "case-sensitive": st.booleans(),
        "use-snapshot-schema": st.booleans(),
    }
    filtered = {"filter": expressions()}
    plain = st.fixed_dictionaries(filtered, optional=usual)
    incremental = st.fixed_dictionaries(
        {},
        optional={**usual, **filtered, "start-snapshot-id": snapshot, "end-snapshot-id": snapshot},
    )
    return st.one_of(plain, plain, plain, incremental)


def _reports() -> "SearchStrategy[Json]":
    from hypothesis import strategies as st

    number = st.sampled_from((0, 1, 2**31, 2**63 - 1))
    counter = st.builds(lambda u, v: {"unit": u, "value": v}, texts(), number)
    timer = st.builds(
        lambda unit, count, total: {"time-unit": unit, "count": count, "total-duration": total},
        texts(),
        number,
        number,
    )
    shared = {
        "table-name": st.just(NAME),
        "snapshot-id": number,
        "metrics": st.dictionaries(texts(), st.one_of(counter, timer), max_size=3),
    }
    scan = {
        "report-type": st.just("scan-report"),
        "filter": expressions(2),
        "schema-id": st.just(0),
        "projected-field-ids": st.lists(st.integers(0, 5), max_size=3),
        "projected-field-names": st.lists(texts(), max_size=3),
    }
    commit = {
        "report-type": st.just("commit-report"),
        "sequence-number": number,
        "operation": texts(),
    }
    more = {"metadata": string_maps()}
    return st.one_of(
        *(st.fixed_dictionaries({**shared, **own}, optional=more) for own in (scan, commit))
    )


POSITIVE: Mapping[str, "Callable[[], SearchStrategy[Json]]"] = {
    "createNamespace": _namespaces,
    "updateProperties": _property_changes,
    "createTable": _tables,
    "registerTable": _registrations,
    "renameTable": _renames,
    "renameView": _renames,
    "updateTable": commits,
    "commitTransaction": transactions,
    "createView": _views,
    "replaceView": _view_commits,
    "planTableScan": _scans,
    "reportMetrics": _reports,
}
"""Operation -> the strategy for bodies that its schema allows."""
