"""Fills warehouses by a short description, as tests want them before they begin."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from icecheck.mock_server.core.context import Call, FileEffect, Outcome, Request
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.serving.warehouses import Warehouse

Place = tuple[str | int, ...]

_JSON = {"content-type": "application/json"}
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]")
_TRANSFORM = re.compile(r"(?:(?P<transform>\w+(?:\[\d+\])?)\((?P<of>.+)\)|(?P<column>.+))")


class SeedUnusable(ValueError):
    """Raised for a description that cannot be followed: what is `said` of which `place` in it.

    A place is the names of members, and the positions in lists, from the outermost to the
    innermost.
    """

    def __init__(self, said: str, place: Place = ()) -> None:
        where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
        super().__init__(f"${where}: {said}" if place else said)
        self.said = said
        self.place = place


class SeedTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table: its columns by name, each with a type as in metadata (a word, or an object).

    `partition` has columns or transforms such as `day(at)` or `bucket[16](id)`. Columns in
    `identifier` are required.
    """

    name: str
    columns: dict[str, str | dict[str, Any]] = {}
    required: tuple[str, ...] = ()
    identifier: tuple[str, ...] = ()
    partition: tuple[str, ...] = ()
    properties: dict[str, str] = {}
    location: str | None = None


class SeedView(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A view: a query in one dialect, and its columns by name."""

    name: str
    sql: str
    columns: dict[str, str | dict[str, Any]]
    dialect: str = "spark"


class SeedNamespace(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A namespace: its name, or a list of its levels, with what it is to hold."""

    name: str | tuple[str, ...]
    properties: dict[str, str] = {}
    tables: tuple[SeedTable, ...] = ()
    views: tuple[SeedView, ...] = ()

    @property
    def levels(self) -> tuple[str, ...]:
        """Its levels; a dot in a name stands between two."""
        return tuple(self.name.split(".")) if isinstance(self.name, str) else self.name


class Seed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What warehouses are to hold, by their names; what they hold already stays."""

    warehouses: dict[str, tuple[SeedNamespace, ...]]


class _Outline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A seed of which the namespaces are not read yet: their mistakes are named by warehouse."""

    warehouses: dict[str, tuple[Any, ...]]


def read_seed(value: Any) -> Seed:
    """Return a description, as JSON has it; SeedUnusable names the place of a mistake."""
    outline: _Outline = _converted(value, _Outline, ())
    return Seed(
        {
            name: tuple(
                _converted(each, SeedNamespace, ("warehouses", name, position))
                for position, each in enumerate(namespaces)
            )
            for name, namespaces in outline.warehouses.items()
        }
    )


def _converted(value: Any, kind: type[Any], place: Place) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        said, _, path = str(error).partition(" - at `$")
        steps = _STEP.findall(path.rstrip("`"))
        raise SeedUnusable(
            said, (*place, *(int(at) if at else name for name, at in steps))
        ) from None


def seeded(warehouse: Warehouse, namespaces: Sequence[SeedNamespace]) -> Outcome:
    """Return the state of a warehouse with what it is to hold, and the files for that.

    The operations of the server make it. SeedUnusable names what cannot be.
    """
    state, effects = warehouse.state, []
    for position, namespace in enumerate(namespaces):
        try:
            for outcome in _made(warehouse, namespace, state):
                state = outcome.state
                effects += [each for each in outcome.effects if isinstance(each, FileEffect)]
        except SeedUnusable as error:
            place = ("warehouses", warehouse.name, position, *error.place)
            raise SeedUnusable(error.said, place) from None
    return Outcome(state, replies.NO_CONTENT, tuple(effects))


def _made(
    warehouse: Warehouse, namespace: SeedNamespace, state: WarehouseState
) -> Iterator[Outcome]:
    """Yield the outcome of each request that makes a namespace, on the state of the one before."""
    for place, operation_id, body in _wanted(namespace, state):
        operation = warehouse.context.registries.operations.get(operation_id)
        if operation is None:
            raise SeedUnusable(f"{operation_id} is hidden", place)
        request = Request("POST", "", "", _JSON, msgspec.json.encode(body))
        levels = () if operation_id == "createNamespace" else namespace.levels
        try:
            outcome = operation(warehouse.context, state, Call(operation_id, request, levels))
        except Problem as problem:
            raise SeedUnusable(problem.message, place) from None
        state = outcome.state
        yield outcome


def _wanted(
    namespace: SeedNamespace, state: WarehouseState
) -> Iterator[tuple[Place, str, dict[str, Any]]]:
    """Yield the place, the operation and the body of each request that makes what is not there."""
    if state.namespace(namespace.levels) is None:
        properties = namespace.properties
        yield (), "createNamespace", {"namespace": namespace.levels, "properties": properties}
    for number, table in enumerate(namespace.tables):
        place = ("tables", number)
        if state.kind_of(namespace.levels, table.name) != "table":
            yield place, "createTable", _table_body(table, place)
    for number, view in enumerate(namespace.views):
        if state.kind_of(namespace.levels, view.name) != "view":
            yield ("views", number), "createView", _view_body(view, namespace.levels)


def _table_body(table: SeedTable, place: Place) -> dict[str, Any]:
    ids = {name: number for number, name in enumerate(table.columns, 1)}
    fields = _fields(table.columns, {*table.required, *table.identifier})
    unknown = [n for n in (*table.required, *table.identifier) if n not in ids]
    if unknown:
        raise SeedUnusable(f"table {table.name}: there is no column {unknown[0]!r}", place)
    schema: dict[str, Any] = {"type": "struct", "schema-id": 0, "fields": fields}
    if table.identifier:
        schema["identifier-field-ids"] = [ids[name] for name in table.identifier]
    body = {"name": table.name, "schema": schema, "properties": table.properties}
    if table.partition:
        spec = [_partition_field(text, ids, place, table) for text in table.partition]
        body["partition-spec"] = {"spec-id": 0, "fields": spec}
    return body if table.location is None else body | {"location": table.location}


def _partition_field(
    text: str, ids: Mapping[str, int], place: Place, table: SeedTable
) -> dict[str, Any]:
    found = _TRANSFORM.fullmatch(text)
    column = "" if found is None else found["of"] or found["column"]
    if found is None or column not in ids:
        raise SeedUnusable(
            f"table {table.name}: no partition by {text!r}: is {column!r} a column?", place
        )
    transform = found["transform"] or "identity"
    word = transform.partition("[")[0]
    name = column if transform == "identity" else f"{column}_{word}"
    return {"name": name, "transform": transform, "source-id": ids[column]}


def _view_body(view: SeedView, levels: tuple[str, ...]) -> dict[str, Any]:
    return {
        "name": view.name,
        "schema": {"type": "struct", "schema-id": 0, "fields": _fields(view.columns, set())},
        "view-version": {
            "version-id": 1,
            "timestamp-ms": 0,
            "schema-id": 0,
            "summary": {"engine-name": "icecheck"},
            "representations": [{"type": "sql", "sql": view.sql, "dialect": view.dialect}],
            "default-namespace": levels,
        },
        "properties": {},
    }


def _fields(columns: Mapping[str, Any], required: set[str]) -> list[dict[str, Any]]:
    return [
        {"id": number, "name": name, "type": kind, "required": name in required}
        for number, (name, kind) in enumerate(columns.items(), 1)
    ]
