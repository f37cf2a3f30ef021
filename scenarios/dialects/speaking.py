"""Replays a recorded client against a catalog, and judges what would stop that client."""

import re
from collections.abc import Mapping
from typing import Any

from icecheck.client.catalog import NO_BODY, Catalog
from icecheck.client.given import shared_namespace as given_home
from icecheck.client.sender import KEY_HEADER
from icecheck.findings.shared_symptoms import EFFECT_MISSING, MEMBER_MISSING
from icecheck.findings.statuses import Statuses
from icecheck.findings.symptoms import Severity, declare
from icecheck.findings.verdict import SkipKind
from icecheck.objects.idempotency_keys import fresh_key
from icecheck.replies.expect import NotOffered, Reply, Violation
from icecheck.replies.matching import ABSENT, find
from icecheck.scenarios.dialects.acknowledged import missing_effect
from icecheck.scenarios.dialects.dialect import Dialect, Request, Step, Workflow
from icecheck.targets.target import Namespace

_MEMBER_TYPE = declare(
    "member-type", "A member that a client repeats has a wrong type", Severity.SHAPE
)

SPACE = "space"
"""The name that the recordings use for their namespace."""
_PLACEHOLDER = re.compile(r"\{([a-z]+)(?::([a-z-]+))?\}")
_MADE = {
    "table-uuid": ("metadata", "table-uuid"),
    "view-uuid": ("metadata", "view-uuid"),
    "location": ("metadata", "location"),
    "metadata-location": ("metadata-location",),
}
_LONG_AGO_MS = 1_750_000_000_000
# A user can continue without these steps; later requests then use the given name instead.
_DISPENSABLE: Mapping[str, Mapping[str, str]] = {
    "connect": {},
    "load": {},
    "add-column": {},
    "list": {},
    "list-views": {},
    "load-view": {},
    "rename": {"moved": "orders"},
    "drop-namespace": {},
}


