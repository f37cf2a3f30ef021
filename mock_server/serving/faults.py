"""Fault rules: the faults that a user's test wants, on which operation, and how often."""

import threading
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from icecheck.mock_server.core.context import Call, Context, Drop, Operation, Outcome, Reply
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import commit_failed
from icecheck.mock_server.protocol.served_contract import SERVED

_COMMITS = frozenset(o.id for o in SERVED.operations.values() if o.facts.commits)
_STATUS_TYPES = {
    500: "InternalServerError",
    502: "CommitStateUnknownException",
    503: "SlowDownException",
    504: "CommitStateUnknownException",
}


class UnknownFault(ValueError):
    """Raised for an unknown fault or setting; the message lists the known ones."""


class FaultRule(msgspec.Struct):
    """One fault with the requests that it matches and its remaining count; `fired` counts.

    `operation` is an operationId or "" for the fault's own choice; `table` is a table's or view's
    name, with or without its namespace joined by dots, or "" for any.
    """

    fault: str
    operation: str = ""
    table: str = ""
    times: int = 1
    status: int = 0
    retry_after: int = 1
    fired: int = 0

    def matches(self, call: Call) -> bool:
        """Return whether the rule matches this call and may still be applied."""
        if self.fired >= self.times:
            return False
        chosen = {self.operation} if self.operation else FAULTS[self.fault].operations
        if chosen and call.operation_id not in chosen:
            return False
        names = {call.name, ".".join((*call.namespace, call.name))}
        return not self.table or self.table in names


Act = Callable[[FaultRule, Operation, Context, WarehouseState, Call], Outcome]


class _Fault(msgspec.Struct, frozen=True):
    """The action of a fault, and its operations when a rule names none (none: all of them)."""

    act: Act
    operations: frozenset[str] = frozenset()


def _conflict(
    _rule: FaultRule, _faithful: Operation, _context: Context, _state: WarehouseState, _call: Call
) -> Outcome:
    """Refuse a commit as if another client had been faster; nothing is applied."""
    raise commit_failed("Requirement failed: injected conflict")


def _answer_lost(
    _rule: FaultRule, faithful: Operation, context: Context, state: WarehouseState, call: Call
) -> Outcome:
    """Apply the request and close the connection instead of answering."""
    outcome = faithful(context, state, call)
    return msgspec.structs.replace(outcome, effects=(*outcome.effects, Drop()))


def _throttled(
    rule: FaultRule, _faithful: Operation, _context: Context, state: WarehouseState, call: Call
) -> Outcome:
    """Refuse with 429 (or 503) and Retry-After; nothing is applied."""
    status = rule.status or 429
    kind = _STATUS_TYPES.get(status, "TooManyRequestsException")
    headers = (("retry-after", str(rule.retry_after)),)
    return Outcome(state, _refusal(call, status, kind, "Slow down (injected)", headers))


def _connection_dropped(
    _rule: FaultRule, _faithful: Operation, _context: Context, state: WarehouseState, _call: Call
) -> Outcome:
    """Close the connection before anything is applied."""
    return Outcome(state, replies.NO_CONTENT, (Drop(),))


def _server_error(
    rule: FaultRule, _faithful: Operation, _context: Context, state: WarehouseState, call: Call
) -> Outcome:
    """Answer with a 5xx; nothing is applied."""
    return Outcome(state, _error(rule, call))


def _server_error_applied(
    rule: FaultRule, faithful: Operation, context: Context, state: WarehouseState, call: Call
) -> Outcome:
    """Apply the request and answer with a 5xx: the client cannot tell that it was applied."""
    outcome = faithful(context, state, call)
    return msgspec.structs.replace(outcome, reply=_error(rule, call))


def _error(rule: FaultRule, call: Call) -> Reply:
    status = rule.status or 500
    return _refusal(call, status, _STATUS_TYPES.get(status, "ServerError"), "Injected fault")


def _refusal(
    call: Call, status: int, kind: str, message: str, headers: tuple[tuple[str, str], ...] = ()
) -> Reply:
    """Return an error reply; the token endpoint's body has no code for such faults."""
    if call.operation_id == "getToken":
        return replies.oauth_error_reply(status, "invalid_request", message, headers)
    return replies.error_reply(status, kind, message, headers)


FAULTS: Mapping[str, _Fault] = {
    "commit-conflict": _Fault(_conflict, _COMMITS),
    "answer-lost": _Fault(_answer_lost, _COMMITS),
    "throttled": _Fault(_throttled),
    "connection-dropped": _Fault(_connection_dropped, _COMMITS),
    "server-error": _Fault(_server_error),
    "server-error-applied": _Fault(_server_error_applied, _COMMITS),
}
"""Every fault by the name that rules and the command line use."""


class Faults:
    """The fault rules of one server, tried in the order in which they were added."""

    __slots__ = ("_lock", "_rules")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rules: tuple[FaultRule, ...] = ()

    def __bool__(self) -> bool:
        """Return whether any rule was added: without one, requests do not look for rules."""
        return bool(self._rules)

    @property
    def rules(self) -> tuple[FaultRule, ...]:
        """The present rules; their `fired` keeps counting."""
        return self._rules

    def add(self, fault: str, **settings: Any) -> FaultRule:
        """Add a rule and return it; raises UnknownFault for an unknown name or setting."""
        rule = _rule(fault, settings)
        with self._lock:
            self._rules = (*self._rules, rule)
        return rule

    def remove(self, rule: FaultRule) -> None:
        """Remove a rule, applied or not."""
        with self._lock:
            self._rules = tuple(r for r in self._rules if r is not rule)

    def clear(self) -> None:
        """Remove every rule."""
        with self._lock:
            self._rules = ()

    def around(self, faithful: Operation) -> Operation:
        """Return the operation with the matching rules around it."""

        def faulted(context: Context, state: WarehouseState, call: Call, /) -> Outcome:
            rule = self._take(call)
            if rule is None:
                return faithful(context, state, call)
            return FAULTS[rule.fault].act(rule, faithful, context, state, call)

        return faulted

    def _take(self, call: Call) -> FaultRule | None:
        with self._lock:
            for rule in self._rules:
                if rule.matches(call):
                    rule.fired += 1
                    return rule
        return None


def parse_fault(text: str) -> tuple[str, dict[str, Any]]:
    """Read `NAME[,setting=value…]`, as the command line gives it; raises UnknownFault."""
    fault, *parts = text.split(",")
    settings: dict[str, Any] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals:
            raise UnknownFault(f"{part!r} in {text!r}: write setting=value")
        settings[key.replace("-", "_")] = value
    _rule(fault, settings)
    return fault, settings


def _rule(fault: str, settings: Mapping[str, Any]) -> FaultRule:
    if fault not in FAULTS:
        raise UnknownFault(f"there is no fault {fault!r}; there are {', '.join(FAULTS)}")
    known = [f for f in FaultRule.__struct_fields__ if f not in {"fault", "fired"}]
    unknown = [s for s in settings if s not in known]
    if unknown:
        raise UnknownFault(f"{fault} takes no {unknown[0]!r}; it takes {', '.join(known)}")
    try:
        rule = msgspec.convert({"fault": fault, **settings}, FaultRule, strict=False)
    except msgspec.ValidationError as error:
        raise UnknownFault(f"{fault}: {error}") from None
    if rule.times < 1 or rule.retry_after < 0 or (rule.status and not 400 <= rule.status < 600):
        raise UnknownFault(f"{fault}: times from 1, retry_after from 0, status 400 to 599")
    return rule
