"""Checks of createTable and loadTable with edge values: accepted values are kept per table."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import arrange, given_loaded, given_table, shared_namespace
from icecheck.conformance.round_trips.edge_columns import (
    COLUMNS,
    COLUMNS_OF_VERSION_3,
    TABLE_SCHEMA,
    Column,
    numbered,
)
from icecheck.findings.shared_symptoms import EFFECT_MISSING
from icecheck.findings.symptoms import ANOTHER_THING, Severity, declare
from icecheck.judging.check import generated_check
from icecheck.judging.probes import has_capability
from icecheck.objects import metadata_view as view
from icecheck.objects.comparing import KEPT, expect_answer, innermost
from icecheck.objects.edge_values import STRINGS, in_halves, shuffled, string_map
from icecheck.objects.reading import not_applicable, refused
from icecheck.objects.round_trip import (
    REQUESTS_MAX,
    expect_as_before,
    expect_bystander,
    given_bystander,
    shown_of,
)
from icecheck.replies.expect import Reply
from icecheck.replies.matching import difference, show
from icecheck.targets.target import Namespace

_ANOTHER_TABLE_SHOWN = declare(
    "another-table-shown",
    "A load in one form shows another state of the table than a plain one",
    Severity.FALSE_OR_LOST,
    ANOTHER_THING,
)

Json = dict[str, Any]

_IDS = frozenset({"id", "element-id", "key-id", "value-id", "schema-id", "identifier-field-ids"})
_FIRST_ID = 2  # the id of the first column beside the key


# ---- creations; groups that are refused are halved


@dataclass(frozen=True, slots=True)
class _Group:
    """What is odd, the members with it, and a function from members to a creation's arguments."""

    what: str
    members: Sequence[Any]
    body_of: Callable[[Sequence[Any]], Json]


def _create(
    catalog: Catalog,
    groups: Iterable[_Group],
    shown: Callable[[Json, Json], Sequence[tuple[str, Any, Any]]],
) -> None:
    """Create a table of each group; halve the groups that are refused.

    ``shown`` gets the arguments of a creation and the metadata of an answer, and returns (member,
    due, seen) for each sent part. A bystander table must stay unchanged.
    """
    namespace, bystander = shared_namespace(catalog), given_bystander(catalog)
    waiting, created = deque(groups), 0
    while waiting and len(catalog.exchanges) < REQUESTS_MAX:
        group = waiting.popleft()
        if _created(catalog, namespace, group, shown):
            created += 1
        elif len(group.members) > 1:
            waiting.extend(replace(group, members=half) for half in in_halves(group.members))
    expect_bystander(catalog, bystander)
    if not created:
        raise not_applicable("the catalog refuses every one of these tables")


def _created(
    catalog: Catalog,
    namespace: Namespace,
    group: _Group,
    shown: Callable[[Json, Json], Sequence[tuple[str, Any, Any]]],
) -> bool:
    name, asked = catalog.new_name(), group.body_of(group.members)
    reply = catalog.create_table(namespace, bodies.create_table_body(name, **asked))
    if refused(reply, group.what):
        detail = f"a table that was refused for {group.what} must not exist"
        catalog.load_table(namespace, name).expect(404, detail=detail)
        return False
    answers = [catalog.load_table(namespace, name).expect(200), reply]
    stages = has_capability(catalog, "stage-create")
    if stages and catalog.keeps("createTable.stage-creates-nothing"):
        body = bodies.create_table_body(catalog.new_name(), **asked, stage_create=True)
        staged = catalog.create_table(namespace, body)
        if not refused(staged, f"{group.what}, staged"):
            answers.append(staged)
    for answer in answers:
        _expect_shown(answer, group.what, shown(asked, view.metadata_in(answer)))
    table = Table(namespace, name, {}, None)
    expect_answer(reply, shown_of(answers[0], table), group.what)
    return True


def _expect_shown(answer: Reply, what: str, shown: Sequence[tuple[str, Any, Any]]) -> None:
    """Judge that a load, or the answer to a creation or to its staging, shows what was sent."""
    for member, due, seen in shown:
        found = difference(due, seen, exact=False)
        if found is not None:
            pointer, one, other = found
            raise answer.violation(
                EFFECT_MISSING.of(innermost(member, pointer)),
                "what was sent",
                "something else",
                detail=f"{what}: {pointer} is {show(other, 60)}, due is {show(one, 60)}",
            )


# ---- columns


def _content(type_: Any) -> Any:
    """Return a type without its ids, with primitives in one spelling."""
    if isinstance(type_, list):
        return [_content(each) for each in type_]
    if not isinstance(type_, dict):
        return type_
    content = {k: _content(v) for k, v in type_.items() if k not in _IDS and v is not None}
    for member in ("type", "element", "key", "value"):
        if isinstance(content.get(member), str):
            content[member] = content[member].replace(" ", "")
    return content


def _identifiers(schema: Any) -> list[str]:
    names = {field.get("id"): field.get("name") for field in schema.get("fields", [])}
    return sorted(str(names.get(each)) for each in schema.get("identifier-field-ids") or [])


