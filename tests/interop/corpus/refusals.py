"""What the contract's schemas allow and the server refuses: one predicate for each reason."""

from collections.abc import Callable, Iterator
from typing import Any

from tests.interop.corpus.stocked_server import TIME, StockedFacts

RefuseRule = Callable[[Any, StockedFacts], bool]

_INT64 = range(-(2**63), 2**63)
_COLUMN_IDS = frozenset({1, 2})
_COLUMNS = {"id": "long", "data": "string"}
_UPGRADE = "upgrade-format-version"
_LAST_SEQUENCE_NUMBER = 2
_SNAPSHOTS = frozenset({1001, 1002})


def objects(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in a body."""
    match value:
        case dict():
            yield value
            for each in value.values():
                yield from objects(each)
        case list():
            for each in value:
                yield from objects(each)


def members(body: Any, name: str) -> Iterator[Any]:
    """The values of all members of this name, at any depth."""
    return (each[name] for each in objects(body) if name in each)


def updates(body: Any, action: str) -> Iterator[dict[str, Any]]:
    """The updates of this action in a commit, or in all commits of a transaction."""
    return (each for each in objects(body) if each.get("action") == action)


def identifiers(body: Any) -> Iterator[dict[str, Any]]:
    """What names a table or view in a body, or is to be created under a name."""
    yield from (each for each in objects(body) if "namespace" in each)
    if "name" in body and "namespace" not in body:
        yield {"name": body["name"]}


def fields(body: Any) -> Iterator[dict[str, Any]]:
    """Every field of every schema and nested struct."""
    return (each for each in objects(body) if {"id", "name", "type", "required"} <= set(each))


def number_beyond_int64(body: Any, _: StockedFacts) -> bool:
    """A number does not fit into the 64 bits that its format names."""
    return any(
        type(each) is int and each not in _INT64
        for one in objects(body)
        for value in one.values()
        for each in (value if isinstance(value, list) else [value])
    )


def empty_name(body: Any, _: StockedFacts) -> bool:
    """The name of a table or view is empty."""
    return any(each.get("name") == "" for each in identifiers(body))


def namespace_without_levels(body: Any, _: StockedFacts) -> bool:
    """A namespace has no level."""
    return any(each.get("namespace") == [] for each in identifiers(body))


def empty_namespace_level(body: Any, _: StockedFacts) -> bool:
    """A level of a namespace is empty."""
    return any("" in each.get("namespace", ()) for each in identifiers(body))


def default_below_version_3(body: Any, _: StockedFacts) -> bool:
    """A field has an initial default in a table of version 2."""
    return any(each.get("initial-default") is not None for each in fields(body))


def default_of_another_type(body: Any, _: StockedFacts) -> bool:
    """A default is no value of its field's type; nested types have none but null."""
    return any(
        not _fits(each["type"], each.get(name))
        for each in fields(body)
        for name in ("initial-default", "write-default")
    )


def _fits(type_: Any, value: Any) -> bool:
    match type_, value:
        case _, None:
            return True
        case "long", int():
            return not isinstance(value, bool)
        case ("string", str()) | ("boolean", bool()):
            return True
    return False


def unknown_identifier_field(body: Any, _: StockedFacts) -> bool:
    """An identifier field is none of the schema's fields."""
    return any(
        not set(each["identifier-field-ids"]) <= {field["id"] for field in each["fields"]}
        for each in objects(body)
        if each.get("identifier-field-ids")
    )


def unknown_source(body: Any, _: StockedFacts) -> bool:
    """A partition or sort field has a source that is no column."""
    columns = {each["id"] for each in fields(body.get("schema"))} or _COLUMN_IDS
    return any(each not in columns for each in members(body, "source-id"))


def source_is_nested(body: Any, _: StockedFacts) -> bool:
    """A partition or sort field has a struct, list or map for its source."""
    nested = {each["id"] for each in fields(body.get("schema")) if isinstance(each["type"], dict)}
    return any(each in nested for each in members(body, "source-id"))


def nameless_partition_field(body: Any, _: StockedFacts) -> bool:
    """A partition field has an empty name."""
    return any(each["name"] == "" for each in objects(body) if {"transform", "name"} <= set(each))


def order_id_zero_is_unsorted(body: Any, _: StockedFacts) -> bool:
    """A sort order has the id 0 and fields, or another id and none."""
    return any(
        (each["order-id"] == 0) != (each["fields"] == [])
        for each in objects(body)
        if {"order-id", "fields"} <= set(each)
    )


def empty_location(body: Any, _: StockedFacts) -> bool:
    """A table or view is to be nowhere."""
    return "" in members(body, "location")


def another_format_version(body: Any, facts: StockedFacts) -> bool:
    """A format version is lower than the present one, or unknown."""
    known = {1} if facts.about_view else {2, 3}
    return any(each["format-version"] not in known for each in updates(body, _UPGRADE))


def another_uuid(body: Any, facts: StockedFacts) -> bool:
    """Something that has a uuid is to get another one."""
    uuid = facts.view_uuid if facts.about_view else facts.table_uuid
    return any(each["uuid"] != uuid for each in updates(body, "assign-uuid"))


def current_schema_removed(body: Any, _: StockedFacts) -> bool:
    """The current schema is to be removed."""
    return any(0 in each["schema-ids"] for each in updates(body, "remove-schemas"))


def default_spec_removed(body: Any, _: StockedFacts) -> bool:
    """The default partition spec is to be removed."""
    return any(0 in each["spec-ids"] for each in updates(body, "remove-partition-specs"))


def reference_to_unknown_snapshot(body: Any, _: StockedFacts) -> bool:
    """A branch or tag is to name a snapshot that the table does not have."""
    references = updates(body, "set-snapshot-ref")
    return any(each["snapshot-id"] not in _SNAPSHOTS for each in references)


def retention_not_positive(body: Any, _: StockedFacts) -> bool:
    """A branch or tag is to keep nothing, or for no time."""
    return any(
        each.get(name, 1) < 1
        for each in updates(body, "set-snapshot-ref")
        for name in ("min-snapshots-to-keep", "max-snapshot-age-ms", "max-ref-age-ms")
    )


def sequence_number_not_ahead(body: Any, _: StockedFacts) -> bool:
    """A new snapshot has no sequence number, or one that the table has passed."""
    return any(
        each.get("sequence-number", 0) < _LAST_SEQUENCE_NUMBER + ("parent-snapshot-id" in each)
        for each in (update["snapshot"] for update in updates(body, "add-snapshot"))
    )


def snapshot_long_ago(body: Any, _: StockedFacts) -> bool:
    """A new snapshot is more than a minute older than the last change of the table."""
    return any(
        each["snapshot"]["timestamp-ms"] < TIME - 60_000 for each in updates(body, "add-snapshot")
    )


def half_a_row_lineage(body: Any, _: StockedFacts) -> bool:
    """A new snapshot has a first row id below zero, or one without the number of its rows."""
    return any(
        each.get("first-row-id", 0) < 0 or ("first-row-id" in each and "added-rows" not in each)
        for each in (update["snapshot"] for update in updates(body, "add-snapshot"))
    )


def transaction_of_nothing(body: Any, _: StockedFacts) -> bool:
    """A transaction has no changes."""
    return [] in members(body, "table-changes")


def view_without_query(body: Any, _: StockedFacts) -> bool:
    """A view version has no representation."""
    return [] in members(body, "representations")


def unknown_view_version(body: Any, _: StockedFacts) -> bool:
    """A version that the view does not have is to be the current one."""
    made = updates(body, "set-current-view-version")
    return any(each["view-version-id"] != 1 for each in made)


def predicates(expression: Any) -> Any:
    """What is left of a filter when its constants are worked out: a constant, or predicates.

    Java's expressions never hold a predicate beside a constant that decides without it.
    """
    match expression:
        case bool():
            return expression
        case {"type": "true" | "false" as constant}:
            return bool(constant == "true")
        case {"type": "not", "child": child}:
            below = predicates(child)
            return not below if isinstance(below, bool) else below
        case {"type": "and" | "or" as connective, "left": left, "right": right}:
            sides = [predicates(left), predicates(right)]
            decides = connective == "or"
            if any(side is decides for side in sides):
                return decides
            found = [side for side in sides if not isinstance(side, bool)]
            return [each for side in found for each in side] if found else not decides
    return [expression]


def _filtered(body: Any) -> list[Any]:
    found = predicates(body.get("filter", True))
    return [] if isinstance(found, bool) else found


def _column(predicate: Any) -> str:
    term = predicate["term"]
    return str(term if isinstance(term, str) else term["term"])


def unknown_column(body: Any, _: StockedFacts) -> bool:
    """A scan names a column that the table does not have."""
    named = [*body.get("select", ()), *body.get("stats-fields", ()), *map(_column, _filtered(body))]
    return any(each not in _COLUMNS for each in named)


def predicate_does_not_apply(body: Any, _: StockedFacts) -> bool:
    """A predicate asks a whole number whether it is none, or how its text begins."""
    return any(
        _COLUMNS.get(_column(each)) == "long"
        and each["type"] in {"is-nan", "not-nan", "starts-with", "not-starts-with"}
        for each in _filtered(body)
    )


def value_of_another_type(body: Any, _: StockedFacts) -> bool:
    """A predicate compares a column, or what a bucket transform gives, with another type."""
    return any(
        not _fits(_COLUMNS.get(str(each["term"]), "long"), value)
        for each in _filtered(body)
        for value in each.get("values", [each["value"]] if "value" in each else [])
    )


def unknown_snapshot(body: Any, _: StockedFacts) -> bool:
    """A scan is of a snapshot that the table does not have."""
    return body.get("snapshot-id", 1001) not in _SNAPSHOTS


def range_without_start(body: Any, _: StockedFacts) -> bool:
    """An incremental scan has an end and no start."""
    return "end-snapshot-id" in body and "start-snapshot-id" not in body


def report_of_nothing(body: Any, _: StockedFacts) -> bool:
    """A report of an unknown type is neither a scan report nor a commit report."""
    return "table-name" not in body and "report-type" in body


def empty_subject_token(body: Any, _: StockedFacts) -> bool:
    """A token is to be exchanged, and none is sent."""
    return "" in members(body, "subject_token")


def token_of_another_kind(body: Any, _: StockedFacts) -> bool:
    """Something is asked for that is no access token."""
    wanted = str(body.get("requested_token_type", "access_token"))
    return not wanted.endswith(("access_token", "jwt"))


def half_an_actor(body: Any, _: StockedFacts) -> bool:
    """An actor has a token or the type of one, not both."""
    return bool(body.get("actor_token")) != bool(body.get("actor_token_type"))


REFUSED: dict[str, RefuseRule] = {
    rule.__name__.replace("_", "-"): rule
    for rule in (
        number_beyond_int64,
        empty_name,
        namespace_without_levels,
        empty_namespace_level,
        default_below_version_3,
        default_of_another_type,
        unknown_identifier_field,
        unknown_source,
        source_is_nested,
        nameless_partition_field,
        order_id_zero_is_unsorted,
        empty_location,
        another_format_version,
        another_uuid,
        current_schema_removed,
        default_spec_removed,
        reference_to_unknown_snapshot,
        retention_not_positive,
        sequence_number_not_ahead,
        snapshot_long_ago,
        half_a_row_lineage,
        transaction_of_nothing,
        view_without_query,
        unknown_view_version,
        unknown_column,
        predicate_does_not_apply,
        value_of_another_type,
        unknown_snapshot,
        range_without_start,
        report_of_nothing,
        empty_subject_token,
        token_of_another_kind,
        half_an_actor,
    )
}
"""Reasons to refuse, by name."""
