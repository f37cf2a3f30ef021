"""The types of the contract: operations, responses, requirements and Refs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from icecheck.contract.facts import Facts
from icecheck.contract.faults import ContractError

Lines = tuple[int, int]
"""The first and last line in the official document, counted from 1, both included."""


class UnknownRef(LookupError):
    """A Ref, pointer or erratum id points at nothing in this version of the contract."""


class LostSentence(UnknownRef):
    """The words of a sentence are not in this version of the document."""


class Undated(UnknownRef):
    """A version has no dates yet: no tool has written its `releases.toml`."""


class UnresolvedRows(ContractError, LookupError):
    """Rows of a version point at parts that its document does not have; ``rows`` lists all.

    The message ends with the advice for all of them, if there is some.
    """

    def __init__(self, version: str, rows: Iterable[str], advice: str = "") -> None:
        self.rows = tuple(rows)
        many = f"{len(self.rows)} fault{'s' * (len(self.rows) != 1)}"
        told = [f"{many} in the rows about {version}:", *self.rows]
        super().__init__("\n".join([*told, advice] if advice else told))


class Level(StrEnum):
    """How binding a requirement is; a MAY is written as a condition, not as a level."""

    MUST = "must"
    SHOULD = "should"
    INTEROP = "interop"


class Basis(StrEnum):
    """The source of a requirement."""

    PROSE = "prose"
    SCHEMA = "schema"
    RESPONSE_TABLE = "response-table"
    HTTP_RFC = "http-rfc"
    AUTH_RFC = "auth-rfc"
    CLIENT_NEED = "client-need"


class RefKind(StrEnum):
    """The kinds of a Ref; LINES are those of the sentence that a row of the register cites."""

    OPERATION = "operation"
    RESPONSE = "response"
    SCHEMA = "schema"
    LINES = "lines"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an operation; `schema` is the document's own, `$ref` unresolved."""

    name: str
    location: str
    required: bool
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Response:
    """One row of an operation's response table; `status` is text, such as 404 or 5XX."""

    operation_id: str
    status: str
    has_body: bool
    media_types: tuple[str, ...]
    schema: Mapping[str, Any] | None
    lines: Lines

    @property
    def id(self) -> str:
        """The id of the requirement generated from this row, such as `createTable.409`."""
        return f"{self.operation_id}.{self.status}"


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the document; `path` is the template, with `{prefix}` in it."""

    id: str
    method: str
    path: str
    summary: str
    deprecated: bool
    parameters: tuple[Parameter, ...]
    request_media_type: str | None
    request_required: bool
    request_schema: Mapping[str, Any] | None
    responses: Mapping[str, Response]
    lines: Lines
    facts: Facts

    @property
    def profile(self) -> str:
        """The profile that a catalog with this operation can conform to."""
        return self.facts.profile

    @property
    def precedes_config(self) -> bool:
        """Whether clients call it before they know what the catalog offers: it has no prefix."""
        return "/{prefix}" not in self.path

    @property
    def endpoint(self) -> str:
        """The operation as `/v1/config` lists it: verb, one space, path template."""
        return f"{self.method} {self.path}"

    @property
    def success(self) -> str:
        """The id of the response that says that it was carried out."""
        return next(row.id for status, row in self.responses.items() if status.startswith("2"))


@dataclass(frozen=True, slots=True)
class Erratum:
    """One mistake in the official document and its correction by the overlay.

    `part` is `repair` (makes legitimate payloads validate) or `strict` (makes forbidden ones fail);
    `level` judges a payload that only a strict correction refuses (None for repairs); INTEROP is
    what only clients need, which no schema is held against.
    """

    id: str
    part: str
    level: Level | None
    title: str


@dataclass(frozen=True, slots=True)
class Later:
    """One fact that only a later document has; a catalog that shows it is not blamed for it.

    `release` is "unreleased" for facts that are in no release yet, `name` is what a catalog's
    answers show of it (an endpoint, `getConfig.404`, a member), `kind` says which.
    """

    release: str
    kind: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Ref:
    """A pointer into the contract: `operation:x`, `response:x.404`, `schema:X` or `lines:1-2`."""

    kind: RefKind
    name: str

    @classmethod
    def parse(cls, text: str) -> "Ref":
        """Read a Ref from its text form.

        Raises UnknownRef when the form itself is wrong.
        """
        kind, _, name = text.partition(":")
        if not name or kind not in set(RefKind):
            raise UnknownRef(f"{text!r} is not a Ref: write one of {[f'{k}:...' for k in RefKind]}")
        return cls(RefKind(kind), name)

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One demand of the document on a catalog, as the register holds it.

    `condition` limits it ("the catalog paginates"), `since` is the first release that demands it,
    `changed` what was different before ("1.4.0: 204; 200 before"), `errata` are overlay ids,
    `hurts` says which clients are affected, `not_tested` is the written reason why no check can
    prove it (None where one can). `disputed` says where and why somebody holds that the document
    does not demand this: its checks run and are shown, and decide nothing until that is settled.
    """

    id: str
    level: Level
    basis: Basis
    text: str
    refs: tuple[Ref, ...]
    lines: Lines
    condition: str | None
    since: str
    changed: str | None
    errata: tuple[str, ...]
    hurts: str
    profile: str
    not_tested: str | None
    disputed: str | None = None
