"""Generates requests from the contract by schemathesis' coverage phase, as plain data.

schemathesis only generates. Its coverage cases do not depend on a seed, a hash seed or the order of
operations; nothing here sends anything.
"""

import copy
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from icecheck.conformance.generated.flaws import Flaw, flaw_of, spot_of, spots_in
from icecheck.conformance.generated.sample_values import sample_of, seeded
from icecheck.contract import Action, Contract, Operation
from icecheck.judging.generating import generating
from icecheck.replies.schema import schema_judge

ANOTHER_LISTS_TOKEN = "the page token of another list"  # noqa: S105 - stands for one
_PAGE_TOKENS = ("no page token", "99999999999999999999", "-1", ANOTHER_LISTS_TOKEN)
_UNKNOWN_MEMBER = "not-in-the-document"
_OVER_COLUMNS = frozenset({"partition-spec", "write-order"})
_SAMPLE_COLUMNS = frozenset({1})
"""The columns that the samples of a partition spec and of a write order are over."""

# Scenarios of schemathesis that are no violation of this contract: an unknown query key or header
# is ignored, and the document says nothing of other methods and media types.
_LEFT_OUT = frozenset(
    {
        "malformed_content_type",
        "unsupported_content_type",
        "unspecified_http_method",
        "object_unexpected_properties",
        "duplicate_parameter",
    }
)


