"""Checks a caller's permissions once the request is routed, for every name in it."""

from collections.abc import Iterator

from icecheck.contract import Action, Changes, Object, Place
from icecheck.mock_server.commits.commit import decode_commit_transaction
from icecheck.mock_server.core.context import Call, Context, Operation, Outcome, Reply
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.objects.places import place_of
from icecheck.mock_server.operations.namespaces import CreateNamespaceRequest
from icecheck.mock_server.operations.register import RegisterTableRequest
from icecheck.mock_server.operations.rename import decode_rename
from icecheck.mock_server.protocol import names, problem, replies
from icecheck.mock_server.protocol.json_input import decode_json
from icecheck.mock_server.protocol.served_contract import KNOWN
from icecheck.mock_server.security.callers import Caller, Security
from icecheck.mock_server.security.settings import Permissions
from icecheck.mock_server.storage.places import same_file

WRITING = frozenset(
    operation.id
    for operation in KNOWN.operations.values()
    if operation.facts.changes is Changes.OBJECTS
)
"""The operations that a read-only caller may not use."""

_INSUFFICIENT_SCOPE = (("www-authenticate", 'Bearer error="insufficient_scope"'),)


def guarded(operation: Operation, security: Security) -> Operation:
    """Return the operation with a permission check before it."""

    def permitted(context: Context, state: WarehouseState, call: Call, /) -> Outcome:
        refused = refusal(context, call, state, security)
        return operation(context, state, call) if refused is None else Outcome(state, refused)

    return permitted


def refusal(
    context: Context, call: Call, state: WarehouseState, security: Security
) -> Reply | None:
    """Return the 403 for a call that its sender may not make; None when it may go on.

    The whole call is refused where any name in it is denied; no answer leaves out denied objects
    instead (L4941). Problem 400 for a body that the operation itself would not read.
    """
    if not security.restricts or call.operation_id == "getToken":
        return None
    caller = security.identify(call.request.headers.get("authorization"))
    if not isinstance(caller, Caller) or caller.expires_ms is None:
        return None
    needed = None if security.oauth2 is None else security.oauth2.required_scope
    if needed is not None and needed not in caller.scopes:
        return _forbidden(f"This needs the scope {needed}", _INSUFFICIENT_SCOPE)
    if not all(_permits(each, context, call, state) for each in caller.permissions):
        return _forbidden(f"{caller.name[:80]} may not do this")
    return None


def _permits(permissions: Permissions, context: Context, call: Call, state: WarehouseState) -> bool:
    if permissions.denies_operation(call.operation_id):
        return False
    if permissions.read_only and call.operation_id in WRITING:
        return False
    if not permissions.denied_namespaces:
        return True
    return not any(map(permissions.denies_namespace, _namespaces(context, call, state)))


def _namespaces(context: Context, call: Call, state: WarehouseState) -> Iterator[tuple[str, ...]]:
    """Yield every namespace that a call names: in its path, its query or its body."""
    if call.namespace:
        yield call.namespace
    facts = KNOWN.operations[call.operation_id].facts
    for place in facts.names:
        yield from _named_at(place, facts.object, call, context.separator)
    if facts.action is Action.REGISTER:
        request = decode_json(RegisterTableRequest, call.request.body)
        yield from _owners(state, request.metadata_location)


def _named_at(
    place: Place, kind: Object, call: Call, separator: str | None
) -> Iterator[tuple[str, ...]]:
    match place:
        case Place.PATH | Place.NAME | Place.IDENTIFIER:
            return  # the path's namespace
        case Place.PARENT:
            parent = call.query.get("parent")
            if parent:
                yield names.split_namespace(parent, separator)
        case Place.NAMESPACE:
            yield decode_json(CreateNamespaceRequest, call.request.body).namespace
        case Place.SOURCE | Place.DESTINATION:
            source, target = decode_rename(call.request.body, kind)
            yield (source if place is Place.SOURCE else target).namespace
        case Place.TABLE_CHANGES:
            for identifier, _ in decode_commit_transaction(call.request.body):
                yield identifier.namespace


def _owners(state: WarehouseState, metadata_location: str) -> Iterator[tuple[str, ...]]:
    """Yield the namespaces of those whose metadata file it is: to register it is to read them."""
    for namespace, entry in state.namespaces.after():
        for _, view in entry.views.after():
            if _is_same(metadata_location, view.metadata_location):
                yield namespace
        for _, table in entry.tables.after():
            logged = (each.metadata_file for each in table.metadata.metadata_log)
            known = (table.metadata_location, *logged)
            if any(_is_same(metadata_location, each) for each in known):
                yield namespace


def _is_same(one: str, other: str) -> bool:
    """Return whether two locations are of one file, on disk or in the object store."""
    place = place_of(one)
    return same_file(one, other) or (place is not None and place == place_of(other))


def _forbidden(message: str, headers: tuple[tuple[str, str], ...] = ()) -> Reply:
    refused = problem.forbidden(message)
    return replies.error_reply(refused.status, refused.type, refused.message, headers)
