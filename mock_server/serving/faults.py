"""Applies fault rules to the requests of one server."""

import itertools
import random
import threading
from collections.abc import Iterable
from typing import Any

import msgspec

from icecheck.mock_server.core.context import (
    Call,
    Context,
    Delay,
    DoorEffect,
    Drop,
    Operation,
    Outcome,
    Reply,
    Truncate,
)
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.serving.fault_rules import FaultRule, rule_of

_BODILESS_STATUSES = frozenset({204, 304})


class UnfiredFault(AssertionError):
    """Raised where strict rules end that never fired: what they were to show was not shown."""


class Faults:
    """The fault rules of one server, tried in the order in which they were added."""

    __slots__ = ("_drawing", "_lock", "_numbers", "_rules")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._rules: tuple[FaultRule, ...] = ()
        self._drawing: dict[str, random.Random] = {}

    def __bool__(self) -> bool:
        """Return whether any rule was added: without one, requests do not look for rules."""
        return bool(self._rules)

    @property
    def rules(self) -> tuple[FaultRule, ...]:
        """The present rules; their `matched` and `fired` keep counting."""
        return self._rules

    def add(self, fault: str | FaultRule, **settings: Any) -> FaultRule:
        """Add a rule and return it; raises UnknownFault for an unknown name or setting."""
        rule = fault if isinstance(fault, FaultRule) else rule_of(fault, settings)
        with self._lock:
            rule.id = f"f-{next(self._numbers)}"
            self._rules = (*self._rules, rule)
            self._drawing[rule.id] = random.Random(rule.seed)  # noqa: S311 - to be repeated
        return rule

    def get(self, id_: str) -> FaultRule | None:
        """Return the rule with an id, if it is still there."""
        return next((rule for rule in self._rules if rule.id == id_), None)

    def remove(self, rule: FaultRule) -> None:
        """Remove a rule, applied or not."""
        with self._lock:
            self._rules = tuple(r for r in self._rules if r is not rule)
            self._drawing.pop(rule.id, None)

    def clear(self) -> None:
        """Remove every rule."""
        with self._lock:
            self._rules = ()
            self._drawing = {}

    def around(self, faithful: Operation, principal: str) -> "Faulted":
        """Return the operation of one request with the matching rule around it."""
        return Faulted(self, faithful, principal)

    def take(self, call: Call, warehouse: str, principal: str) -> FaultRule | None:
        """Return the rule that touches a call, and count that it does."""
        with self._lock:
            for rule in self._rules:
                if rule.is_over or not rule.matches(call, warehouse, principal):
                    continue
                rule.matched += 1
                turn = rule.matched - rule.after
                if turn < 1 or turn % rule.every:
                    continue
                if rule.probability < 1 and self._drawing[rule.id].random() >= rule.probability:
                    continue
                rule.fired += 1
                return rule
        return None

    def give_back(self, rule: FaultRule) -> None:
        """Take back that a rule has touched a call: nothing could be done to it."""
        with self._lock:
            rule.fired -= 1
            rule.matched -= 1


class Faulted:
    """The operation of one request, with the rule that touches it; `rule` tells which did."""

    __slots__ = ("_faithful", "_faults", "_principal", "rule")

    def __init__(self, faults: Faults, faithful: Operation, principal: str) -> None:
        self._faults = faults
        self._faithful = faithful
        self._principal = principal
        self.rule: FaultRule | None = None

    def __call__(self, context: Context, state: WarehouseState, call: Call, /) -> Outcome:
        """Return the outcome of a call, touched by the rule that matches it first."""
        rule = self._faults.take(call, call.warehouse(context.warehouse), self._principal)
        if rule is None:
            return self._faithful(context, state, call)
        outcome = Outcome(state, replies.NO_CONTENT)
        if rule.phase == "after":
            try:
                outcome = self._faithful(context, state, call)
            except Problem as refused:
                if rule.hides_the_answer:  # nothing was applied that could be unknown
                    self._faults.give_back(rule)
                    raise
                outcome = Outcome(state, replies.problem_reply(refused))
            if rule.needs_a_body and not _has_body(outcome.reply, call):
                self._faults.give_back(rule)
                return outcome
        self.rule = rule
        effects = (*outcome.effects, *_door_effects(rule))
        return Outcome(outcome.state, _reply(rule, outcome.reply, call), effects)


def expect_fired(rules: Iterable[FaultRule]) -> None:
    """Raise UnfiredFault if there are strict rules among these that have never fired."""
    words = [
        f"{rule.fault} ({rule.id}, {rule.matched} requests matched)"
        for rule in rules
        if rule.strict and not rule.fired
    ]
    if words:
        raise UnfiredFault(f"these faults never happened: {', '.join(words)}")


def _has_body(reply: Reply, call: Call) -> bool:
    has_one = bool(reply.body) and reply.status not in _BODILESS_STATUSES
    return has_one and call.request.method != "HEAD"


def _door_effects(rule: FaultRule) -> tuple[DoorEffect, ...]:
    effects: list[DoorEffect] = []
    if rule.latency_ms:
        effects.append(Delay(rule.latency_ms))
    if rule.drop:
        effects.append(Drop())
    elif rule.truncate_bytes >= 0:
        effects.append(Truncate(rule.truncate_bytes))
    return tuple(effects)


def _reply(rule: FaultRule, good: Reply, call: Call) -> Reply:
    reply = _error(rule, call) if rule.status else good
    if rule.corrupt:
        half = reply.body[: len(reply.body) // 2] or b"{"
        reply = msgspec.structs.replace(reply, body=half)
    if rule.content_type:
        kept = tuple(each for each in reply.headers if each[0] != "content-type")
        headers = (("content-type", rule.content_type), *kept)
        reply = msgspec.structs.replace(reply, headers=headers)
    return reply


def _error(rule: FaultRule, call: Call) -> Reply:
    """Return an error reply; the token endpoint's body has no code for such faults."""
    headers: tuple[tuple[str, str], ...] = ()
    if rule.retry_after >= 0:
        headers += (("retry-after", str(rule.retry_after)),)
    if rule.status == 401:
        headers += (("www-authenticate", 'Bearer error="invalid_token"'),)
    if call.operation_id == "getToken":
        return replies.oauth_error_reply(rule.status, "invalid_request", rule.message, headers)
    return replies.error_reply(rule.status, rule.error_type, rule.message, headers)
