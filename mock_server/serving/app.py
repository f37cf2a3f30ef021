"""The core: gates, dispatch by operationId, and one publication at a time per warehouse."""

import logging
import time
from collections.abc import Collection, Iterable, Mapping
from functools import partial

from icecheck.mock_server.core.context import (
    Answer,
    Call,
    DoorEffect,
    Drop,
    FileEffect,
    MakeDirectory,
    Operation,
    Outcome,
    Registries,
    RemoveFile,
    RemoveFiles,
    Reply,
    Request,
    WriteFile,
)
from icecheck.mock_server.core.journal import Journal
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.protocol.request_bodies import check_body
from icecheck.mock_server.protocol.served_contract import KEY_HEADER, KNOWN
from icecheck.mock_server.security.callers import Security
from icecheck.mock_server.serving import permissions
from icecheck.mock_server.serving.faults import Faulted, Faults
from icecheck.mock_server.serving.gates import Gates, HeldRequest
from icecheck.mock_server.serving.metadata_files import METADATA_FILE_NAME_PART, is_served
from icecheck.mock_server.serving.routing import (
    NoRoute,
    Route,
    RoutedOperation,
    Router,
    query_values,
    resolved,
)
from icecheck.mock_server.serving.warehouses import Warehouse, Warehouses, publish_states
from icecheck.mock_server.storage.files import Files

BODY_BYTES_MAX = 64 * 1024 * 1024

# These operations leave the state as it is: many can work on one warehouse.
_WITHOUT_LOCK = frozenset(o.id for o in KNOWN.operations.values() if not o.facts.locks)
_NO_NAMES: tuple[str, ...] = ()

_log = logging.getLogger(__name__)


class App:
    """Answers requests, synchronously and from any thread; it uses no sockets."""

    def __init__(
        self,
        operations: Iterable[RoutedOperation],
        warehouses: Warehouses,
        registries: Registries,
        journal: Journal,
        security: Security,
    ) -> None:
        self.warehouses = warehouses
        self.registries = registries
        self.journal = journal
        self.faults = Faults()
        self.gates = Gates()
        self._router = Router(operations)
        self._security = security

    def handle(self, request: Request) -> Answer:
        """Answer one request. Never raises: an unexpected error is a 500 with an Iceberg body."""
        started_ns = time.perf_counter_ns()
        route: Route | None = None
        call: Call | None = None
        effects: tuple[DoorEffect, ...] = ()
        principal, faulted = "", None
        try:
            refusal = self._gate(request)
            if refusal is not None:
                route = self._route_of(request)  # only to tell of it
            else:
                found = self._match(request)
                if isinstance(found, NoRoute):
                    refusal = _no_route(found)
                else:
                    route = found
                    if not self._security.is_open:
                        principal = self._security.name_of(request.headers.get("authorization"))
                    operation, remembers, faulted = self._operation(route, request, principal)
                    call, outcome = _perform(route, operation, request, remembers)
                    reply = outcome.reply
                    if outcome.effects:
                        effects = _door_effects(outcome)
            if refusal is not None:
                reply = refusal
        except Problem as refused:
            reply = _refused(refused, route)
        except Exception:  # noqa: BLE001 - the one place that turns our bugs into answers
            _log.exception("%s %s failed", request.method, request.raw_path)
            reply = replies.FAILED
        if request.method == "HEAD":
            reply = Reply(reply.status, _without_content_type(reply.headers))
        answer = Answer(reply, effects)
        self._record(request, answer, route, call, principal, faulted, started_ns)
        return answer

    def arrive(self, request: Request) -> HeldRequest | None:
        """Let a request come to the gates; return it as held, or None if it may pass.

        The transport waits until it is let go, before or after it handles it.
        """
        found = self._route_of(request) if self.gates else None
        if found is None:
            return None
        names, warehouse = found.literal, found.warehouse.name
        if found.operation_id == "getConfig":
            warehouse = query_values(request.query_string).get("warehouse") or warehouse
        return self.gates.arrive(
            found.operation_id, warehouse, names.namespace, names.name, request.raw_path
        )

    def _match(self, request: Request) -> Route | NoRoute:
        served = self.registries.operations
        return self._router.match(request.method, request.raw_path, self.warehouses, served)

    def _route_of(self, request: Request) -> Route | None:
        try:
            found = self._match(request)
        except Problem:
            return None
        return None if isinstance(found, NoRoute) else found

    def _operation(
        self, route: Route, request: Request, principal: str
    ) -> tuple[Operation, bool, Faulted | None]:
        """Return what answers a request, whether its answer may be remembered, and the fault."""
        operation, faulted = self.registries.operations[route.operation_id], None
        has_key = KEY_HEADER in request.headers
        keyed = self.registries.keyed.get(route.operation_id) if has_key else None
        if keyed is not None:
            operation = partial(keyed, operation)
        if self.faults:
            operation = faulted = self.faults.around(operation, principal)
        if self._security.restricts:
            operation = permissions.guarded(operation, self._security)
        return operation, keyed is not None, faulted

    @staticmethod
    def may_take_long(request: Request) -> bool:
        """Return whether a request may read many files.

        The HTTP layer should not answer such a request on its event loop.
        """
        path = request.raw_path
        if request.method == "DELETE" and "purgeRequested" in request.query_string:
            return True
        return path.endswith(("/plan", "/tasks")) or "/plan/" in path

    def _gate(self, request: Request) -> Reply | None:
        for gate in tuple(self.registries.gates.values()):
            refusal = gate(request, self._security)
            if refusal is not None:
                return refusal
        if len(request.body) > BODY_BYTES_MAX:
            return body_too_large()
        return None

    def _record(
        self,
        request: Request,
        answer: Answer,
        route: Route | None,
        call: Call | None,
        principal: str,
        faulted: Faulted | None,
        started_ns: int,
    ) -> None:
        names = call or (None if route is None else route.literal)
        warehouse = "" if route is None else route.warehouse.name
        self.journal.record(
            request,
            answer.reply,
            operation="" if route is None else route.operation_id,
            warehouse=warehouse if call is None else call.warehouse(warehouse),
            namespace=_NO_NAMES if names is None else names.namespace,
            name="" if names is None else names.name,
            principal=principal,
            duration_us=(time.perf_counter_ns() - started_ns) // 1000,
            fault="" if faulted is None or faulted.rule is None else faulted.rule.id,
            answered=not any(isinstance(effect, Drop) for effect in answer.effects),
        )


