"""Updates of schemas, partition specs and sort orders that a careless server changes.

Each function returns the changes that ``round_trip.judge_changes`` makes one by one.
"""

from collections.abc import Callable, Sequence
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Table
from icecheck.conformance.round_trips.edge_columns import (
    COLUMNS,
    COLUMNS_OF_VERSION_3,
    Column,
    numbered,
)
from icecheck.objects import metadata_view as view
from icecheck.objects.comparing import spelled
from icecheck.objects.edge_values import STRINGS, in_halves
from icecheck.objects.evolving import column_id, last_column_id, last_partition_id, schema_addition
from icecheck.objects.round_trip import Change, Make, together
from icecheck.replies.matching import difference

Json = dict[str, Any]


def added(member: str, id_member: str, sent: Json, before: Json, after: Json) -> list[Json]:
    """Return a list of definitions with one more, under the new id that the server assigned.

    A definition that exists already need not be added again. Of several new ones the one with the
    sent content is meant, or else the first; if there is none, the sent id is due.
    """
    known = [*(before.get(member) or [])]
    ids = {item.get(id_member, 0) for item in known}
    new = [i for i in after.get(member) or [] if i.get(id_member, 0) not in ids]
    content = {key: value for key, value in sent.items() if key != id_member}
    due = spelled(content)

    def is_sent(item: Json) -> bool:
        return difference(due, spelled(item), exact=False) is None

    if not any(map(is_sent, new)) and any(map(is_sent, known)):
        return known
    meant = next(filter(is_sent, new), next(iter(new), sent))
    return [*known, {**content, id_member: meant.get(id_member, 0)}]


# ---- schemas


def add_schema(_table: Table) -> list[Make]:
    """Add schemas with odd columns, then schemas that differ from the current one in one thing."""
    common, newest = (
        together(*(_columns(what, columns, version) for what, columns in groups.items()))
        for version, groups in ((1, COLUMNS), (3, COLUMNS_OF_VERSION_3))
    )

    def changed(what: str, change: Callable[[list[Json]], list[Json]], *ids: int) -> Make:
        def fields(table: Table) -> list[Json]:
            return change([*view.current_schema(table.metadata).get("fields", [])])

        return lambda table: _schema_change(what, table, fields(table), ids)

    alike = (
        changed("the same columns in another order", lambda fields: fields[::-1]),
        changed("the same columns but for a doc", lambda f: [*f[:-1], {**f[-1], "doc": "new"}]),
        changed(
            "the same columns but for what is required",
            lambda f: [f[0], {**f[1], "required": True}, *f[2:]],
        ),
        changed("the same columns, another of which identifies a row", lambda f: f, 4),
    )
    one_key = changed("the same columns, one of which identifies a row", lambda f: f, 1)
    return [together(together(common, newest), together(*alike)), one_key]


def _columns(what: str, columns: Sequence[Column], version: int) -> Make:
    def make(table: Table) -> Change | None:
        if table.metadata.get("format-version", version) < version:
            return None
        fields = [
            *view.current_schema(table.metadata).get("fields", []),
            *numbered(columns, last_column_id(table.metadata) + 1),
        ]
        halves = in_halves(columns) if len(columns) > 1 else ()
        parts = tuple(_columns(what, half, version) for half in halves)
        return _schema_change(what, table, fields, parts=parts)

    return make


def _schema_change(
    what: str,
    table: Table,
    fields: Sequence[Json],
    identifier_field_ids: Sequence[int] = (),
    parts: tuple[Make, ...] = (),
) -> Change:
    sent = bodies.schema(
        *fields,
        schema_id=view.next_id(table.metadata, "schemas", "schema-id"),
        identifier_field_ids=identifier_field_ids,
    )

    def named(before: Json, after: Json) -> Json:
        last = max([before.get("last-column-id", 0), *view.field_ids(sent)])
        schemas = added("schemas", "schema-id", sent, before, after)
        return {"schemas": schemas, "last-column-id": last}

    return Change(what, [schema_addition(table.metadata, sent)], named, parts)


