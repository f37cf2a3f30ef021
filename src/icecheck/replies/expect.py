"""Expectations of a reply, and the three ways to end a check early."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

from icecheck.findings.shared_symptoms import (
    MEMBER_MISSING,
    REQUIREMENT_IGNORED,
    SCHEMA_NOT_JSON,
    VALUE,
)
from icecheck.findings.statuses import ANY_4XX, STATUS, Statuses
from icecheck.findings.symptoms import ANSWER_UNREADABLE, Severity, Symptom, declare
from icecheck.findings.verdict import Finding, Level, SkipKind
from icecheck.replies.ill_shaped import IllShapedBody
from icecheck.replies.matching import ABSENT, difference, find, show
from icecheck.replies.schema import MEDIA_TYPE, NOT_JSON, SchemaJudge, SchemaProblem
from icecheck.wire.exchange import Exchange
from icecheck.wire.json_text import read_json

BODY_IS_NO_JSON = declare(
    "body-is-no-json",
    "Answers without the JSON body that is due",
    Severity.SHAPE,
    ANSWER_UNREADABLE,
    family=SCHEMA_NOT_JSON,
)


_CONFLICT = Statuses.of(409)
_NOTHING_THERE = "assert-create"
SHAPE_ERRORS = (AttributeError, IndexError, KeyError, TypeError, ValueError)
"""The exceptions of code that reads an answer of another shape than the document's."""


class Violation(Exception):
    """The catalog is wrong: what was expected, what came, and which exchange shows it.

    ``symptom`` names what is wrong independently of the operation; checks whose violations share
    symptom, expected and actual are reported as one cause. ``expected`` are statuses if one of them
    was due; an ``actual`` that is a number is the status that came.
    """

    def __init__(
        self,
        symptom: Symptom,
        expected: str | Statuses,
        actual: str | int,
        *,
        detail: str = "",
        pointer: str = "",
        exchange: int | None = None,
        others: tuple[Finding, ...] = (),
    ) -> None:
        self.finding = Finding(
            symptom,
            str(expected),
            str(actual),
            detail,
            pointer,
            exchange,
            due=expected if isinstance(expected, Statuses) else None,
            answered=actual if isinstance(actual, int) else None,
        )
        self.findings = (self.finding, *others)
        super().__init__(f"{symptom.slug}: expected {expected}, got {actual}")

    @classmethod
    def again(cls, first: Finding, *others: Finding, **changed: Any) -> "Violation":
        """Return the Violation for earlier findings; ``changed`` replaces members of the first."""
        violation = cls(first.symptom, first.expected, first.actual)
        violation.finding = replace(first, **changed)
        violation.findings = (violation.finding, *others)
        return violation


class Blocked(Exception):
    """An arrange step that the catalog offers failed; ``by`` is a requirement or check id."""

    def __init__(self, by: str, reason: str, *, exchange: int | None = None) -> None:
        self.by = by
        self.reason = reason
        self.exchange = exchange
        super().__init__(f"blocked by {by}: {reason}")


class NotOffered(Exception):
    """The catalog does not offer what the check needs; this is never a failure.

    ``lacks`` is the operation to which the credentials have no right, if that is why.
    """

    def __init__(
        self, reason: str, kind: SkipKind = SkipKind.MISSING_FIXTURE, *, lacks: str = ""
    ) -> None:
        self.kind = kind
        self.lacks = lacks
        self.reason = reason
        super().__init__(reason)


