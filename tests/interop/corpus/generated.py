"""The corpus: each case of schemathesis as the bytes that it would send."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import schemathesis
from schemathesis.core import NotSet
from schemathesis.generation.meta import CoverageScenario

from icecheck.judging.generating import generating
from tests.interop.corpus.case import METHODS, NEGATIVE, POSITIVE, CorpusCase
from tests.interop.corpus.samples import with_samples
from tests.interop.corpus.stocked_server import StockedFacts
from tests.kit.contracts import CONTRACT


def contract_document() -> dict[str, Any]:
    """The corrected contract, which requests are derived from and judged by."""
    return CONTRACT.corrected(("repair", "strict"))


@cache
def corpus_of(operation_id: str, facts: StockedFacts) -> tuple[CorpusCase, ...]:
    """Every different request of one operation, in the order of its making; made once a process.

    They are derived twice: from the contract as it is, and from a copy with examples, where a
    negative case has one flaw and a positive one can be served.
    """
    plain = contract_document()
    made: dict[tuple[Any, ...], CorpusCase] = {}
    with generating():
        for document in (plain, with_samples(plain, operation_id, facts)):
            for case in _cases(document, operation_id):
                found = _as_sent(operation_id, case, facts)
                made.setdefault((found.mode == METHODS, *found.sent), found)
    return tuple(made.values())


def _cases(document: dict[str, Any], operation_id: str) -> Iterator[Any]:
    from schemathesis.generation.hypothesis.examples import generate_one

    # An empty Config: otherwise a schemathesis.toml of the directory would be read.
    schema = schemathesis.openapi.from_dict(document, config=schemathesis.Config())
    operation = schema.find_operation_by_id(operation_id)
    generation = schema.config.generation_for(operation=operation, phase="coverage")
    for mode in (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE):
        yield from schema.iter_coverage_cases(
            operation, generation_modes=[mode], generation_config=generation
        )
    yield from map(generate_one, operation.get_strategies_from_examples())


def _as_sent(operation_id: str, case: Any, facts: StockedFacts) -> CorpusCase:
    phase = case.meta.phase.data
    part = "" if phase.parameter_location is None else str(phase.parameter_location.value)
    if part != "path":
        known = facts.path_parameters(operation_id)
        case.path_parameters = {name: known[name] for name in case.path_parameters or ()}
    mode = NEGATIVE if case.meta.generation.mode.is_negative else POSITIVE
    if getattr(phase, "scenario", None) is CoverageScenario.UNSPECIFIED_HTTP_METHOD:
        mode = METHODS
    method, target, headers, body = _prepared(case)
    return CorpusCase(
        operation_id=operation_id,
        mode=mode,
        description=" ".join(str(phase.description).split()),
        part=part,
        location=phase.location or "",
        method=method,
        target=target,
        headers=headers,
        body=body,
    )


def _prepared(case: Any) -> tuple[str, str, dict[str, str], bytes | None]:
    import requests

    kwargs = case.as_transport_kwargs(base_url="http://corpus.invalid")
    kwargs = {key: value for key, value in kwargs.items() if key != "timeout"}
    request = requests.Request(**kwargs).prepare()
    body = request.body
    if isinstance(body, str):
        body = body.encode()
    assert body is None or isinstance(body, bytes)
    if isinstance(case.body, NotSet):
        body = None
    ours = ("user-agent", "x-schemathesis-testcaseid", "content-length", "accept", "cookie")
    headers = {k: str(v) for k, v in request.headers.items() if k.lower() not in ours}
    return str(request.method), request.path_url, headers, body