def body_too_large() -> Reply:
    """Return the answer to a body above `BODY_BYTES_MAX`.

    It closes the connection, because the rest of the body is not read.
    """
    return replies.error_reply(
        413,
        "RequestEntityTooLargeException",
        f"The body is larger than {BODY_BYTES_MAX} bytes",
        (("connection", "close"),),
    )


def _perform(
    route: Route,
    operation: Operation,
    request: Request,
    remembers: bool,
) -> tuple[Call, Outcome]:
    warehouse = route.warehouse
    query = query_values(request.query_string)
    if request.body:
        check_body(route.operation_id, request.headers, request.body)
    if route.operation_id in _WITHOUT_LOCK and not remembers:
        state = warehouse.state
        call = _call(route, request, query, state)
        return call, operation(warehouse.context, state, call)
    with warehouse.lock:
        if warehouse.removed:
            raise problem.no_such_warehouse(warehouse.name)
        call = _call(route, request, query, warehouse.state)
        outcome = operation(warehouse.context, warehouse.state, call)
        publish_outcomes([(warehouse, outcome)])
    if outcome.effects:
        _remove_files(warehouse, outcome)
    return call, outcome


def _call(route: Route, request: Request, query: Mapping[str, str], state: WarehouseState) -> Call:
    names = route.literal
    if route.form is not None:
        # Apache's Java client names itself in every request, and form-encodes every path.
        java = request.headers.get("x-client-version", "").startswith("Apache Iceberg")
        names = resolved(state, route, form_encoded=java)
    return Call(route.operation_id, request, names.namespace, names.name, names.parameters, query)


def publish_outcomes(outcomes: Collection[tuple[Warehouse, Outcome]]) -> None:
    """Write the files of outcomes, then replace the states; if either fails, change nothing."""
    written: list[tuple[Files, str]] = []
    try:
        for warehouse, outcome in outcomes:
            files, made = warehouse.context.files, None
            for effect in outcome.effects:
                match effect:
                    case WriteFile(location, content):
                        files.write(location, content, made)
                        written.append((files, location))
                    case MakeDirectory(location, names):
                        made = files.make_directory(location, names)
        publish_states([(warehouse, outcome.state) for warehouse, outcome in outcomes])
    except OSError as error:
        for files, location in written:
            files.remove(location)
        raise problem.bad_request(f"Cannot write to the location: {error}") from error


def _remove_files(warehouse: Warehouse, outcome: Outcome) -> None:
    for effect in outcome.effects:
        match effect:
            case RemoveFile(location):
                _remove_file(warehouse, location)
            case RemoveFiles(find):
                for location in find(warehouse.context.files):
                    _remove_file(warehouse, location)


def _remove_file(warehouse: Warehouse, location: str) -> None:
    """Remove a file, unless the next server has to read it: two names may stand for one file."""
    files = warehouse.context.files
    if not warehouse.is_kept or METADATA_FILE_NAME_PART not in location:
        files.remove(location)
        return
    with warehouse.lock:  # or the file could be registered before it is gone
        if not is_served(warehouse.state, location):
            files.remove(location)


def _door_effects(outcome: Outcome) -> tuple[DoorEffect, ...]:
    return tuple(effect for effect in outcome.effects if not isinstance(effect, FileEffect))


def _refused(refused: Problem, route: Route | None) -> Reply:
    if route is not None and route.operation_id == "getToken":
        return replies.oauth_error_reply(400, "invalid_request", refused.message)
    return replies.problem_reply(refused)


def _no_route(found: NoRoute) -> Reply:
    if found.unserved and "406" in KNOWN.operations[found.unserved].responses:
        return replies.problem_reply(problem.unsupported(f"No {found.unserved} on this server"))
    if found.allowed:
        allow = (("allow", ", ".join(sorted(found.allowed))),)
        return replies.error_reply(405, "MethodNotAllowedException", found.message, allow)
    return replies.error_reply(404, "NotFoundException", found.message)


def _without_content_type(headers: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    return tuple(header for header in headers if header[0] != "content-type")
