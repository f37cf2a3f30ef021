"""Fills warehouses by a short description, as tests want them before they begin."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from icecheck.mock_server.core.context import Call, FileEffect, Outcome, Request
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.serving.warehouses import Warehouse

_JSON = {"content-type": "application/json"}
_TRANSFORM = re.compile(r"(?:(?P<transform>\w+(?:\[\d+\])?)\((?P<of>.+)\)|(?P<column>.+))")


class SeedUnusable(ValueError):
    """Raised for a description that cannot be followed; the message names the place in it."""


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


def read_seed(given: str | Path | Mapping[str, Any] | Seed) -> Seed:
    """Return a description that is given as such, or in a file (`.json`, `.yaml`, `.yml`)."""
    match given:
        case Seed():
            return given
        case str() | Path():
            value: Any = _in_file(Path(given))
        case _:
            value = given
    try:
        return msgspec.convert(value, Seed)
    except msgspec.ValidationError as error:
        raise SeedUnusable(f"the seed cannot be followed: {error}") from None


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
            where = f"$.warehouses.{warehouse.name}[{position}]"
            raise SeedUnusable(f"{where}{error}") from None
    return Outcome(state, replies.NO_CONTENT, tuple(effects))


def _made(
    warehouse: Warehouse, namespace: SeedNamespace, state: WarehouseState
) -> Iterator[Outcome]:
    """Yield the outcome of each request that makes a namespace, on the state of the one before."""
    for place, operation_id, body in _wanted(namespace, state):
        operation = warehouse.context.registries.operations.get(operation_id)
        if operation is None:
            raise SeedUnusable(f"{place}: {operation_id} is hidden")
        request = Request("POST", "", "", _JSON, msgspec.json.encode(body))
        levels = () if operation_id == "createNamespace" else namespace.levels
        try:
            outcome = operation(warehouse.context, state, Call(operation_id, request, levels))
        except Problem as problem:
            raise SeedUnusable(f"{place}: {problem.message}") from None
        state = outcome.state
        yield outcome


def _wanted(
    namespace: SeedNamespace, state: WarehouseState
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the place, the operation and the body of each request that makes what is not there."""
    if state.namespace(namespace.levels) is None:
        properties = namespace.properties
        yield "", "createNamespace", {"namespace": namespace.levels, "properties": properties}
    for number, table in enumerate(namespace.tables):
        place = f".tables[{number}]"
        if state.kind_of(namespace.levels, table.name) != "table":
            yield place, "createTable", _table_body(table, place)
    for number, view in enumerate(namespace.views):
        if state.kind_of(namespace.levels, view.name) != "view":
            yield f".views[{number}]", "createView", _view_body(view, namespace.levels)


def _table_body(table: SeedTable, place: str) -> dict[str, Any]:
    ids = {name: number for number, name in enumerate(table.columns, 1)}
    fields = _fields(table.columns, {*table.required, *table.identifier})
    unknown = [n for n in (*table.required, *table.identifier) if n not in ids]
    if unknown:
        raise SeedUnusable(f"{place} {table.name}: there is no column {unknown[0]!r}")
    schema: dict[str, Any] = {"type": "struct", "schema-id": 0, "fields": fields}
    if table.identifier:
        schema["identifier-field-ids"] = [ids[name] for name in table.identifier]
    body = {"name": table.name, "schema": schema, "properties": table.properties}
    if table.partition:
        spec = [_partition_field(text, ids, place, table) for text in table.partition]
        body["partition-spec"] = {"spec-id": 0, "fields": spec}
    return body if table.location is None else body | {"location": table.location}


def _partition_field(
    text: str, ids: Mapping[str, int], place: str, table: SeedTable
) -> dict[str, Any]:
    found = _TRANSFORM.fullmatch(text)
    column = "" if found is None else found["of"] or found["column"]
    if found is None or column not in ids:
        raise SeedUnusable(
            f"{place} {table.name}: no partition by {text!r}: is {column!r} a column?"
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


def _in_file(path: Path) -> Any:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SeedUnusable(f"{path} cannot be read: {error.strerror}") from None
    if path.suffix == ".json":
        try:
            return msgspec.json.decode(content)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise SeedUnusable(f"{path} is no JSON: {error}") from None
    if path.suffix not in (".yaml", ".yml"):
        raise SeedUnusable(f"{path}: a seed is a .yaml or a .json file")
    try:
        import yaml
    except ModuleNotFoundError:
        raise SeedUnusable(f"{path}: a seed in YAML needs PyYAML: pip install pyyaml") from None
    try:
        return yaml.safe_load(content)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SeedUnusable(f"{path} is no YAML: {' '.join(str(error).split())}") from None
