"""What a catalog shows of a history's objects, compared with what the model says."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from icecheck.client import Catalog
from icecheck.expect import Reply
from icecheck.scenarios.model import MAIN, OWNER, CatalogModel, TableModel
from icecheck.scenarios.plans import KEYS
from icecheck.target import Namespace

__all__ = ["Difference", "differences"]

SNAPSHOT_ID_BASE = 7_000_000_000_000_000_000


class NamesOfHistory(Protocol):
    """The names that numbers of namespaces and tables stand for."""

    namespaces: dict[int, Namespace]
    tables: dict[int, str]


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as it must be; objects are called by their numbers."""

    what: str
    where: str
    expected: str
    actual: str
    exchange: int


def differences(
    catalog: Catalog,
    model: CatalogModel,
    names: NamesOfHistory,
    uuids: Mapping[int, str],
    keeps_properties: bool,
) -> Iterator[Difference]:
    """Ask for everything that a history may have touched, and yield what differs."""
    yield from _namespace_listing(catalog, model, names)
    for number, namespace in names.namespaces.items():
        where = f"n{number}"
        reply = catalog.load_namespace_metadata(namespace)
        held = model.namespaces.get(number)
        yield from _status(reply, 404 if held is None else 200, where)
        if held is None:
            continue
        if keeps_properties:
            shown = _ours(reply.json().get("properties"))
            yield from _equal(reply, "namespace-properties", where, dict(held.properties), shown)
        yield from _table_listing(catalog, number, held.tables, names)
        for table in names.tables:
            yield from _table(catalog, (number, table), held.tables.get(table), names, uuids)


def _namespace_listing(
    catalog: Catalog, model: CatalogModel, names: NamesOfHistory
) -> Iterator[Difference]:
    base = catalog.session.isolation.base
    if not base or not catalog.claims("listNamespaces"):
        return  # the top level may be long, and is not ours
    reply = catalog.list_namespaces(base)
    yield from _status(reply, 200, "the namespaces")
    listed = {tuple(n) for n in _list(reply, "namespaces") if isinstance(n, list)}
    shown = [f"n{k}" for k, name in names.namespaces.items() if name in listed]
    held = [f"n{k}" for k in names.namespaces if k in model.namespaces]
    yield from _equal(reply, "namespaces-listed", "the namespaces", held, shown)


def _table_listing(
    catalog: Catalog, number: int, tables: Mapping[int, TableModel], names: NamesOfHistory
) -> Iterator[Difference]:
    where = f"the tables of n{number}"
    reply = catalog.list_tables(names.namespaces[number])
    yield from _status(reply, 200, where)
    known = {name: f"t{k}" for k, name in names.tables.items()}
    found = [i.get("name") for i in _list(reply, "identifiers") if isinstance(i, dict)]
    shown = sorted(known.get(str(name), "a table of another name") for name in found)
    yield from _equal(reply, "tables-listed", where, sorted(f"t{k}" for k in tables), shown)


def _table(
    catalog: Catalog,
    place: tuple[int, int],
    held: TableModel | None,
    names: NamesOfHistory,
    uuids: Mapping[int, str],
) -> Iterator[Difference]:
    number, table = place
    where = f"n{number}.t{table}"
    reply = catalog.load_table(names.namespaces[number], names.tables[table])
    yield from _status(reply, 404 if held is None else 200, where)
    if held is None:
        return
    metadata = reply.member("metadata")
    properties = _ours(metadata.get("properties"))
    yield from _equal(reply, "table-properties", where, dict(held.properties), properties)
    if metadata.get("table-uuid") != uuids.get(held.identity):
        yield _difference(reply, "table-uuid", where, "the UUID of its creation", "another UUID")
    columns = [f"c{i}" for i in range(1, held.columns + 1)]
    yield from _equal(reply, "table-columns", where, columns, _columns(metadata))
    refs = {name: [SNAPSHOT_ID_BASE + n, kind] for name, (n, kind) in held.refs.items()}
    yield from _equal(reply, "table-refs", where, refs, _refs(metadata))


def _columns(metadata: Mapping[str, Any]) -> list[Any]:
    current = metadata.get("current-schema-id")
    schemas = [s for s in metadata.get("schemas") or () if s.get("schema-id") == current]
    return [field.get("name") for schema in schemas[:1] for field in schema.get("fields", ())]


def _refs(metadata: Mapping[str, Any]) -> dict[str, list[Any]]:
    refs = metadata.get("refs") or {}
    shown = {name: [ref.get("snapshot-id"), ref.get("type")] for name, ref in refs.items()}
    current = metadata.get("current-snapshot-id")
    # Metadata without refs says the same by its current snapshot.
    if MAIN not in shown and isinstance(current, int) and current != -1:
        shown[MAIN] = [current, "branch"]
    return shown


def _ours(properties: Any) -> dict[str, Any]:
    held = properties if isinstance(properties, dict) else {}
    return {key: held[key] for key in (OWNER, *KEYS) if key in held}


def _list(reply: Reply, member: str) -> list[Any]:
    found = reply.member(member)
    return found if isinstance(found, list) else []


def _status(reply: Reply, status: int, where: str) -> Iterator[Difference]:
    if reply.status != status:
        yield _difference(reply, "existence", where, str(status), str(reply.status))


def _equal(reply: Reply, what: str, where: str, held: Any, shown: Any) -> Iterator[Difference]:
    if held != shown:
        yield _difference(reply, what, where, str(held), str(shown))


def _difference(reply: Reply, what: str, where: str, expected: str, actual: str) -> Difference:
    return Difference(what, where, expected, actual, reply.exchange.ordinal)
