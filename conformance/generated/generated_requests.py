"""Sends generated requests in namespaces of their own and judges the answers."""

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from icecheck.client.catalog import Catalog
from icecheck.conformance.generated.confinement import ConfinedRequest, confine
from icecheck.conformance.generated.flaws import Flaw
from icecheck.conformance.generated.generation import GeneratedCase, cases_of
from icecheck.conformance.generated.sampling import sample
from icecheck.conformance.generated.sites import Site, expect_unchanged, visible
from icecheck.contract import Action, Operation
from icecheck.findings.statuses import ANY_4XX, ANY_SUCCESS_OR_4XX, STATUS
from icecheck.findings.symptoms import Severity, Symptom, declare
from icecheck.findings.verdict import Finding
from icecheck.judging.explaining.effects import relied_on
from icecheck.replies.expect import NotOffered, Reply, Violation

_MISTYPED = declare(
    "mistyped-value-accepted",
    "Accepts a value of a wrong type",
    Severity.WRONG_STATUS,
    family=STATUS,
)

REFUSED_CASES_MAX = 9
MISTYPED_CASES_MAX = 16
TOLERABLE_CASES_MAX = 3
ACCEPTED_CASES_MAX = 5
FINDINGS_MAX = 12
_FILE = "metadata-location"
_MEDIA = ("application/x-www-form-urlencoded", "")
"""Content types that are not JSON; the operations take turns."""

# Their bodies contain parts that the bodies of other operations contain too: half as many cases.
_ALIKE = frozenset({"createView", "replaceView", "renameView", "commitTransaction"})
Expectation = Callable[[Reply, GeneratedCase], Violation | None]


def judge_refused(catalog: Catalog, operation_id: str) -> None:
    """Judge that unusable requests are refused with a 4xx and change nothing.

    Raises Violation with one finding per wrong answer.
    """
    unusable = _cases(catalog, operation_id, (Flaw.UNUSABLE,), "refused", REFUSED_CASES_MAX)
    site = Site(catalog, operation_id)
    before = visible(catalog, operation_id, site.place())
    findings = _send_all(site, unusable, refused)
    if not findings and before is not None:
        expect_unchanged(catalog, operation_id, site.place(), before)
    _raise(findings)


def judge_mistyped(catalog: Catalog, operation_id: str) -> None:
    """Judge that a value of a wrong type is refused with a 4xx, not converted or ignored."""
    cases = _cases(catalog, operation_id, (Flaw.MISTYPED,), "mistyped", MISTYPED_CASES_MAX)
    _raise(_send_all(Site(catalog, operation_id), cases, _not_converted))


def judge_accepted(catalog: Catalog, operation_id: str) -> None:
    """Judge that allowed and tolerable requests are not answered with a server error.

    A refusal is fine: the contract cannot tell whether a request makes sense.
    """
    allowed = _cases(catalog, operation_id, (None,), "accepted", ACCEPTED_CASES_MAX)
    odd = _cases(catalog, operation_id, (Flaw.TOLERABLE,), "tolerated", TOLERABLE_CASES_MAX)
    _raise(_send_all(Site(catalog, operation_id), (*allowed, *odd), no_server_error))


def judge_beside_the_schema(catalog: Catalog) -> None:
    """Judge that what no schema calls wrong is not answered with a server error either.

    That is a body under another content type, or under none, in turn of operations with JSON; a
    metadata file that is not there; and a warehouse that nobody knows, or none. A catalog may
    overlook the content type and the warehouse.
    """
    findings, taken = _configs_of_no_warehouse(catalog), 0
    for operation in catalog.contract.operations.values():
        if operation.request_media_type == "application/json" and catalog.claims(operation.id):
            taken += 1
            with contextlib.suppress(NotOffered):
                findings += _broken_beside_the_schema(catalog, operation, _MEDIA[taken % 2])
    _raise(findings)


def _configs_of_no_warehouse(catalog: Catalog) -> list[Finding]:
    findings = []
    for name in (None, catalog.new_name()):
        case = GeneratedCase("getConfig", 0, Flaw.TOLERABLE, "warehouse", f"the warehouse {name}")
        if (violation := no_server_error(catalog.get_config(name), case)) is not None:
            findings.append(violation.finding)
    return findings


def _broken_beside_the_schema(catalog: Catalog, operation: Operation, media: str) -> list[Finding]:
    usual, site = cases_of(operation.id, catalog.contract)[0], Site(catalog, operation.id)
    said = f"the usual body as {media or 'nothing in particular'}"
    headers = (("Content-Type", media),)
    case = replace(usual, flaw=Flaw.TOLERABLE, headers=headers, description=said)
    findings = _send_all(site, [case], no_server_error)
    if operation.facts.action is Action.REGISTER:
        findings += _registrations_of_no_file(site, usual)
    return findings


