"""Expectations of a reply: matchers on JSON values, and the three ways to end a check early."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from icecheck.findings.shared_symptoms import MEMBER_MISSING, SCHEMA_NOT_JSON, VALUE
from icecheck.findings.statuses import ANY_4XX, STATUS, Statuses
from icecheck.findings.symptoms import ANSWER_UNREADABLE, Severity, Symptom, declare
from icecheck.findings.verdict import Finding, Level, SkipKind
from icecheck.replies.ill_shaped import IllShapedBody
from icecheck.replies.schema import SchemaJudge, SchemaProblem
from icecheck.wire.exchange import Exchange
from icecheck.wire.json_text import read_json

__all__ = [
    "ABSENT",
    "ABSENT_OR_NULL",
    "ANY_INTEGER",
    "ANY_OBJECT",
    "ANY_STRING",
    "BODY_IS_NO_JSON",
    "SHAPE_ERRORS",
    "Blocked",
    "Matcher",
    "NotOffered",
    "Reply",
    "Violation",
    "blocked_by_shape",
    "containing",
    "difference",
    "equal",
    "lacking",
    "one_of",
]

BODY_IS_NO_JSON = declare(
    "body-is-no-json",
    "Answers without the JSON body that is due",
    Severity.SHAPE,
    ANSWER_UNREADABLE,
    family=SCHEMA_NOT_JSON,
)


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
    """The catalog does not offer what the check needs; this is never a failure."""

    def __init__(self, reason: str, kind: SkipKind = SkipKind.MISSING_FIXTURE) -> None:
        self.kind = kind
        self.reason = reason
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class Matcher:
    """A named predicate on a JSON value; the name is what a report prints as *expected*."""

    name: str
    accepts: Callable[[Any], bool]

    def __repr__(self) -> str:
        return self.name


class _Absent:
    """The value of a missing member."""

    def __repr__(self) -> str:
        return "absent"


ABSENT = _Absent()
ANY_STRING = Matcher("a string", lambda v: isinstance(v, str))
ANY_INTEGER = Matcher("an integer", lambda v: isinstance(v, int) and not isinstance(v, bool))
ANY_OBJECT = Matcher("an object", lambda v: isinstance(v, dict))
ABSENT_OR_NULL = Matcher("absent or null", lambda v: v is ABSENT or v is None)


def containing(*items: Any) -> Matcher:
    """Return a matcher of lists that have each of the items (each may be a subset of an object)."""

    def accepts(value: Any) -> bool:
        return isinstance(value, list) and all(
            any(_mismatch(item, v, "") is None for v in value) for item in items
        )

    return Matcher(f"a list with {', '.join(map(show, items))}", accepts)


def lacking(*items: Any) -> Matcher:
    """Return a matcher of lists that have none of the items."""

    def accepts(value: Any) -> bool:
        return isinstance(value, list) and not any(
            _mismatch(item, v, "") is None for item in items for v in value
        )

    return Matcher(f"a list without {', '.join(map(show, items))}", accepts)


def one_of(*values: Any) -> Matcher:
    """Return a matcher of any of the values (the document leaves the choice open)."""

    def accepts(value: Any) -> bool:
        return any(_mismatch(each, value, "", exact=True) is None for each in values)

    return Matcher(" or ".join(map(show, values)), accepts)


def show(value: Any, limit: int = 160) -> str:
    """Return a value as JSON, shortened for a report."""
    if isinstance(value, Matcher | _Absent):
        return repr(value)
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, default=repr)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def equal(actual: Any, expected: Any, *, symptom: Symptom, detail: str = "") -> None:
    """Raise Violation unless a value that a check derived equals what it must be."""
    found = _mismatch(expected, actual, "", exact=True)
    if found is not None:
        pointer, wanted, got = found
        raise Violation(symptom, show(wanted), show(got), detail=detail, pointer=pointer)


def difference(expected: Any, actual: Any, *, exact: bool) -> tuple[str, Any, Any] | None:
    """Return the first difference as (pointer, expected, actual), or None.

    Unless ``exact``, only the expected members of an object are compared; it may have more.
    """
    return _mismatch(expected, actual, "", exact=exact)


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

    def header(self, name: str) -> str | None:
        """Return a response header, compared without case."""
        return self.exchange.header(name)

    def expect(self, *statuses: int, detail: str = "") -> "Reply":
        """Expect one of the statuses; several mean that the document leaves the choice open."""
        if self.status not in statuses:
            raise self.wrong_status(Statuses.of(*statuses), detail=detail)
        return self

    def expect_refused(self, *statuses: int, detail: str = "") -> "Reply":
        """Expect a refusal with one of the statuses, or with any 4xx if none is given."""
        if statuses:
            return self.expect(*statuses, detail=detail)
        if not 400 <= self.status < 500:
            raise self.wrong_status(ANY_4XX, detail=detail)
        return self

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
            self._blocked_by_schema()
            pointer = "".join(f"/{p}" for p in path)
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
        found = _mismatch(expected, value, "".join(f"/{p}" for p in at))
        if found is not None:
            pointer, wanted, got = found
            if got is ABSENT:
                self._blocked_by_schema()
            told = symptom or VALUE.of(self.exchange.check)
            raise self.violation(told, show(wanted), show(got), pointer=pointer, detail=detail)
        return self

    def wrong_status(self, due: Statuses, *, detail: str = "") -> Violation:
        """Return the Violation for a status that was not due."""
        return self.violation(STATUS, due, self.status, detail=detail)

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

    def _blocked_by_schema(self) -> None:
        """Raise Blocked by the schema check, if that reports the answer's shape."""
        if blocked := blocked_by_shape(self.exchange, self.schemas):
            raise blocked


