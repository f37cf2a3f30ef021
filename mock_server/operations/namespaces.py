"""Namespaces: list, create, load, exists, drop, properties."""

import msgspec

from icecheck.mock_server.commits.default_locations import NAMESPACE_LOCATION, namespace_location
from icecheck.mock_server.core.context import Call, Context, Outcome
from icecheck.mock_server.core.state import NamespaceEntry, WarehouseState
from icecheck.mock_server.operations.registry import operation
from icecheck.mock_server.protocol import names, problem, replies
from icecheck.mock_server.protocol.json_input import decode_json
from icecheck.mock_server.protocol.paging import PageRequest


class CreateNamespaceRequest(msgspec.Struct, frozen=True):
    """The body of createNamespace (document L1948)."""

    namespace: tuple[str, ...]
    properties: dict[str, str] | None = None


class UpdatePropertiesRequest(msgspec.Struct, frozen=True):
    """The body of updateProperties (document L1962)."""

    removals: tuple[str, ...] | None = None
    updates: dict[str, str] | None = None


@operation("listNamespaces")
def list_namespaces(context: Context, state: WarehouseState, call: Call) -> Outcome:
    """List the direct children of `parent`, or the top level (L243-L290)."""
    parent_text = call.query.get("parent")
    parent = names.split_namespace(parent_text, context.separator) if parent_text else ()
    page = PageRequest(
        call.query,
        context.identities.token_key,
        ("namespaces", context.warehouse, *parent),
        context.page_size_max,
    )
    if parent and parent not in state.namespaces:
        raise problem.no_such_namespace(parent)
    children, more = page.cut(state.children(parent, page.after))
    token = page.next_token(children[-1][-1]) if more else None
    return Outcome(state, replies.json_reply({"namespaces": children, "next-page-token": token}))


@operation("createNamespace")
def create_namespace(context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Create a namespace; missing ancestors are created too.

    The document says nothing about ancestors. To refuse would break clients written against the
    reference, which accepts; an ancestor that does not exist would break the listing. Each gets a
    `location` unless the request has one: some clients put tables below it, or nowhere.
    """
    request = decode_json(CreateNamespaceRequest, call.request.body)
    namespace = names.new_namespace(request.namespace)
    if namespace in state.namespaces:
        raise problem.already_exists(f"Namespace already exists: {'.'.join(namespace)}")
    for depth in range(1, len(namespace)):
        ancestor = namespace[:depth]
        if ancestor not in state.namespaces:
            state = state.with_namespace(ancestor, _located(context, state, ancestor, {}))
    properties = _located(context, state, namespace, request.properties or {})
    return Outcome(
        state.with_namespace(namespace, properties),
        replies.json_reply({"namespace": namespace, "properties": properties}),
    )


@operation("loadNamespaceMetadata")
def load_namespace_metadata(_context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Answer the stored properties."""
    entry = _existing(state, call.namespace)
    body = {"namespace": call.namespace, "properties": entry.properties}
    return Outcome(state, replies.json_reply(body))


@operation("namespaceExists")
def namespace_exists(_context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Answer 204 or 404, either without a body."""
    _existing(state, call.namespace)
    return Outcome(state, replies.NO_CONTENT)


@operation("dropNamespace")
def drop_namespace(_context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Drop an empty namespace: no tables, views or child namespaces may be in it."""
    entry = _existing(state, call.namespace)
    if entry.tables or entry.views or next(state.children(call.namespace), None) is not None:
        raise problem.namespace_not_empty(call.namespace)
    return Outcome(state.without_namespace(call.namespace), replies.NO_CONTENT)


@operation("updateProperties")
def update_properties(_context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Set and remove properties; a key in both lists is 422, before the namespace is looked up.

    All three lists are always sent: pyiceberg needs `missing` although it is optional.
    """
    request = decode_json(UpdatePropertiesRequest, call.request.body)
    updates = request.updates or {}
    removals = dict.fromkeys(request.removals or ())
    if len(removals) < len(request.removals or ()):
        raise problem.bad_request("A key is removed twice")
    both = [key for key in removals if key in updates]
    if both:
        raise problem.unprocessable(f"Keys both set and removed: {', '.join(both)}")
    before = _existing(state, call.namespace).properties
    kept = {key: value for key, value in before.items() if key not in removals}
    body = {
        "updated": list(updates),
        "removed": [key for key in removals if key in before],
        "missing": [key for key in removals if key not in before],
    }
    return Outcome(state.with_namespace(call.namespace, kept | updates), replies.json_reply(body))


def _existing(state: WarehouseState, namespace: tuple[str, ...]) -> NamespaceEntry:
    entry = state.namespace(namespace)
    if entry is None:
        raise problem.no_such_namespace(namespace)
    return entry


def _located(
    context: Context, state: WarehouseState, namespace: tuple[str, ...], sent: dict[str, str]
) -> dict[str, str]:
    """Return the properties of a new namespace: those that were sent, and always a location."""
    if NAMESPACE_LOCATION in sent:
        return sent
    return sent | {NAMESPACE_LOCATION: namespace_location(context, state, namespace)}
