"""Reads a history's objects from the catalog and compares them with the model."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from icecheck.client.catalog import Catalog
from icecheck.replies.expect import ABSENT, Blocked, Reply, find
from icecheck.scenarios.random.model import MAIN, OWNER, CatalogModel
from icecheck.scenarios.random.plans import KEYS
from icecheck.scenarios.random.steps import (
    AddColumn,
    AddSnapshot,
    CommitProperties,
    CreateNamespace,
    CreateTable,
    ListTables,
    LoadNamespace,
    LoadTable,
    RegisterBack,
    RemoveRef,
    SetRef,
    Step,
)
from icecheck.targets.target import Namespace

__all__ = ["SNAPSHOT_ID_BASE", "Difference", "Knowledge", "differences", "shown_by"]

SNAPSHOT_ID_BASE = 7_000_000_000_000_000_000
"""A history's snapshots have this id plus their ordinal."""


class NamesOfHistory(Protocol):
    """The names for the numbers of namespaces and tables."""

    namespaces: dict[int, Namespace]
    tables: dict[int, str]


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference from the model; objects are named by their numbers.

    ``answered`` is the status of the answer, if the status is wrong.
    """

    what: str
    where: str
    expected: str
    actual: str
    exchange: int
    answered: int | None = None


@dataclass(frozen=True, slots=True)
class Knowledge:
    """The facts about a running history: names, the model, and the UUID of each identity."""

    names: NamesOfHistory
    model: CatalogModel
    uuids: Mapping[int, str]
    keeps_properties: bool


def shown_by(step: Step, reply: Reply, known: Knowledge) -> Iterator[Difference]:
    """Yield the differences in the successful answer to a step."""
    match step:
        case CreateNamespace(n) if find(reply.json(), ("properties",)) in (ABSENT, None):
            return  # a catalog may omit the properties in this answer
        case CreateNamespace(n) | LoadNamespace(n):
            yield from _namespace_shown(reply, n, known)
        case ListTables(n):
            yield from _tables_listed(reply, n, known)
        case (
            CreateTable(n, t)
            | LoadTable(n, t)
            | CommitProperties(n, t)
            | AddColumn(n, t)
            | AddSnapshot(n, t)
            | SetRef(n, t)
            | RemoveRef(n, t)
            | RegisterBack(n, t)
        ):
            yield from _table_shown(reply, (n, t), known)


def differences(catalog: Catalog, known: Knowledge) -> Iterator[Difference]:
    """Read everything that a history may have touched, and yield the differences."""
    names, model = known.names, known.model
    yield from _namespaces_listed(catalog, known)
    for number, namespace in names.namespaces.items():
        held = model.namespaces.get(number)
        reply = catalog.load_namespace_metadata(namespace)
        yield from _status(reply, 404 if held is None else 200, f"n{number}")
        if held is None:
            continue
        yield from _namespace_shown(reply, number, known)
        listing = catalog.list_tables(namespace)
        yield from _status(listing, 200, f"the tables of n{number}")
        yield from _tables_listed(listing, number, known)
        for table, name in names.tables.items():
            loaded = catalog.load_table(namespace, name)
            there = table in held.tables
            yield from _status(loaded, 200 if there else 404, f"n{number}.t{table}")
            if there:
                yield from _table_shown(loaded, (number, table), known)


def _namespaces_listed(catalog: Catalog, known: Knowledge) -> Iterator[Difference]:
    base = catalog.session.isolation.base
    if not base or not catalog.claims("listNamespaces"):
        return  # the top level may be long and has entries of others
    reply = catalog.list_namespaces(base)
    yield from _status(reply, 200, "the namespaces")
    listed = {tuple(n) for n in _list(reply, "namespaces") if isinstance(n, list)}
    shown = [f"n{k}" for k, name in known.names.namespaces.items() if name in listed]
    held = [f"n{k}" for k in known.names.namespaces if k in known.model.namespaces]
    yield from _equal(reply, "namespaces-listed", "the namespaces", held, shown)


def _namespace_shown(reply: Reply, number: int, known: Knowledge) -> Iterator[Difference]:
    held = known.model.namespaces[number]
    if known.keeps_properties:
        shown = _ours(find(reply.json(), ("properties",)))
        where = f"n{number}"
        yield from _equal(reply, "namespace-properties", where, dict(held.properties), shown)


def _tables_listed(reply: Reply, number: int, known: Knowledge) -> Iterator[Difference]:
    numbers = {name: f"t{k}" for k, name in known.names.tables.items()}
    found = [i.get("name") for i in _objects(_list(reply, "identifiers"))]
    shown = sorted(numbers.get(str(name), "a table of another name") for name in found)
    held = sorted(f"t{k}" for k in known.model.namespaces[number].tables)
    yield from _equal(reply, "tables-listed", f"the tables of n{number}", held, shown)


def _table_shown(reply: Reply, place: tuple[int, int], known: Knowledge) -> Iterator[Difference]:
    where = f"n{place[0]}.t{place[1]}"
    held = known.model.table(*place)
    if held is None:
        return
    metadata = _metadata(reply)
    properties = _ours(metadata.get("properties"))
    yield from _equal(reply, "table-properties", where, dict(held.properties), properties)
    uuid, first = metadata.get("table-uuid"), known.uuids.get(held.identity)
    if str(uuid).lower() != str(first).lower():
        yield _difference(reply, "table-uuid", where, "the UUID of its creation", "another UUID")
    columns = [f"c{i}" for i in range(1, held.columns + 1)]
    yield from _equal(reply, "table-columns", where, columns, _columns(metadata))
    refs = {name: [SNAPSHOT_ID_BASE + n, kind] for name, (n, kind) in held.refs.items()}
    yield from _equal(reply, "table-refs", where, refs, _refs(metadata))


def _metadata(reply: Reply) -> Mapping[str, Any]:
    metadata = reply.member("metadata")
    if not isinstance(metadata, dict):
        raise Blocked(
            f"schema.{reply.exchange.operation}.{reply.status}",
            "the answer has no usable table metadata",
            exchange=reply.exchange.ordinal,
        )
    return metadata


def _columns(metadata: Mapping[str, Any]) -> list[Any]:
    current = metadata.get("current-schema-id")
    schemas = [s for s in _objects(metadata.get("schemas")) if s.get("schema-id") == current]
    return [f.get("name") for schema in schemas[:1] for f in _objects(schema.get("fields"))]


def _refs(metadata: Mapping[str, Any]) -> dict[str, list[Any]]:
    refs = metadata.get("refs")
    shown = {
        name: [ref.get("snapshot-id"), ref.get("type")]
        for name, ref in (refs.items() if isinstance(refs, dict) else ())
        if isinstance(ref, dict)
    }
    current = metadata.get("current-snapshot-id")
    # Metadata without refs show main by the current snapshot.
    if MAIN not in shown and isinstance(current, int) and current != -1:
        shown[MAIN] = [current, "branch"]
    return shown


def _objects(value: Any) -> list[dict[str, Any]]:
    return [v for v in value if isinstance(v, dict)] if isinstance(value, list) else []


def _ours(properties: Any) -> dict[str, Any]:
    held = properties if isinstance(properties, dict) else {}
    return {key: held[key] for key in (OWNER, *KEYS) if key in held}


def _list(reply: Reply, member: str) -> list[Any]:
    """Return a list of an answer; other checks judge whether an empty list may be missing."""
    found = find(reply.json(), (member,))
    return found if isinstance(found, list) else []


def _status(reply: Reply, status: int, where: str) -> Iterator[Difference]:
    if reply.status != status:
        found = _difference(reply, "existence", where, str(status), str(reply.status))
        yield replace(found, answered=reply.status)


def _equal(reply: Reply, what: str, where: str, held: Any, shown: Any) -> Iterator[Difference]:
    if held != shown:
        yield _difference(reply, what, where, str(held), str(shown))


def _difference(reply: Reply, what: str, where: str, expected: str, actual: str) -> Difference:
    return Difference(what, where, expected, actual, reply.exchange.ordinal)