# ---- partition specs


def add_spec(_table: Table) -> list[Make]:
    """Add specs whose fields have odd names or an unusual order, or are very many."""
    names = [each.value for each in STRINGS if each.value]
    order = _spec(
        "fields in an order that sorting changes",
        [
            ("data", "truncate[10]", "z"),
            ("id", "bucket[16]", "a"),
            ("day", "month", "M"),
            ("at", "hour", "Z"),
        ],
    )
    plain = (
        _spec("a bucket of one", [("id", "bucket[1]", "one")]),
        _spec("a bucket of 2^31 - 1", [("id", "bucket[2147483647]", "most")]),
        _spec("a transform that gives nothing", [("data", "void", "nothing")]),
        _spec(
            "two fields that differ in their transform",
            [("at", "day", "at_day"), ("at", "month", "at_month")],
        ),
        _spec("a decimal that is cut", [("price", "truncate[100]", "price_cut")]),
    )
    backwards = _spec(
        "field ids that run backwards",
        [("at", "hour", "back_hour"), ("data", "truncate[9]", "back_data")],
        step=-1,
    )
    named = _spec(
        "names of partition fields", [("id", f"bucket[{n}]", x) for n, x in enumerate(names, 2)]
    )
    return [
        # The table may have the spec without fields, and then the next one has the same id.
        together(named, together(order, *plain), backwards, _spec("no fields", [])),
        _spec("a field without an id", [("data", "truncate[7]", "unnumbered")], ids=False),
    ]


def _spec(
    what: str, fields: Sequence[tuple[str, str, str]], *, ids: bool = True, step: int = 1
) -> Make:
    def adding(table: Table) -> Change:
        first = last_partition_id(table.metadata) + 1
        field_ids = range(first, first + len(fields))[::step]
        sent = bodies.partition_spec(
            *(
                bodies.partition_field(
                    column_id(table, column), transform, name, field_id if ids else None
                )
                for field_id, (column, transform, name) in zip(field_ids, fields, strict=True)
            ),
            spec_id=view.next_id(table.metadata, "partition-specs", "spec-id"),
        )

        def named(before: Json, after: Json) -> Json:
            last = first + len(fields) - 1 if ids else after.get("last-partition-id")
            specs = added("partition-specs", "spec-id", sent, before, after)
            return {"partition-specs": specs, "last-partition-id": last}

        halves = in_halves(fields) if len(fields) > 1 else ()
        parts = tuple(_spec(what, half, ids=ids, step=step) for half in halves)
        return Change(what, [{"action": "add-spec", "spec": sent}], named, parts)

    return adding


def set_default_spec(table: Table) -> list[Make]:
    """Make several specs the default one in turn: the second, the last and the first."""
    return _pointed_at(table, "partition-specs", "spec-id", "set-default-spec", "default-spec-id")


def set_current_schema(table: Table) -> list[Make]:
    """Make several schemas the current one in turn: the second, the last and the first."""
    return _pointed_at(table, "schemas", "schema-id", "set-current-schema", "current-schema-id")


def set_default_order(table: Table) -> list[Make]:
    """Make several sort orders the default one in turn: the second, the last and the first."""
    return _pointed_at(
        table,
        "sort-orders",
        "order-id",
        "set-default-sort-order",
        "default-sort-order-id",
        sent="sort-order-id",
    )


def _pointed_at(
    table: Table, members: str, id_member: str, action: str, pointer: str, sent: str = ""
) -> list[Make]:
    ids = [each.get(id_member, 0) for each in table.metadata.get(members) or []]

    def make(wanted: int) -> Make:
        update = {"action": action, sent or id_member: wanted}
        return lambda _table: Change(
            f"the one with id {wanted}", [update], lambda _before, _after: {pointer: wanted}
        )

    turns = [*ids[1:2], *ids[-1:], *ids[:1]]
    return [make(each) for each in turns]