@generated_check("roundtrip.createTable.columns")
def test_columns_of_a_new_table(catalog: Catalog) -> None:
    """The columns of a created table come back as they were sent, whatever they are."""

    def of_version(version: int) -> Callable[[Sequence[Column]], Json]:
        properties = {"format-version": str(version)} if version > 1 else {}

        def body_of(columns: Sequence[Column]) -> Json:
            key = bodies.struct_field(1, "the key", "long", required=True)
            fields = [key, *numbered(columns, _FIRST_ID)]
            schema = bodies.schema(*fields, identifier_field_ids=[1])
            return {"table_schema": schema, "properties": properties}

        return body_of

    def shown(asked: Json, metadata: Json) -> list[tuple[str, Any, Any]]:
        sent, seen = asked["table_schema"], view.current_schema(metadata)
        return [
            ("schemas", _content(sent["fields"]), _content(seen.get("fields"))),
            ("identifier-fields", _identifiers(sent), _identifiers(seen)),
        ]

    def group(by_sort: Mapping[str, Sequence[Column]], version: int) -> _Group:
        columns = [column for columns in by_sort.values() for column in columns]
        return _Group(", ".join(by_sort), columns, of_version(version))

    groups = [group(COLUMNS, 1)]
    if has_capability(catalog, "format-version-3"):
        groups.append(group(COLUMNS_OF_VERSION_3, 3))
    _create(catalog, groups, shown)


# ---- layout

_COLUMN_IDS = {field["name"]: field["id"] for field in TABLE_SCHEMA["fields"]}
_SIDES = [(d, n) for d in ("asc", "desc") for n in ("nulls-first", "nulls-last")]
_LAYOUTS: tuple[tuple[str, list[tuple[str, str, str]]], ...] = (
    (
        "fields in an order that sorting changes, names of partition fields",
        [
            ("price", "truncate[100]", "z"),
            ("data", "truncate[3]", "a"),
            ("id", "bucket[1]", "M"),
            ("day", "year", "B"),
            ("at", "hour", "b"),
            *(
                ("id", f"bucket[{at}]", each.value)
                for at, each in enumerate((s for s in STRINGS if s.value), start=2)
            ),
        ],
    ),
    ("one field", [("day", "identity", "only")]),
)


@generated_check("roundtrip.createTable.layout")
def test_layout_of_a_new_table(catalog: Catalog) -> None:
    """The partition spec and the write order of a created table come back as they were sent."""

    def body_of(fields: Sequence[tuple[str, str, str]]) -> Json:
        spec = [
            bodies.partition_field(_COLUMN_IDS[column], transform, name, 1000 + at)
            for at, (column, transform, name) in enumerate(fields)
        ]
        order = [
            {
                "source-id": _COLUMN_IDS[column],
                "transform": transform,
                "direction": _SIDES[at % 4][0],
                "null-order": _SIDES[at % 4][1],
            }
            for at, (column, transform, _) in enumerate(fields)
        ]
        return {
            "table_schema": TABLE_SCHEMA,
            "spec": bodies.partition_spec(*spec),
            "write_order": {"order-id": 1, "fields": order},
        }

    def shown(asked: Json, metadata: Json) -> list[tuple[str, Any, Any]]:
        names = {id_: name for name, id_ in _COLUMN_IDS.items()}
        spec = [(names[f["source-id"]], f["transform"], f["name"]) for f in asked["spec"]["fields"]]
        order = [
            (names[f["source-id"]], f["transform"], f["direction"], f["null-order"])
            for f in asked["write_order"]["fields"]
        ]
        return [
            ("partition-specs", spec, view.partition_fields(metadata)),
            ("sort-orders", order, view.sort_fields(metadata)),
        ]

    _create(catalog, [_Group(what, fields, body_of) for what, fields in _LAYOUTS], shown)


# ---- properties


@generated_check("roundtrip.createTable.properties")
def test_properties_of_a_new_table(catalog: Catalog) -> None:
    """The properties of a created table come back code point for code point."""
    items = shuffled([*string_map().items()], catalog.session.seed, "createTable.properties")

    def body_of(members: Sequence[tuple[str, str]]) -> Json:
        return {"properties": dict(members)}

    def shown(asked: Json, metadata: Json) -> list[tuple[str, Any, Any]]:
        return [("properties", asked["properties"], metadata.get("properties"))]

    _create(catalog, [_Group("keys and values of properties", items, body_of)], shown)


# ---- loadTable


def _given_alike(catalog: Catalog, table: Table) -> Table:
    """Make a table beside another one; its name matches the other's name read as a LIKE pattern."""
    head, _, tail = table.name.rpartition("_")
    name = f"{head}x{tail}"
    properties = {key: f"not {value}" for key, value in KEPT.items()}
    body = bodies.create_table_body(name, properties=properties)
    reply = arrange(catalog, "createTable", lambda: catalog.create_table(table.namespace, body))
    made = Table(table.namespace, name, view.metadata_in(reply), None)
    return given_loaded(catalog, made)


@generated_check("roundtrip.loadTable.own")
def test_loads_show_the_table_that_was_asked_for(catalog: Catalog) -> None:
    """Loads of two tables with similar names always show the table that was asked for."""
    table = given_table(catalog, properties=dict(KEPT), table_schema=TABLE_SCHEMA)
    table = given_loaded(catalog, table)  # while it is the only one
    alike = _given_alike(catalog, table)
    what = "loaded in turn with a table of nearly its name"
    ways: tuple[tuple[tuple[str, str], ...], ...]
    ways = ((), (("snapshots", "refs"),), (("snapshots", "all"),))
    for query in ways:
        for each in (table, alike):
            expect_as_before(catalog, each, _ANOTHER_TABLE_SHOWN, what, query)
