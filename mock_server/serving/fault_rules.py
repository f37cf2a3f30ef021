"""Fault rules as values: which requests a fault touches, what it does to them, and how often."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from icecheck.mock_server.core.context import Call
from icecheck.mock_server.protocol.served_contract import KNOWN

_COMMITS = tuple(o.id for o in KNOWN.operations.values() if o.facts.commits)
_OTHER_THAN_TOKENS = tuple(id_ for id_ in KNOWN.operations if id_ != "getToken")
_TYPES = {
    401: "NotAuthorizedException",
    403: "ForbiddenException",
    409: "CommitFailedException",
    419: "AuthenticationTimeoutException",
    429: "TooManyRequestsException",
    500: "InternalServerError",
    502: "CommitStateUnknownException",
    503: "SlowDownException",
    504: "CommitStateUnknownException",
}


class UnknownFault(ValueError):
    """Raised for an unknown fault or setting; the message lists the known ones."""


class FaultRule(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One fault: the requests that it touches, what it does to them, and how often.

    **Which requests.** `operation` is an operationId, or "" for those that are the fault's own
    (`operations`; none: all). `table` is a table's or view's name, with or without its namespace
    joined by dots. `user_agent` and `path` are parts of what the request has. "" matches all.

    **What it does.** `phase` "before" applies nothing of the request; "after" applies it, and does
    the rest to its answer: one that refuses is neither dropped nor made another error, and one
    without a body is neither cut nor corrupted. `status` and `type` make an error of the answer,
    with a `Retry-After` of `retry_after` seconds if that is not -1. `drop` closes the connection,
    `truncate_bytes` after so many bytes of the body (-1: not). `corrupt` ends the body in its
    middle, its length said rightly. `content_type` is said of the body. `latency_ms` is waited for
    before the answer.

    **How often.** Of the requests that match, the first `after` are left alone, then each
    `every`-th is touched, with this `probability` (drawn with `seed`), `times` times in all (0:
    without end). `matched` and `fired` count. A `strict` rule that never fires is an error at the
    end.
    """

    fault: str
    id: str = ""
    operation: str = ""
    operations: tuple[str, ...] = ()
    warehouse: str = ""
    namespace: str = ""
    table: str = ""
    principal: str = ""
    user_agent: str = ""
    method: str = ""
    path: str = ""
    phase: Literal["before", "after"] = "after"
    status: int = 0
    type: str = ""
    message: str = "Injected fault"
    retry_after: int = -1
    drop: bool = False
    truncate_bytes: int = -1
    corrupt: bool = False
    content_type: str = ""
    latency_ms: int = 0
    times: int = 1
    after: int = 0
    every: int = 1
    probability: float = 1.0
    seed: int = 0
    strict: bool = False
    matched: int = 0
    fired: int = 0

    def matches(self, call: Call, warehouse: str, principal: str) -> bool:
        """Return whether a call is one of those that the rule is about."""
        if self.operation:
            if call.operation_id != self.operation:
                return False
        elif self.operations and call.operation_id not in self.operations:
            return False
        request = call.request
        return (
            (not self.warehouse or self.warehouse == warehouse)
            and (not self.namespace or self.namespace == ".".join(call.namespace))
            and (
                not self.table or self.table in (call.name, ".".join((*call.namespace, call.name)))
            )
            and (not self.principal or self.principal == principal)
            and (not self.method or self.method.upper() == request.method)
            and (not self.path or self.path in request.raw_path)
            and (
                not self.user_agent or self.user_agent in (request.headers.get("user-agent") or "")
            )
        )

    @property
    def hides_the_answer(self) -> bool:
        """Whether a client does not see how its request really ended."""
        return bool(self.status or self.drop)

    @property
    def needs_a_body(self) -> bool:
        """Whether all that it does is done to the body of an answer."""
        on_a_body = self.truncate_bytes >= 0 or self.corrupt or self.content_type
        return bool(on_a_body) and not (self.hides_the_answer or self.latency_ms)

    @property
    def is_over(self) -> bool:
        """Whether the rule has fired as often as it may."""
        return bool(self.times) and self.fired >= self.times

    @property
    def error_type(self) -> str:
        """The type of the error that it answers with."""
        return self.type or _TYPES.get(self.status, "InjectedException")


class Preset(msgspec.Struct, frozen=True):
    """A fault by name: what it does in words, and the settings of its rules."""

    words: str
    settings: Mapping[str, Any]


_BEFORE = {"phase": "before"}
_ON_COMMITS = {"operations": _COMMITS}