def equal(actual: Any, expected: Any, *, symptom: Symptom, detail: str = "") -> None:
    """Raise Violation unless a value that a check derived equals what it must be."""
    found = difference(expected, actual, exact=True)
    if found is not None:
        pointer, wanted, got = found
        raise Violation(symptom, show(wanted), show(got), detail=detail, pointer=pointer)


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer to be judged; every ``expect`` returns the reply so that they chain.

    ``handed_out`` collects the bodies that failed their schema and were read all the same.
    """

    exchange: Exchange
    schemas: SchemaJudge
    handed_out: list[IllShapedBody] = field(default_factory=list, compare=False, repr=False)

    @property
    def status(self) -> int:
        """The HTTP status (a request without an answer never becomes a Reply)."""
        return self.exchange.status or 0

    @property
    def ok(self) -> bool:
        """Whether the status is a 2xx."""
        return 200 <= self.status < 300

    @property
    def unsupported(self) -> bool:
        """Whether the answer is a 406 that the operation's response table has (L4562).

        To any other operation a 406 is a wrong status.
        """
        operations = self.schemas.contract.operations
        named = operations[self.exchange.operation].responses if self.exchange.operation else ()
        return self.status == 406 and "406" in named

    def header(self, name: str) -> str | None:
        """Return a response header, compared without case."""
        return self.exchange.header(name)

    def expect(self, *statuses: int, detail: str = "") -> "Reply":
        """Expect one of the statuses; several mean that the document leaves the choice open."""
        if self.status not in statuses:
            raise self.wrong_status(Statuses.of(*statuses), detail=detail)
        return self

    def expect_refused(
        self, *statuses: int, detail: str = "", accepted: Symptom = STATUS
    ) -> "Reply":
        """Expect a refusal with one of the statuses, or with any 4xx if none is given.

        ``accepted`` is the symptom of a success.
        """
        if self.status in statuses or (not statuses and 400 <= self.status < 500):
            return self
        due = Statuses.of(*statuses) if statuses else ANY_4XX
        if self.ok and accepted != STATUS:
            raise self.violation(accepted, due, self.status, detail=detail)
        raise self.wrong_status(due, detail=detail)

    def expect_there_or_gone(self) -> "Reply":
        """Expect 200 or 404: any other answer to a load tells nothing of the object."""
        return self if self.status == 404 else self.expect(200)

    def json(self) -> Any:
        """Return the parsed body; raise Violation if it is no JSON or unusable.

        A body that fails its schema raises IllShaped when a missing part of it is read. A table
        that is shown without refs has the branch main at its current snapshot, as every client
        reads it.
        """
        try:
            body = _with_main(read_json(self.exchange.response_body))
        except ValueError:
            got = show(self.exchange.response_body[:60].decode(errors="replace"))
            raise self.violation(BODY_IS_NO_JSON, "a JSON body", got) from None
        problems = _required_of(self.exchange, self.schemas)
        if not problems:
            return body
        wrong = [problem.pointer for problem in problems if problem.kind != "required"]
        self.handed_out.append(IllShapedBody(self.exchange, wrong))
        return self.handed_out[-1].handed_out(body)

    def member(self, *path: str | int) -> Any:
        """Return a member of the body.

        Raises Blocked where the schema check reports that it is missing, else Violation.
        """
        value = find(self.json(), path)
        if value is ABSENT:
            pointer = "".join(f"/{p}" for p in path)
            self.expect_shape(pointer)
            raise self.violation(MEMBER_MISSING, f"a member {pointer}", "absent", pointer=pointer)
        return value

    def expect_json(
        self,
        expected: Any,
        *,
        symptom: Symptom | None = None,
        at: Collection[str | int] = (),
        detail: str = "",
    ) -> "Reply":
        """Expect the body: objects by the members named here, everything else exactly.

        ``at`` is a path into the body; ``symptom`` groups findings of one cause, and without one
        the check is a cause of its own.
        """
        body = self.json()
        value = find(body, tuple(at))
        found = difference(expected, value, exact=False)
        if found is not None:
            pointer, wanted, got = found
            pointer = "".join(f"/{p}" for p in at) + pointer
            if got is ABSENT or got is None:
                self.expect_shape(pointer)
            told = symptom or VALUE.of(self.exchange.check)
            raise self.violation(told, show(wanted), show(got), pointer=pointer, detail=detail)
        return self

    def wrong_status(self, due: Statuses, *, detail: str = "") -> Violation:
        """Return the Violation for a status that was not due.

        To a commit 409 says that one of its requirements does not hold, and nothing else.
        """
        ignored = self.ok and due == _CONFLICT and self._asserts_something()
        return self.violation(
            REQUIREMENT_IGNORED if ignored else STATUS, due, self.status, detail=detail
        )

    def _asserts_something(self) -> bool:
        """Return whether the request was a commit with requirements about what is there.

        To assert that nothing is there is to ask for a name, as creations do.
        """
        operations = self.schemas.contract.operations
        operation = operations.get(self.exchange.operation or "")
        if operation is None or not operation.facts.commits:
            return False
        try:
            sent = read_json(self.exchange.request_body or b"")
        except ValueError:
            return False
        together = find(sent, ("table-changes",))
        commits = together if isinstance(together, list) else [sent]
        lists = [find(commit, ("requirements",)) for commit in commits]
        required = [each for listed in lists if isinstance(listed, list) for each in listed]
        return any(find(each, ("type",)) not in (ABSENT, _NOTHING_THERE) for each in required)

    def violation(
        self,
        symptom: Symptom,
        expected: str | Statuses,
        actual: str | int,
        *,
        detail: str = "",
        pointer: str = "",
    ) -> Violation:
        """Return a Violation that points at this exchange."""
        return Violation(
            symptom,
            expected,
            actual,
            detail=detail,
            pointer=pointer,
            exchange=self.exchange.ordinal,
        )

    def expect_shape(self, pointer: str) -> None:
        """Raise Blocked by the schema check, if that reports what is wrong at a place."""
        if blocked := blocked_by_shape(self.exchange, self.schemas, pointer):
            raise blocked


def blocked_by_shape(
    exchange: Exchange, schemas: SchemaJudge, pointer: str | None = None
) -> Blocked | None:
    """Return what blocks a check that needs a missing part of an answer, or None.

    Only what every catalog must send blocks: what a strict reading misses is a finding. With a
    ``pointer`` only a problem there or above it counts: an optional member may be missing from an
    answer that is wrong elsewhere.
    """
    problems = _required_of(exchange, schemas)
    if pointer is not None:
        steps = ("*" if step.isdecimal() else step for step in f"{pointer}/".split("/"))
        place = "/".join(steps)
        problems = [p for p in problems if place.startswith(f"{p.pointer}/")]
    if not problems or exchange.operation is None or exchange.status is None:
        return None
    row = schemas.contract.response(exchange.operation, exchange.status)
    by = f"schema.{exchange.operation}.{exchange.status if row is None else row.status}"
    return Blocked(by, problems[0].message, exchange=exchange.ordinal)


def _required_of(exchange: Exchange, schemas: SchemaJudge) -> list[SchemaProblem]:
    """Return the problems of a parsed body with what every catalog must send.

    What the answer calls its body does not keep a check from reading it.
    """
    found = schemas.judge(exchange)
    return [p for p in found if p.level is Level.MUST and p.kind not in {NOT_JSON, MEDIA_TYPE}]


def _with_main(body: Any) -> Any:
    """Return the body of an answer with the branch that table metadata without `refs` implies.

    Clients make it up only where the member is absent: an empty one says that there is no branch.
    """
    metadata = find(body, ("metadata",))
    current = find(metadata, ("current-snapshot-id",))
    if not isinstance(current, int) or current < 0 or "refs" in metadata:
        return body
    main = {"main": {"snapshot-id": current, "type": "branch"}}
    return {**body, "metadata": {**metadata, "refs": main}}
