"""Passive verdicts: every exchange of the run, judged by its schema and its envelope."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from icecheck.contract import Contract, Level, Response
from icecheck.findings.shared_symptoms import (
    LISTED_TWICE,
    SCHEMA,
    SERVER_ERROR_BODY,
)
from icecheck.findings.symptoms import Severity, declare
from icecheck.findings.verdict import Finding, Group, Outcome, Verdict
from icecheck.judging import envelopes, json_forms, losers
from icecheck.judging.envelopes import parsed
from icecheck.judging.observed import Observed
from icecheck.replies.repeated import SNAPSHOTS, repeated
from icecheck.replies.schema import SchemaJudge, has_strict_reading
from icecheck.wire.exchange import Exchange, Step
from icecheck.wire.retry import foreign_words, is_stopped_on_the_way

_BODY_ON_204 = declare(
    "body-on-204", "Sends a body with status 204", Severity.SHAPE, values_in_title=False
)

# Judgements that span operations: the id of the check and of its requirement -> the check's title.
_WIRE = {
    "error.code-equals-status": "The code in an error body is the HTTP status",
    envelopes.REQUIREMENT: "Errors carry the type names that the document gives them",
    "http.no-body-on-204": "An answer with status 204 has no body",
    **json_forms.TITLES,
    **losers.TITLES,
    "metadata.snapshots-once": "No metadata lists a snapshot twice",
    "metadata.ids-once": "Nothing that has an id is listed twice in metadata",
}


def passive_checks(contract: Contract) -> tuple[str, ...]:
    """Return the ids of all passive checks: the wire ones, then one per documented body.

    Answers to HEAD have no body, whatever the document lists for them (RFC 9110, 9.3.2).
    """
    asking = {o for o, operation in contract.operations.items() if operation.method == "HEAD"}
    rows = contract.documented_responses
    bodies = [r for r in rows if r.has_body and r.operation_id not in asking]
    return (*_WIRE, *(check for row in bodies for check in _schema_ids(row, contract)))


def observe(
    exchanges: Iterable[Exchange],
    schemas: SchemaJudge,
    into: dict[str, Observed] | None = None,
    verdict: Verdict | None = None,
    foreign: dict[str, Observed] | None = None,
) -> dict[str, Observed]:
    """Judge exchanges (already redacted) passively; return passive check id -> what was seen.

    ``foreign``, if given, gets what answers show that need not come from the catalog.

    ``verdict`` is that of the check which sent them: an answer that was not due at all, as it says,
    gets no findings for its shape or its type name, which are consequences.
    """
    own = {} if into is None else into
    blamed, proper = _blamed(verdict), True
    for exchange in exchanges:
        if exchange.status is None or exchange.operation is None:
            continue
        documented = schemas.contract.operations.get(exchange.operation)
        # A check sent the wrong method on purpose: the answer is none of the operation's. Or the
        # run is judged by a later document too, which has more operations.
        if documented is None or documented.method != exchange.method:
            continue
        if is_stopped_on_the_way(exchange):
            continue
        observed = own if foreign is None or not foreign_words(exchange) else foreign
        # While things are removed, what other checks made wrong on purpose may be shown.
        due = proper and not blamed(exchange) and exchange.step is not Step.UNDO
        if exchange.status == 200:  # what was accepted although it is wrong is given back wrong
            proper = proper and not (blamed(exchange) or asks_improperly(exchange, schemas))
        if due:
            _observe_schema(exchange, schemas, observed)
            _observe_repeats(exchange, schemas, observed)
            _observe_loser(exchange, schemas, observed)
        _observe_wire(exchange, schemas.contract, observed, due=due)
        _observe_json(exchange, observed)
    return own


def _blamed(verdict: Verdict | None) -> Callable[[Exchange], bool]:
    """Return a predicate of exchanges: does the verdict say that the answer was not due at all?"""
    findings = [] if verdict is None else [f for f in verdict.findings if f.answered is not None]
    ordinals = {f.exchange for f in findings}
    # A check names only some of its requests; if one broke the server, the same status elsewhere is
    # blamed too.
    failures = {f.answered for f in findings if (f.answered or 0) >= 500}
    if verdict is not None and verdict.outcome is Outcome.BLOCKED:
        failures |= {e.status for e in verdict.evidence if (e.status or 0) >= 500}
    return lambda exchange: exchange.ordinal in ordinals or exchange.status in failures


def passive_verdicts(
    observed: Mapping[str, Observed],
    contract: Contract,
    unserved: Mapping[str, int] = MappingProxyType({}),
) -> list[Verdict]:
    """Return the verdicts on what was seen, in the order of ``passive_checks``.

    ``unserved`` are operations that are not served, with the status that they always have: such an
    answer is none of those that the document describes.
    """
    types = envelopes.type_names(observed, unserved)
    rows = {c: r for r in contract.documented_responses for c in _schema_ids(r, contract)}
    verdicts = []
    for check_id in passive_checks(contract):
        seen = types if check_id == envelopes.REQUIREMENT else observed.get(check_id)
        row = rows.get(check_id)
        if seen is None or not seen.seen or (row and _is_unserved(row, unserved)):
            continue
        if row is None:
            level, title = contract.requirements[check_id].level, _WIRE[check_id]
            verdicts.append(_verdict(check_id, title, level, (check_id,), (), "core", seen))
            continue
        reading = check_id.endswith(".reading")
        verdicts.append(
            _verdict(
                check_id,
                _schema_title(row, reading=reading),
                Level.SHOULD if reading else contract.requirements[row.id].level,
                (row.id,),
                (row.operation_id,),
                contract.operations[row.operation_id].profile,
                seen,
            )
        )
    return verdicts


def _is_unserved(row: Response, unserved: Mapping[str, int]) -> bool:
    return str(unserved.get(row.operation_id)) == row.status


def _schema_ids(row: Response, contract: Contract) -> tuple[str, ...]:
    base = f"schema.{row.operation_id}.{row.status}"
    if not row.has_body or not has_strict_reading(contract, row.operation_id, row.status):
        return (base,)
    return (base, f"{base}.reading")


def _schema_title(row: Response, *, reading: bool) -> str:
    body = f"the body of {row.operation_id} {row.status}"
    if reading:
        return f"In {body} the strict reading of the prose holds"
    return f"{body[0].upper()}{body[1:]} has the documented shape"


def _observe_schema(
    exchange: Exchange, schemas: SchemaJudge, observed: dict[str, Observed]
) -> None:
    if exchange.operation is None or exchange.status is None:
        return
    row = schemas.contract.response(exchange.operation, exchange.status)
    if row is None or not row.has_body or exchange.method == "HEAD":
        return
    if exchange.step is Step.UNDO:
        return  # it may show objects that were made wrong on purpose, by other checks too
    problems = schemas.judge(exchange)
    if problems and not _answers_a_proper_request(exchange, schemas):
        return
    for check_id in _schema_ids(row, schemas.contract):
        observed.setdefault(check_id, Observed()).seen += 1
    for problem in problems:
        suffix = ".reading" if problem.level is Level.SHOULD else ""
        entry = observed[f"schema.{exchange.operation}.{row.status}{suffix}"]
        finding = Finding(
            symptom=SERVER_ERROR_BODY if exchange.status >= 500 else SCHEMA.of(problem.kind),
            expected=_due(problem.kind, problem.pointer),
            actual=problem.message[:160],
            detail=f"in the body of {exchange.operation} {exchange.status}",
            pointer=problem.pointer,
            exchange=exchange.ordinal,
        )
        entry.add((problem.pointer, problem.kind), finding, exchange)


def _answers_a_proper_request(exchange: Exchange, schemas: SchemaJudge) -> bool:
    """Return whether an answer's shape is to be judged: it does not follow from a bad request.

    What is accepted malformed is given back malformed, and after a server error something else may
    answer; the check that asked judges both. Refusals and redirections are always judged.
    """
    status = exchange.status or 300
    return 300 <= status < 500 or not asks_improperly(exchange, schemas)


def asks_improperly(exchange: Exchange, schemas: SchemaJudge, *, readings: bool = False) -> bool:
    """Return whether the body of a request is not what the document allows.

    With ``readings`` the strict readings of the prose count, too.
    """
    if exchange.request_body is None or exchange.operation in {None, "getToken"}:
        return False
    if schemas.contract.operations[str(exchange.operation)].request_media_type is None:
        return False  # the document says nothing of a body there
    body = parsed(exchange.request_body)
    if isinstance(body, dict):  # Java clients write null for a member that they leave out
        body = {name: value for name, value in body.items() if value is not None}
    return not schemas.request_is_valid(str(exchange.operation), body, readings=readings)


def _due(kind: str, pointer: str) -> str:
    match kind:
        case "required":
            return "every required member"
        case "not-json":
            return "a JSON body"
        case "media-type":
            return "a body that says it is JSON"
        case _:
            return f"the documented {kind} at {pointer or 'the top'}"


def _observe_repeats(
    exchange: Exchange, schemas: SchemaJudge, observed: dict[str, Observed]
) -> None:
    if exchange.status != 200 or b'"metadata"' not in exchange.response_body:
        return
    body = parsed(exchange.response_body)
    metadata = body.get("metadata") if isinstance(body, dict) else None
    if not isinstance(metadata, dict) or not _answers_a_proper_request(exchange, schemas):
        return
    for check_id in ("metadata.snapshots-once", "metadata.ids-once"):
        observed.setdefault(check_id, Observed()).seen += 1
    for member, told in repeated(metadata):
        check_id = "metadata.snapshots-once" if member == SNAPSHOTS else "metadata.ids-once"
        finding = Finding(
            symptom=LISTED_TWICE,
            expected="each id once",
            actual="one of them again",
            detail=f"{member} of {exchange.operation}: {told}",
            pointer=f"/metadata/{member}",
            exchange=exchange.ordinal,
        )
        observed[check_id].add((str(exchange.operation), member), finding, exchange)


def _observe_wire(
    exchange: Exchange, contract: Contract, observed: dict[str, Observed], *, due: bool
) -> None:
    if exchange.status == 204:
        entry = observed.setdefault("http.no-body-on-204", Observed())
        entry.seen += 1
        if exchange.response_body:
            finding = Finding(_BODY_ON_204, "no body", "a body", exchange=exchange.ordinal)
            entry.add((), finding, exchange)
    if exchange.status is not None and exchange.status >= 400 and exchange.claims_json:
        envelopes.observe_error(exchange, contract, observed, due=due)


def _observe_loser(exchange: Exchange, schemas: SchemaJudge, observed: dict[str, Observed]) -> None:
    if not losers.is_judged(exchange):
        return
    entry = observed.setdefault(losers.REQUIREMENT, Observed())
    entry.seen += 1
    finding = losers.finding_of(exchange, schemas)
    if finding is not None:
        entry.add((str(exchange.operation), finding.actual), finding, exchange)


def _observe_json(exchange: Exchange, observed: dict[str, Observed]) -> None:
    if not exchange.claims_json:
        return
    for check_id in json_forms.TITLES:
        observed.setdefault(check_id, Observed()).seen += 1
    for check_id, finding in json_forms.findings_of(exchange):
        observed[check_id].add((str(exchange.operation), finding.actual), finding, exchange)


def _verdict(
    check_id: str,
    title: str,
    level: Level,
    requirements: tuple[str, ...],
    operations: tuple[str, ...],
    profile: str,
    seen: Observed,
) -> Verdict:
    findings = tuple(seen.findings.values())
    first = findings[0] if findings else None
    return Verdict(
        check=check_id,
        title=title,
        group=Group.CHECKS,
        level=level,
        requirements=requirements,
        operations=operations,
        profile=profile,
        outcome=Outcome.FAIL if first else Outcome.PASS,
        summary=f"expected {first.expected}, got {first.actual} ({first.detail})" if first else "",
        findings=findings,
        evidence=(seen.evidence,) if first and seen.evidence else (),
        passive=True,
    )