PRESETS: Mapping[str, Preset] = {
    "commit-conflict": Preset(
        "Refuse a commit with 409, as if another client had been faster.",
        {**_BEFORE, **_ON_COMMITS, "status": 409, "message": "Requirement failed: injected"},
    ),
    "conflict-storm": Preset(
        "Refuse three of four commits with 409, without end.",
        {
            **_BEFORE, **_ON_COMMITS, "status": 409, "message": "Requirement failed: injected",
            "times": 0, "probability": 0.75,
        },
    ),
    "answer-lost": Preset(
        "Apply a commit, and close the connection instead of answering.",
        {**_ON_COMMITS, "drop": True},
    ),
    "commit-unknown": Preset(
        "Apply a commit, and answer 500: the client cannot tell that it was applied.",
        {**_ON_COMMITS, "status": 500, "type": "CommitStateUnknownException"},
    ),
    "connection-dropped": Preset(
        "Close the connection before a commit is applied.",
        {**_BEFORE, **_ON_COMMITS, "drop": True},
    ),
    "throttled": Preset(
        "Refuse with 429 (or 503) and Retry-After.",
        {**_BEFORE, "status": 429, "retry_after": 1, "message": "Slow down (injected)"},
    ),
    "flaky": Preset(
        "Refuse three of ten requests with 503, without end.",
        {**_BEFORE, "status": 503, "times": 0, "probability": 0.3},
    ),
    "slow": Preset(
        "Answer every request two seconds later (`latency_ms`), without end.",
        {"latency_ms": 2000, "times": 0},
    ),
    "token-expired": Preset(
        "Refuse with 401 (or 419) as if the token's time were over.",
        {**_BEFORE, "operations": _OTHER_THAN_TOKENS, "status": 401,
         "message": "The token has expired (injected)"},
    ),
    "server-error": Preset("Answer 500 (or another 5xx).", {**_BEFORE, "status": 500}),
    "server-error-applied": Preset(
        "Apply a commit, and answer 500 (or another 5xx).", {**_ON_COMMITS, "status": 500}
    ),
    "truncated": Preset(
        "Close the connection in the middle of the body of an answer.", {"truncate_bytes": 20}
    ),
    "corrupt": Preset("Answer with a body that is no JSON.", {"corrupt": True}),
    "wrong-content-type": Preset(
        "Answer with a body that is said to be HTML.", {"content_type": "text/html"}
    ),
    "custom": Preset("Do what the settings say.", {}),
}  # fmt: skip
"""Every fault by the name that rules and the command line use."""

_COUNTS = ("matched", "fired", "id", "fault", "operations")
SETTINGS = tuple(each for each in FaultRule.__struct_fields__ if each not in _COUNTS)
"""What may be set of a rule besides its fault."""


def rule_of(fault: str, settings: Mapping[str, Any], *, strict: bool = True) -> FaultRule:
    """Return the rule of a fault with these settings; raises UnknownFault.

    With `strict` False a text is taken for a number or a boolean too, as the command line has it.
    """
    preset = PRESETS.get(fault)
    if preset is None:
        raise UnknownFault(f"there is no fault {fault!r}; there are {', '.join(PRESETS)}")
    unknown = [each for each in settings if each not in SETTINGS]
    if unknown:
        raise UnknownFault(f"{fault} takes no {unknown[0]!r}; it takes {', '.join(SETTINGS)}")
    try:
        rule = msgspec.convert(
            {"fault": fault, **preset.settings, **settings}, FaultRule, strict=strict
        )
    except msgspec.ValidationError as error:
        raise UnknownFault(f"{fault}: {error}") from None
    if wrong := _wrong(rule):
        raise UnknownFault(f"{fault}: {wrong}")
    return rule


def parse_fault(text: str) -> FaultRule:
    """Read `NAME[,setting=value…]`, as the command line gives it; raises UnknownFault."""
    fault, *parts = text.split(",")
    settings: dict[str, Any] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals:
            raise UnknownFault(f"{part!r} in {text!r}: write setting=value")
        settings[key.replace("-", "_")] = value
    return rule_of(fault, settings, strict=False)


def _wrong(rule: FaultRule) -> str:
    """Return in words what is wrong with the values of a rule; "" if nothing is."""
    if rule.operation and rule.operation not in KNOWN.operations:
        return f"there is no operation {rule.operation!r}; see `icecheck list operations`"
    if rule.times < 0 or rule.after < 0 or rule.every < 1:
        return "times and after from 0, every from 1"
    if not 0 < rule.probability <= 1:
        return "a probability above 0, up to 1"
    if rule.status and not 400 <= rule.status < 600:
        return "a status from 400 to 599"
    if rule.retry_after < -1 or rule.truncate_bytes < -1 or rule.latency_ms < 0:
        return "retry_after, truncate_bytes and latency_ms from 0"
    if not (rule.type.isprintable() and rule.content_type.isprintable()):
        return "type and content_type without control characters"
    if not rule.content_type.isascii():
        return "a content_type in ASCII"
    if rule.phase == "before" and not (rule.status or rule.drop):
        return "before anything is applied there is no answer: give status or drop"
    does = rule.status or rule.drop or rule.truncate_bytes >= 0 or rule.corrupt
    if not (does or rule.content_type or rule.latency_ms):
        return (
            "it does nothing: give status, drop, truncate_bytes, corrupt, content_type or "
            "latency_ms"
        )
    return ""
