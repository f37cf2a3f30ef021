"""Draws requests, in batches: the same seed draws the same batches everywhere.

Most come from our own strategies, some of them broken in one place, and the others from
schemathesis' fuzzing.
"""

import hashlib
import itertools
import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from icecheck.conformance.fuzzed.drawn_requests import POSITIVE
from icecheck.conformance.fuzzed.spoiling import spoiled
from icecheck.conformance.generated.flaws import flaw_of_body
from icecheck.conformance.generated.generation import (
    GeneratedCase,
    schema_of,
)
from icecheck.conformance.generated.live_values import without_placeholders
from icecheck.contract import Contract, Operation
from icecheck.judging.generating import drawing, generating
from icecheck.replies.schema import schema_judge

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_OWN, _SPOILED, _ALLOWED, _FORBIDDEN = "own", "spoiled", "allowed", "forbidden"
_FIRST = {_OWN: 4, _SPOILED: 1, _ALLOWED: 1, _FORBIDDEN: 1}
_LATER = {_OWN: 64, _SPOILED: 32, _ALLOWED: 1, _FORBIDDEN: 3}
"""How many cases of each kind are in a batch; some are left out because they cannot be sent.

What schemathesis draws takes several times as long as the rest, so there is less of it later.
"""
_BATCHES_KEPT = 64
"""So many batches are kept in a process: a check that is called again sends the same ones."""


def drawn(operation_id: str, contract: Contract, seed: int) -> Iterator[GeneratedCase]:
    """Yield requests of one operation without end, each batch drawn when it is needed."""
    ordinals = itertools.count()
    for number in itertools.count():
        for case in _batch(operation_id, contract, seed, number):
            yield _numbered(case, next(ordinals))


def drawn_bodies(operation_id: str, contract: Contract, seed: int, many: int) -> list[Any]:
    """Return bodies of one operation as our own strategies draw them."""
    operation = contract.operations[operation_id]
    with generating():
        return [case.body for case in _of_kind(operation, contract, _OWN, many, (seed, 0))]


def _numbered(case: GeneratedCase, ordinal: int) -> GeneratedCase:
    return replace(case, ordinal=ordinal)


@lru_cache(maxsize=_BATCHES_KEPT)
def _batch(
    operation_id: str, contract: Contract, seed: int, number: int
) -> tuple[GeneratedCase, ...]:
    """Return a batch, the kinds in turn, so that its beginning has some of each."""
    shares = _LATER if number else _FIRST
    with generating():
        found = [
            _of_kind(contract.operations[operation_id], contract, kind, many, (seed, number))
            for kind, many in shares.items()
        ]
    turns = itertools.zip_longest(*found)
    return tuple(case for turn in turns for case in turn if case is not None)


def _of_kind(
    operation: Operation, contract: Contract, kind: str, many: int, seed: tuple[int, int]
) -> list[GeneratedCase]:
    from hypothesis import given

    named = f"{operation.id}.{kind}.{seed[0]}.{seed[1]}".encode()
    number = int.from_bytes(hashlib.blake2s(named, digest_size=8).digest())
    found: list[GeneratedCase | None] = []

    # The first example is always the simplest one, and left out.
    @drawing(number, many + 1, without_constants=True)
    @given(_strategy(operation.id, contract, kind))
    def collect(example: Any) -> None:
        is_ours = kind in {_OWN, _SPOILED}
        read = case_of_body if is_ours else _read
        found.append(read(operation, contract, example))

    collect()
    return [case for case in found[1:] if case is not None and _can_be_sent(case)]


@cache
def _strategy(operation_id: str, contract: Contract, kind: str) -> "SearchStrategy[Any]":
    if kind in {_OWN, _SPOILED}:
        bodies = POSITIVE[operation_id]()
        return spoiled(bodies) if kind == _SPOILED else bodies
    from schemathesis import GenerationMode
    from schemathesis.generation.feedback import FeedbackSources

    operation = contract.operations[operation_id]
    mode = GenerationMode.NEGATIVE if kind == _FORBIDDEN else GenerationMode.POSITIVE
    # What is given is neither drawn nor made wrong: only the body is wanted.
    names = {
        place: {p.name: "x" for p in operation.parameters if p.location == place}
        for place in ("path", "header", "query")
    }
    strategy: SearchStrategy[Any] = (
        schema_of(contract)
        .find_operation_by_id(operation_id)
        .as_strategy(
            generation_mode=mode,
            path_parameters=names["path"] or None,
            headers={**names["header"], "Authorization": "x"},
            query=names["query"] or None,
            # Without feedback nothing is drawn from the constants of loaded modules.
            feedback=FeedbackSources(),
        )
    )
    return strategy


def _read(operation: Operation, contract: Contract, case: Any) -> GeneratedCase | None:
    """Return our case for the body of a schemathesis case; None if that is no JSON."""
    try:
        json.dumps(case.body)
    except TypeError:
        return None
    return case_of_body(operation, contract, case.body)


def case_of_body(operation: Operation, contract: Contract, body: Any) -> GeneratedCase:
    """Return the case of a drawn body, which may have placeholders.

    Whether it is allowed says our validator: schemathesis takes some that are for forbidden.
    """
    told = without_placeholders(body)
    valid = schema_judge(contract).request_is_valid(operation.id, told)
    return GeneratedCase(
        operation_id=operation.id,
        ordinal=0,
        flaw=None if valid else flaw_of_body(operation, contract, told),
        family=_ALLOWED if valid else _FORBIDDEN,
        description="a drawn request" if valid else "a drawn request that the schema forbids",
        flawed_part="" if valid else "body",
        body=body,
        has_body=True,
    )


def _can_be_sent(case: GeneratedCase) -> bool:
    """Return whether a body has an encoding: texts may hold what none has."""
    try:
        json.dumps(case.body, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True