class _Speaker:
    """Replays one workflow: the run's own names, and the last answer about each object."""

    def __init__(self, catalog: Catalog, dialect: Dialect, workflow: Workflow) -> None:
        self.catalog = catalog
        self.dialect = dialect
        self.workflow = workflow
        self.names: dict[str, str] = {}
        self.answers: dict[str, Reply] = {}
        self.acknowledged: dict[str, list[Any]] = {}
        self.now_ms = _LONG_AGO_MS
        self.makes_space = any(step.name == "create-namespace" for step in workflow.steps)
        only_in = catalog.session.adaptations.only_in
        if only_in is not None:
            self.space, self.makes_space = only_in, False
        elif self.makes_space:
            self.space = catalog.new_namespace_name()
        else:
            self.space = given_home(catalog)

    def take(self, step: Step) -> None:
        """Send the client's requests of one step; raise Violation where the client would stop."""
        if step.name in {"create-namespace", "drop-namespace"} and not self.makes_space:
            return
        sent = [request for request in step.requests if self._is_sent(request)]
        for request in sent:
            if not self.catalog.claims(request.operation):
                self._do_without(step, f"the catalog does not claim {request.operation}")
                return
        for request in sent:
            reply = self._send(request)
            if request.answer < 300 and reply.unsupported:
                self._do_without(step, f"the catalog answers {request.operation} with 406")
                return
            self._judge(step, request, reply)

    def _is_sent(self, request: Request) -> bool:
        """Return whether a request is sent: not if the client ignores the outcome.

        Existence checks are sent only if the catalog claims them: otherwise a client loads.
        """
        operation = request.operation
        asks_for_existence = operation.endswith("Exists")
        return operation not in self.dialect.shrugs_off and (
            not asks_for_existence or self.catalog.claims(operation)
        )

    def _do_without(self, step: Step, why: str) -> None:
        """Leave a step out; raise NotOffered if the client cannot continue without it."""
        if step.name not in _DISPENSABLE:
            raise NotOffered(f"{why}: {self.dialect.client} needs it to {_in_words(step)}")
        for name, instead in _DISPENSABLE[step.name].items():
            self.names[name] = self._name(instead)

    def _send(self, request: Request) -> Reply:
        names = {kind: self._named(name) for kind, name in request.names.items()}
        query = [(key, self._filled(value)) for key, value in request.query]
        if request.operation == "getConfig" and self.catalog.target.warehouse is None:
            query = []
        headers = {**self.dialect.headers, **request.headers}
        if request.keyed and self.catalog.session.offer.idempotency_key_lifetime is not None:
            headers[KEY_HEADER] = fresh_key(self.catalog)
        return self.catalog.call(
            request.operation,
            names,
            query=query,
            body=NO_BODY if request.body is None else self._filled(request.body),
            headers={name.title(): value for name, value in headers.items()},
        )

    def _judge(self, step: Step, request: Request, reply: Reply) -> None:
        at = f"{self.dialect.client} {self.dialect.version} stops at {_in_words(step)}"
        if request.answer >= 300:
            reply.expect(request.answer, detail=at)
            return
        if not reply.ok or reply.status in self.dialect.stops_at.get(request.operation, ()):
            raise reply.wrong_status(Statuses.of(request.answer), detail=at)
        for pointer in self.dialect.needs.get(request.operation, ()):
            if pointer not in request.empty:
                self._need(reply, pointer, at)
        self._acknowledge(request)
        if reply.exchange.response_body:
            self._learn(request, reply, at)
        for name, value in request.assumes.items():
            found = find(reply.json(), ("metadata", name))
            if found is not ABSENT and found != value:
                why = f"the recording is of a table whose {name} is {value}, here it is {found}"
                raise NotOffered(why, SkipKind.NOT_APPLICABLE)

    def _need(self, reply: Reply, pointer: str, at: str) -> None:
        try:
            reply.member(*pointer.strip("/").split("/"))
        except Violation as violation:
            raise Violation.again(violation.finding, detail=at) from None

    def _acknowledge(self, request: Request) -> None:
        """Remember the updates that were answered with success, until the object is shown."""
        body = self._filled(request.body)
        match request.operation:
            case "updateTable" | "replaceView":
                name = request.names.get("table") or request.names["view"]
                self.acknowledged[name] = body["updates"]
            case "commitTransaction":
                recorded = request.body["table-changes"]
                for change, filled in zip(recorded, body["table-changes"], strict=True):
                    name = change["identifier"]["name"].strip("{}")
                    self.acknowledged[name] = filled["updates"]

    def _expect_made(self, name: str, reply: Reply, at: str) -> None:
        """Judge that an object shows what was acknowledged: its user reads it from there."""
        updates = self.acknowledged.pop(name, [])
        lost = missing_effect(updates, find(reply.json(), ("metadata",)))
        if lost is not None:
            due = "what the catalog has acknowledged"
            raise reply.violation(EFFECT_MISSING.of(lost), due, "metadata without it", detail=at)

    def _learn(self, request: Request, reply: Reply, at: str) -> None:
        """Keep the answer about an object, because later requests repeat values from it."""
        metadata = find(reply.json(), ("metadata",))
        if not isinstance(metadata, dict):
            return
        name = request.names.get("table") or request.names.get("view")
        if name is None and isinstance(request.body, dict):
            name = str(request.body.get("name", "")).strip("{}")
        if name:
            self.answers[name] = reply
            self._expect_made(name, reply, at)
        updated = metadata.get("last-updated-ms")
        if isinstance(updated, int):
            self.now_ms = max(self.now_ms, updated)

    def _named(self, name: str) -> str | Namespace:
        return self.space if name == SPACE else self._name(name)

    def _name(self, name: str) -> str:
        if name not in self.names:
            self.names[name] = self.catalog.new_name()
        return self.names[name]

    def _filled(self, value: Any) -> Any:
        """Return a part of a recorded request with the run's own names and the server's values."""
        match value:
            case dict():
                return {key: self._filled(inner) for key, inner in value.items()}
            case list():
                parts = [self._filled(v) for v in value if v != f"{{{SPACE}}}"]
                return [*self.space, *parts] if f"{{{SPACE}}}" in value else parts
            case "{now}":
                return self.now_ms + 1
            case str():
                return _PLACEHOLDER.sub(self._filling, value)
            case _:
                return value

    def _filling(self, match: re.Match[str]) -> str:
        name, made = match.groups()
        if made is not None:
            return self._made(name, made)
        if name == "warehouse":
            return self.catalog.target.warehouse or ""
        return ".".join(self.space) if name == SPACE else self._name(name)

    def _made(self, name: str, made: str) -> str:
        """Return a value that the server made for an object; raise Violation if it is missing."""
        reply = self.answers.get(name)
        if reply is None:
            wanted = f"an answer that tells {made}"
            raise Violation(MEMBER_MISSING, wanted, "absent", detail=f"{name} was not described")
        value = reply.member(*_MADE[made])
        if not isinstance(value, str):
            pointer = "/".join(("", *_MADE[made]))
            reply.expect_shape(pointer)
            raise reply.violation(_MEMBER_TYPE, f"a string at {pointer}", repr(value)[:60])
        return value


def speak(catalog: Catalog, dialect: Dialect, workflow: Workflow) -> None:
    """Replay a client's workflow under names of the run's own.

    Raises Violation at the first answer that the client would stop at: another outcome than the one
    after which it continued, or the lack of a member that it needs. Steps whose operation the
    catalog does not claim are left out where a user can do without them; otherwise raises
    NotOffered.
    """
    speaker = _Speaker(catalog, dialect, workflow)
    for step in workflow.steps:
        speaker.take(step)


def _in_words(step: Step) -> str:
    return step.name.replace("-", " ")