@dataclass(frozen=True, slots=True)
class GeneratedCase:
    """One generated request, before its names are confined to the run.

    ``flaw`` is None when the contract allows it. ``body`` is JSON and must not be changed;
    ``has_body`` False means that none is sent. ``family`` groups similar cases. ``flawed_part`` is
    the part with the flaw: body, query, header, path, or empty. ``cut_off`` says that only the
    first half of the body's bytes is sent.
    """

    operation_id: str
    ordinal: int
    flaw: Flaw | None
    family: str
    description: str
    flawed_part: str = ""
    query: tuple[tuple[str, str], ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    body: Any = None
    has_body: bool = False
    cut_off: bool = False

    @property
    def place(self) -> str:
        """What its family has in common with others: the member or the kind of update."""
        return self.family.partition(".")[2] or self.family


_NOT_SENT = frozenset({"idempotency-key"})
"""Headers that are in no generated request: a key that comes again means the request before."""


@cache
def cases_of(operation_id: str, contract: Contract) -> tuple[GeneratedCase, ...]:
    """Return the cases of one operation, the allowed ones first; made once per process.

    Negative cases whose body our validator accepts are left out: schemathesis is sometimes wrong
    about unions, and a strict reading of the document does not justify a demand.
    """
    from schemathesis import GenerationMode

    made = [*_usual(operation_id, contract)]
    seen = {_sent(case) for case in made}
    with generating():
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            for case in _generate(operation_id, contract, mode):
                found = _read(contract.operations[operation_id], contract, len(made), case)
                # Some cases send the same request once unknown headers are left out.
                if found is not None and (request := _sent(found)) not in seen:
                    seen.add(request)
                    made.append(found)
    template = next((c for c in made if c.flaw is None and c.has_body), None)
    if template is not None:
        made.append(_cut_off(template, len(made)))
        made.append(_with_unknown_members(template, len(made), contract))
    if contract.operations[operation_id].facts.action is Action.LIST:
        made += _with_page_tokens(operation_id, len(made))
    return tuple(made)


def _usual(operation_id: str, contract: Contract) -> Iterator[GeneratedCase]:
    """Yield the request that the samples form, if the operation has a body."""
    schema = contract.operations[operation_id].request_schema
    if schema is not None:
        yield GeneratedCase(
            operation_id=operation_id,
            ordinal=0,
            flaw=None,
            family="usual",
            description="the usual request",
            body=sample_of(str(schema["$ref"]).rpartition("/")[2]),
            has_body=True,
        )


def _cut_off(case: GeneratedCase, ordinal: int) -> GeneratedCase:
    unread = case.operation_id == "reportMetrics"
    return GeneratedCase(
        operation_id=case.operation_id,
        ordinal=ordinal,
        flaw=Flaw.TOLERABLE if unread else Flaw.UNUSABLE,
        family="no-json",
        description="a body that ends in the middle",
        flawed_part="body",
        body=case.body,
        has_body=True,
        cut_off=True,
    )


def _with_unknown_members(case: GeneratedCase, ordinal: int, contract: Contract) -> GeneratedCase:
    """Return the case with an unknown member in every object of its body that may have one."""
    judge, body = schema_judge(contract), copy.deepcopy(case.body)
    for each in _objects_in(body):
        each[_UNKNOWN_MEMBER] = {"a": [1, None]}
        # A map of strings takes no such value.
        if not judge.request_is_valid(case.operation_id, body):
            del each[_UNKNOWN_MEMBER]
    return replace(
        case,
        ordinal=ordinal,
        flaw=Flaw.TOLERABLE,
        body=body,
        family="unknown-members",
        description="members that the document does not know",
    )


def _objects_in(value: Any) -> list[dict[str, Any]]:
    """Return every object in a JSON value, the outer ones first."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    own = [value] if isinstance(value, dict) else []
    return own + [each for one in inner for each in _objects_in(one)]


def _with_page_tokens(operation_id: str, ordinal: int) -> Iterator[GeneratedCase]:
    """Yield requests for a page with tokens that this list has not given."""
    for number, token in enumerate(_PAGE_TOKENS):
        yield GeneratedCase(
            operation_id=operation_id,
            ordinal=ordinal + number,
            flaw=Flaw.TOLERABLE,
            family=f"page-token-{number}",
            description=f"pageToken: {token}",
            flawed_part="query",
            query=(("pageToken", token), ("pageSize", "1")),
        )


def _generate(operation_id: str, contract: Contract, mode: Any) -> Iterator[Any]:
    schema = schema_of(contract)
    operation = schema.find_operation_by_id(operation_id)
    generation = schema.config.generation_for(operation=operation, phase="coverage")
    yield from schema.iter_coverage_cases(
        operation, generation_modes=[mode], generation_config=generation
    )


@cache
def schema_of(contract: Contract) -> Any:
    """Return schemathesis' schema of a contract, with our samples as examples."""
    import schemathesis

    # An empty Config prevents schemathesis from reading a schemathesis.toml of the user's
    # directory.
    document = seeded(contract.corrected(("repair", "strict")))
    return schemathesis.openapi.from_dict(document, config=schemathesis.Config())


def _read(
    operation: Operation, contract: Contract, ordinal: int, case: Any
) -> GeneratedCase | None:
    """Return our case for a schemathesis case; None if it allows no conclusion."""
    from schemathesis.core import NotSet

    phase = case.meta.phase.data
    scenario = phase.scenario.value
    if scenario in _LEFT_OUT:
        return None
    operation_id = operation.id
    known = {p.name.lower() for p in operation.parameters if p.location == "header"} - _NOT_SENT
    has_body = not isinstance(case.body, NotSet)
    sent = _with_known_columns(case.body) if has_body else None
    positive = not case.meta.generation.mode.is_negative
    flaw: Flaw | None = None
    if not positive:
        flaw = _flaw(operation, contract, phase, sent, has_body=has_body)
        if flaw is None:
            return None
    elif has_body and not schema_judge(contract).request_is_valid(operation_id, sent):
        return None
    return GeneratedCase(
        operation_id=operation_id,
        ordinal=ordinal,
        flaw=flaw,
        family=_family(scenario, phase),
        description=_describe(phase),
        flawed_part="" if flaw is None else _part(phase),
        query=_pairs(case.query),
        headers=_pairs({k: v for k, v in case.headers.items() if k.lower() in known}),
        body=sent,
        has_body=has_body,
    )


def _with_known_columns(body: Any) -> Any:
    """Return a body without a partition spec or write order over columns of another schema.

    The generator replaces the schema of a creation by another one, and leaves the rest as it was:
    then the columns that are not there are a second flaw. Both members are optional.
    """
    schema = body.get("schema") if isinstance(body, dict) else None
    columns = {f.get("id") for f in _objects_in(schema) if isinstance(f.get("id"), int)}
    if not isinstance(body, dict) or "name" not in body or columns >= _SAMPLE_COLUMNS:
        return body
    return {name: each for name, each in body.items() if name not in _OVER_COLUMNS}


def _flaw(
    operation: Operation, contract: Contract, phase: Any, body: Any, *, has_body: bool
) -> Flaw | None:
    """Return the flaw of a negative case; None when the contract does not forbid the case."""
    operation_id = operation.id
    part = _part(phase)
    if part != "body":
        # Optional parameters may be ignored: only a listing in pages has a use for them.
        lists = operation.facts.action is Action.LIST
        return Flaw.MISTYPED if lists and part == "query" else Flaw.TOLERABLE
    if not has_body:
        return Flaw.TOLERABLE if operation_id == "reportMetrics" else Flaw.UNUSABLE
    if schema_judge(contract).request_is_valid(operation_id, body):
        return None
    if phase.location is None or operation_id == "reportMetrics":
        return Flaw.TOLERABLE  # a catalog may discard reports unread
    spot = spot_of(operation_id, contract, operation.request_schema or {}, phase.location, body)
    if len({each.path for each in spots_in(operation, contract, body)}) > 1:
        return None  # an answer would not tell which of several flaws it is about
    return flaw_of(spot)


def _family(scenario: str, phase: Any) -> str:
    """Return the scenario with the top member or the kind of update that it concerns.

    An unknown kind of update is one family: its other members are not read.
    """
    keys = [k for k in (phase.location or "").split("/") if k and k != "properties"]
    place = phase.parameter or ""
    of_kind = "items" in keys[:2] and scenario != "invalid_enum_value"
    return ".".join([scenario, place, *keys[: 4 if of_kind else 1]])


def _part(phase: Any) -> str:
    """Return the part of a request that a case is about: body, query, header, path, or empty."""
    return "" if phase.parameter_location is None else str(phase.parameter_location.value)


def _describe(phase: Any) -> str:
    said = " ".join(str(phase.description).split())
    if _part(phase) in {"", "body"}:
        return said
    return f"{_part(phase)} {phase.parameter or 'parameters'}: {said}"


def _pairs(values: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for key, value in values.items():
        each = value if isinstance(value, list | tuple) else (value,)
        found += [(str(key), str(one)) for one in each]
    return tuple(found)


def _sent(case: GeneratedCase) -> str:
    body = json.dumps(case.body) if case.has_body else ""
    return repr((case.query, case.headers, body))