def blocked_by_shape(exchange: Exchange, schemas: SchemaJudge) -> Blocked | None:
    """Return what blocks a check that needs a missing part of an answer, or None.

    Only what every catalog must send blocks: what a strict reading misses is a finding.
    """
    problems = _required_of(exchange, schemas)
    if not problems or exchange.operation is None or exchange.status is None:
        return None
    row = schemas.contract.response(exchange.operation, exchange.status)
    by = f"schema.{exchange.operation}.{exchange.status if row is None else row.status}"
    return Blocked(by, problems[0].message, exchange=exchange.ordinal)


def _required_of(exchange: Exchange, schemas: SchemaJudge) -> list[SchemaProblem]:
    """Return the problems of an answer with what every catalog must send."""
    return [p for p in schemas.judge(exchange) if p.level is Level.MUST]


def _with_main(body: Any) -> Any:
    """Return the body of an answer with the branch that table metadata without refs implies."""
    metadata = find(body, ("metadata",))
    current = find(metadata, ("current-snapshot-id",))
    if not isinstance(current, int) or current < 0 or metadata.get("refs"):
        return body
    main = {"main": {"snapshot-id": current, "type": "branch"}}
    return {**body, "metadata": {**metadata, "refs": main}}


def find(value: Any, path: tuple[str | int, ...]) -> Any:
    """Return the value at a path in a JSON value, or ABSENT."""
    for part in path:
        match value, part:
            case dict(), str() if part in value:
                value = value[part]
            case list(), int() if -len(value) <= part < len(value):
                value = value[part]
            case _:
                return ABSENT
    return value


def _mismatch(
    expected: Any, actual: Any, pointer: str, *, exact: bool = False
) -> tuple[str, Any, Any] | None:
    """Return the first difference as (pointer, expected, actual), or None."""
    if isinstance(expected, Matcher):
        return None if expected.accepts(actual) else (pointer, expected, actual)
    if expected is ABSENT or actual is ABSENT:
        return None if expected is actual else (pointer, expected, actual)
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        if exact and set(actual) - set(expected):
            return (pointer, expected, actual)
        for key, wanted in expected.items():
            found = _mismatch(wanted, actual.get(key, ABSENT), f"{pointer}/{key}", exact=exact)
            if found is not None:
                return found
        return None
    if isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
        return _list_mismatch(expected, actual, pointer, exact=exact)
    return None if _same(expected, actual) else (pointer, expected, actual)


def _list_mismatch(
    expected: Sequence[Any], actual: Sequence[Any], pointer: str, *, exact: bool
) -> tuple[str, Any, Any] | None:
    if len(expected) != len(actual):
        return (pointer, list(expected), list(actual))
    pairs = enumerate(zip(expected, actual, strict=True))
    found = (_mismatch(e, a, f"{pointer}/{i}", exact=exact) for i, (e, a) in pairs)
    return next((f for f in found if f is not None), None)


def _same(expected: Any, actual: Any) -> bool:
    """Return whether scalars are equal as in JSON: in Python, 1, 1.0 and true are equal too."""
    alike = all(isinstance(expected, t) == isinstance(actual, t) for t in (bool, int))
    return bool(expected == actual) and alike