def _registrations_of_no_file(site: Site, usual: GeneratedCase) -> list[Finding]:
    """Register what is no metadata file; return a finding for each server error."""
    location, name = site.place().location, site.place().table
    findings: list[Finding] = []
    gone = f"{location}/metadata/00000-gone.metadata.json"
    for at in (gone, name, f"unknown-scheme://{name}"):
        request = confine(replace(usual, flaw=Flaw.TOLERABLE), site.place())
        if request is not None:
            reply = send(site.catalog, replace(request, body=request.body | {_FILE: at}))
            if (violation := no_server_error(reply, request.case)) is not None:
                findings.append(replace(violation.finding, detail=f"no metadata file at {at!r}"))
    return findings


def _cases(
    catalog: Catalog,
    operation_id: str,
    flaws: tuple[Flaw | None, ...],
    purpose: str,
    cases_max: int,
) -> tuple[GeneratedCase, ...]:
    wanted = [c for c in cases_of(operation_id, catalog.contract) if c.flaw in flaws]
    return sample(
        wanted,
        seed=catalog.session.seed,
        purpose=f"{operation_id}.{purpose}",
        cases_max=cases_max // 2 if operation_id in _ALIKE else cases_max,
        # What a catalog may overlook is no reason for a request at every place.
        at_most=cases_max == TOLERABLE_CASES_MAX,
    )


def _send_all(
    site: Site, cases: Iterable[GeneratedCase], expectation: Expectation
) -> list[Finding]:
    """Send cases to a site and return the findings."""
    findings: list[Finding] = []
    for case in cases:
        request = confine(case, site.place())
        if request is None or not is_carried_out(site.catalog, request):
            continue
        reply = send(site.catalog, request)
        if (violation := expectation(reply, case)) is not None:
            findings.append(violation.finding)
        if reply.ok:
            ledger_unexpected(site.catalog, case, reply)
            site.note_success(reply)
    return findings


def is_carried_out(catalog: Catalog, request: ConfinedRequest) -> bool:
    """Return whether the catalog keeps what this request asks for, unlike others of its kind."""
    sent = request.body if isinstance(request.body, dict) else {}
    relied = relied_on(request.case.operation_id, sent)
    return catalog.keeps(*(e.requirement for e in relied if not e.relies({})))


def send(catalog: Catalog, request: ConfinedRequest) -> Reply:
    """Send one confined request."""
    sent: dict[str, Any] = {"body": request.body} if request.case.has_body else {}
    return catalog.call(
        request.case.operation_id,
        request.names,
        query=request.query,
        headers=request.headers,
        **sent,
    )


def refused(reply: Reply, case: GeneratedCase, accepted: Symptom = STATUS) -> Violation | None:
    """Return what is wrong if a request is not refused with a 4xx; ``accepted`` if it succeeds."""
    if 400 <= reply.status < 500:
        return None
    symptom = accepted if reply.ok else STATUS
    return reply.violation(symptom, ANY_4XX, reply.status, detail=case.description)


def _not_converted(reply: Reply, case: GeneratedCase) -> Violation | None:
    if reply.ok:
        return reply.violation(_MISTYPED, ANY_4XX, reply.status, detail=case.description)
    return refused(reply, case)


def no_server_error(reply: Reply, case: GeneratedCase) -> Violation | None:
    """Return what is wrong if a request meets with a server error."""
    # A 501 says that the catalog lacks a capability; it is not a failure.
    if reply.status < 500 or reply.status == 501:
        return None
    due = ANY_SUCCESS_OR_4XX if case.flaw is None else ANY_4XX
    return reply.wrong_status(due, detail=case.description)


def _raise(findings: list[Finding]) -> None:
    if not findings:
        return
    first, *others = findings[:FINDINGS_MAX]
    count = f" ({len(findings)} such requests)" if len(findings) > 1 else ""
    raise Violation.again(first, *others, detail=first.detail + count)


def ledger_unexpected(catalog: Catalog, case: GeneratedCase, reply: Reply) -> None:
    """Record a namespace that was created from invalid names, so that it is removed."""
    if case.operation_id != "createNamespace" or case.flaw is None:
        return
    try:
        made = reply.json()["namespace"]
    except (Violation, TypeError, KeyError):
        return
    if isinstance(made, list) and made and all(isinstance(level, str) for level in made):
        catalog.ledger_namespace(tuple(made))
