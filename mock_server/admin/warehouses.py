"""Routes for what the warehouses hold."""

from typing import Any

import msgspec

from icecheck.mock_server.admin.declared import Asked, Parts, Refusal, no_such, route
from icecheck.mock_server.metadata.encoding import to_builtins
from icecheck.mock_server.metadata.view_metadata import encode_view
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.names import NAMESPACE_SEPARATOR
from icecheck.mock_server.protocol.wire import Reply
from icecheck.mock_server.serving.seeding import Seed, SeedUnusable
from icecheck.mock_server.serving.state_documents import StateDocument, StateUnreadable
from icecheck.mock_server.serving.warehouses import Warehouse


class WarehouseShown(msgspec.Struct, frozen=True):
    """A warehouse, and how much it holds."""

    name: str
    prefix: str
    location: str
    namespaces: int
    tables: int
    views: int


class WarehousesShown(msgspec.Struct, frozen=True):
    """All warehouses."""

    warehouses: list[WarehouseShown]


class NamespaceShown(msgspec.Struct, frozen=True):
    """A namespace by its levels, its properties, and the names in it."""

    namespace: list[str]
    properties: dict[str, str]
    tables: list[str]
    views: list[str]


class NamespacesShown(msgspec.Struct, frozen=True):
    """All namespaces of a warehouse."""

    namespaces: list[NamespaceShown]


class ObjectShown(msgspec.Struct, frozen=True):
    """The present metadata of a table or a view, and where its file is."""

    metadata_location: str
    metadata: dict[str, Any]


class Opened(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The name of a warehouse."""

    name: str


@route("GET", "/warehouses", answer=WarehousesShown)
def list_warehouses(parts: Parts, _asked: Asked) -> WarehousesShown:
    """List the warehouses that a client can know of, and how much each holds."""
    return WarehousesShown([warehouse_shown(each) for each in parts.warehouses.known()])


@route("POST", "/warehouses", body=Opened, answer=WarehouseShown, refusals=(404,))
def open_warehouse(parts: Parts, asked: Asked) -> WarehouseShown:
    """Open a warehouse on demand, or one that was declared and removed; an open one stays."""
    parts.warehouses.declare_again(asked.body.name)
    return warehouse_shown(parts.warehouses.asked_for(asked.body.name))


@route("DELETE", "/warehouses/{warehouse}", refusals=(404,))
def remove_warehouse(parts: Parts, asked: Asked) -> None:
    """Forget a warehouse with its files; it is opened again, empty, on demand or by a POST."""
    parts.states.remove(_warehouse(parts, asked))


@route("POST", "/warehouses/{warehouse}/reset", refusals=(404,))
def reset_warehouse(parts: Parts, asked: Asked) -> None:
    """Empty one warehouse."""
    parts.states.empty(_warehouse(parts, asked))


@route("GET", "/warehouses/{warehouse}/namespaces", answer=NamespacesShown, refusals=(404,))
def list_namespaces_of(parts: Parts, asked: Asked) -> NamespacesShown:
    """List the namespaces of a warehouse, with their properties and the names in them."""
    state = _warehouse(parts, asked).state
    return NamespacesShown(
        [
            NamespaceShown(
                [*levels],
                entry.properties,
                [name for name, _ in entry.tables.after()],
                [name for name, _ in entry.views.after()],
            )
            for levels, entry in state.namespaces.after()
        ]
    )


@route(
    "GET",
    "/warehouses/{warehouse}/namespaces/{namespace}/tables/{table}",
    answer=ObjectShown,
    refusals=(404,),
)
def get_table_metadata(parts: Parts, asked: Asked) -> ObjectShown:
    """Show the present metadata of a table; levels of its namespace are separated by %1F."""
    namespace, name = _namespace(asked), asked.names["table"]
    entry = _warehouse(parts, asked).state.table(namespace, name)
    if entry is None:
        raise no_such("table", ".".join((*namespace, name)))
    return ObjectShown(entry.metadata_location, to_builtins(entry.metadata))


@route(
    "GET",
    "/warehouses/{warehouse}/namespaces/{namespace}/views/{view}",
    answer=ObjectShown,
    refusals=(404,),
)
def get_view_metadata(parts: Parts, asked: Asked) -> ObjectShown:
    """Show the present metadata of a view; levels of its namespace are separated by %1F."""
    namespace, name = _namespace(asked), asked.names["view"]
    entry = _warehouse(parts, asked).state.view(namespace, name)
    if entry is None:
        raise no_such("view", ".".join((*namespace, name)))
    return ObjectShown(entry.metadata_location, msgspec.json.decode(encode_view(entry.metadata)))


class StateQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which warehouse; without a name all."""

    warehouse: str | None = None


@route("GET", "/state", query=StateQuery, answer=StateDocument, refusals=(404,))
def export_state(parts: Parts, asked: Asked) -> Reply:
    """Return what the warehouses hold as one document; data files are not in it."""
    try:
        content = parts.states.export(asked.query.warehouse)
    except KeyError:
        raise no_such("warehouse", str(asked.query.warehouse)) from None
    return Reply(200, replies.JSON_CONTENT, content)


@route("PUT", "/state", body=dict[str, Any], described=StateDocument, refusals=(404,))
def load_state(parts: Parts, asked: Asked) -> None:
    """Let the warehouses of a document hold what it says, and nothing else."""
    try:
        parts.states.load(asked.body)
    except StateUnreadable as error:
        raise Refusal(400, str(error)) from None


@route("POST", "/seed", body=dict[str, Any], described=Seed, refusals=(404,))
def seed_warehouses(parts: Parts, asked: Asked) -> None:
    """Fill warehouses as a short description says; what they hold already stays."""
    try:
        parts.states.seed(asked.body)
    except SeedUnusable as error:
        raise Refusal(400, str(error)) from None


def warehouse_named(parts: Parts, name: str) -> Warehouse:
    """Return the warehouse of this name; Refusal if there is none."""
    found = parts.warehouses.named(name)
    if found is None:
        raise no_such("warehouse", name)
    return found


def _warehouse(parts: Parts, asked: Asked) -> Warehouse:
    return warehouse_named(parts, asked.names["warehouse"])


def _namespace(asked: Asked) -> tuple[str, ...]:
    return tuple(asked.names["namespace"].split(NAMESPACE_SEPARATOR))


def warehouse_shown(warehouse: Warehouse) -> WarehouseShown:
    """Return how much a warehouse holds."""
    entries = [entry for _, entry in warehouse.state.namespaces.after()]
    return WarehouseShown(
        warehouse.name,
        warehouse.prefix,
        warehouse.context.location,
        len(entries),
        sum(len(entry.tables) for entry in entries),
        sum(len(entry.views) for entry in entries),
    )
