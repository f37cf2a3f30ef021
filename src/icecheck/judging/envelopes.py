"""Judges the bodies of errors passively: their code, their type, and members beside them."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from icecheck.contract import Contract
from icecheck.findings.shared_symptoms import ERROR_TYPE
from icecheck.findings.symptoms import Severity, declare
from icecheck.findings.verdict import Finding
from icecheck.judging.observed import Observed
from icecheck.wire.exchange import Exchange
from icecheck.wire.json_text import read_json

_MEMBER_BESIDE_ERROR = declare(
    "member-beside-error",
    "Sends members beside the error that the document does not define",
    Severity.WORDING,
)
_ERROR_CODE = declare(
    "error-code",
    "error.code differs from the HTTP status",
    Severity.SHAPE,
    "Spark: reads error.code, and handles the answer as another error",
    values_in_title=False,
)
_BESIDE_ERRORS = "observation.members-beside-errors"
REQUIREMENT = "error.type-names"
"""The requirement that these names are judged by: a SHOULD (verdict-rules 2)."""

_CONFLICT = "CommitFailedException"


def observe_error(
    exchange: Exchange, contract: Contract, observed: dict[str, Observed], *, due: bool
) -> None:
    """Judge the body of an error; its type only if the error was ``due`` to be judged."""
    error = _error(exchange.response_body)
    if exchange.operation != "getToken":
        _observe_code(exchange, error.get("code"), observed)
        _observe_members(exchange, observed)
    if due:
        _observe_type(exchange, error.get("type"), contract, observed)


def type_names(observed: Mapping[str, Observed], unserved: Mapping[str, int]) -> Observed | None:
    """Return what was seen of type names, without the answers of routes that are not served.

    What a router says of a path that it does not know is outside the document (verdict-rules 5).
    """
    whole: Observed | None = None
    for check, seen in observed.items():
        requirement, _, response_id = check.partition(" ")
        operation_id, _, status = response_id.partition(".")
        if requirement != REQUIREMENT or str(unserved.get(operation_id)) == status:
            continue
        whole = whole or Observed()
        whole.merge(seen)
    return whole


def members_beside_errors(observed: Mapping[str, Observed]) -> tuple[dict[str, Any], ...]:
    """Return the observation, no finding (verdict-rules 5), that errors carry further members."""
    seen = observed.get(_BESIDE_ERRORS)
    if seen is None or not seen.findings:
        return ()
    names = sorted({name for name, *_ in seen.findings})
    return (
        {
            "id": "members-beside-errors",
            "question": "Members of error answers that the document does not define",
            "answer": ", ".join(names)[:300],
            "spec_says": "the envelope has `error` alone; clients read past everything else",
        },
    )


def _observe_members(exchange: Exchange, observed: dict[str, Observed]) -> None:
    body = parsed(exchange.response_body)
    if not isinstance(body, dict) or "error" not in body:
        return
    for name in body.keys() - {"error"}:
        finding = Finding(_MEMBER_BESIDE_ERROR, "error", name[:60], exchange=exchange.ordinal)
        observed.setdefault(_BESIDE_ERRORS, Observed()).add((name[:60],), finding, exchange)


def _observe_code(exchange: Exchange, code: Any, observed: dict[str, Observed]) -> None:
    if not isinstance(code, int):
        return
    entry = observed.setdefault("error.code-equals-status", Observed())
    entry.seen += 1
    if code != exchange.status:
        finding = Finding(
            _ERROR_CODE,
            "error.code equal to the status",
            "another code",
            detail=f"status {exchange.status} with error.code {code}",
            pointer="/error/code",
            exchange=exchange.ordinal,
        )
        entry.add((), finding, exchange)


def _observe_type(
    exchange: Exchange, error_type: Any, contract: Contract, observed: dict[str, Observed]
) -> None:
    response_id = f"{exchange.operation}.{exchange.status}"
    # The schema check reports an error without a type.
    named = prose_types(contract).get(response_id)
    if not isinstance(error_type, str) or named is None:
        return
    # Whether a route is served, the end of the run tells.
    entry = observed.setdefault(f"{REQUIREMENT} {response_id}", Observed())
    entry.seen += 1
    due = type_problem(named, parsed(exchange.request_body or b""), error_type)
    if due is not None:
        # A catalog with names of its own gets one finding, not one for each operation.
        finding = Finding(
            ERROR_TYPE,
            "the type name that the document gives",
            "another name",
            detail=f"{response_id} says {error_type}, due is {due}",
            pointer="/error/type",
            exchange=exchange.ordinal,
        )
        entry.add((response_id, error_type), finding, exchange)


def _error(body: bytes) -> dict[str, Any]:
    envelope = parsed(body)
    error = envelope.get("error") if isinstance(envelope, dict) else None
    return error if isinstance(error, dict) else {}


def parsed(body: bytes) -> Any:
    """Return a body that is JSON, read; None if it is not."""
    try:
        return read_json(body)
    except ValueError:
        return None


@cache
def prose_types(contract: Contract) -> Mapping[str, tuple[str, ...]]:
    """Return documented response -> the type names it may carry."""
    return {
        f"{operation.id}.{status}": types
        for operation in contract.operations.values()
        for status, types in operation.facts.error_types.items()
    }


def type_problem(due: tuple[str, ...], request: Any, error_type: str) -> str | None:
    """Return the names that are due when an error has none of them, else None.

    ``due`` are the names in the prose of the documented response, ``request`` is the parsed body
    that was refused. A commit that is to create a table may meet one that exists: both a failed
    commit and a table that exists already are right then.
    """
    if error_type in due:
        return None
    if error_type == "AlreadyExistsException" and _CONFLICT in due and _asserts_create(request):
        return None
    return " or ".join(due)


def _asserts_create(request: Any) -> bool:
    if isinstance(request, dict):
        return request.get("type") == "assert-create" or any(map(_asserts_create, request.values()))
    return isinstance(request, list) and any(map(_asserts_create, request))