def remove_schemas(table: Table) -> list[Make]:
    """Remove the schemas but the current, singly and two at once; make one of the rest current."""
    listed, pointer = ("schemas", "schema-id"), "current-schema-id"
    return [
        *_removed(table, listed, ("remove-schemas", "schema-ids"), pointer),
        _last_of_the_rest(listed, "set-current-schema", pointer),
    ]


def remove_specs(table: Table) -> list[Make]:
    """Remove the specs but the default, singly and two at once; make one of the rest default."""
    listed, pointer = ("partition-specs", "spec-id"), "default-spec-id"
    return [
        *_removed(table, listed, ("remove-partition-specs", "spec-ids"), pointer),
        _last_of_the_rest(listed, "set-default-spec", pointer),
    ]


def _last_of_the_rest(listed: tuple[str, str], action: str, pointer: str) -> Make:
    """Point at the highest remaining id, which differs from its index in the list."""
    members, id_member = listed

    def make(table: Table) -> Change | None:
        ids = [each.get(id_member, 0) for each in table.metadata.get(members) or []]
        rest = [each for each in ids if each != table.metadata.get(pointer)]
        if not rest:
            return None
        update = {"action": action, id_member: max(rest)}
        what = f"the one with id {max(rest)} of {ids}"
        return Change(what, [update], lambda _before, _after: {pointer: max(rest)}, plain=True)

    return make


def _removed(
    table: Table, listed: tuple[str, str], action: tuple[str, str], pointer: str
) -> list[Make]:
    (members, id_member), (name, sent) = listed, action
    ids = [each.get(id_member, 0) for each in table.metadata.get(members) or []]
    ids = [each for each in ids if each != table.metadata.get(pointer)]

    def make(*gone: int) -> Make:
        def named(before: Json, _after: Json) -> Json:
            kept = [each for each in before[members] if each.get(id_member, 0) not in gone]
            return {members: kept}

        update = {"action": name, sent: [*gone]}
        return lambda _table: Change(f"{len(gone)} of many", [update], named)

    # One from the middle, then two with the later one first, then the first.
    return [make(*part) for part in (ids[1:2], [*ids[3:5]][::-1], ids[:1]) if part]


# ---- sort orders


def add_sort_order(_table: Table) -> list[Make]:
    """Add sort orders of every direction and null order, and of several fields."""

    def make(what: str, *fields: tuple[str, str, str, str]) -> Make:
        def adding(table: Table) -> Change:
            sent = {
                "order-id": view.next_id(table.metadata, "sort-orders", "order-id")
                if fields
                else 0,
                "fields": [
                    {
                        "source-id": column_id(table, column),
                        "transform": transform,
                        "direction": direction,
                        "null-order": nulls,
                    }
                    for column, transform, direction, nulls in fields
                ],
            }

            def named(before: Json, after: Json) -> Json:
                return {"sort-orders": added("sort-orders", "order-id", sent, before, after)}

            return Change(what, [{"action": "add-sort-order", "sort-order": sent}], named)

        return adding

    sides = [(d, n) for d in ("asc", "desc") for n in ("nulls-first", "nulls-last")]
    return [
        together(
            together(*(make(f"{d}, {n}", ("data", "identity", d, n)) for d, n in sides)),
            make("not sorted"),
            make(
                "fields in an order that sorting changes",
                ("price", "identity", *sides[3]),
                ("data", "truncate[3]", *sides[1]),
                ("id", "bucket[8]", *sides[0]),
                ("day", "year", *sides[2]),
            ),
            make("one column twice", ("at", "day", *sides[2]), ("at", "identity", *sides[1])),
            make("a transform that gives nothing", ("data", "void", *sides[0])),
        ),
        make(
            "an order that differs in its last field",
            ("price", "identity", *sides[3]),
            ("data", "truncate[3]", *sides[1]),
            ("id", "bucket[8]", *sides[0]),
            ("day", "year", *sides[3]),
        ),
    ]
