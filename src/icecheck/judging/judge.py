"""Runs one check against a catalog and returns its verdict; independent of pytest."""

import time
import traceback
from collections.abc import Collection, Mapping
from typing import Any

from icecheck.client.catalog import Catalog
from icecheck.client.shared_objects import SETUP_ORDINAL
from icecheck.contract import Action, Level, Ref, RefKind
from icecheck.contract.releases import is_newer, newest
from icecheck.findings.shared_symptoms import SUITE_ERROR
from icecheck.findings.symptoms import Severity
from icecheck.findings.verdict import (
    CREDENTIALS,
    TARGET,
    Finding,
    Group,
    Outcome,
    Skip,
    SkipKind,
    Verdict,
)
from icecheck.judging.check import Check
from icecheck.judging.evidence import (
    evidence_for,
    evidence_of,
    evidence_of_refusals,
    evidence_up_to,
    finding_without_secrets,
)
from icecheck.judging.explaining.explained import explained
from icecheck.judging.probes import require_capability
from icecheck.replies.expect import Blocked, NotOffered, Reply, Violation, blocked_by_shape
from icecheck.replies.ill_shaped import reads_ill_shaped
from icecheck.targets.unwritable import Unwritable
from icecheck.wire.unreachable import CredentialsEnded, Unreachable

_UNKNOWN = frozenset({405, 501})
"""The statuses of an operation that a catalog does not know; 404 may be about an object."""
_METADATA = "metadata"
_WRITERS = {Group.SPARK: "Spark", Group.CLIENTS: "PyIceberg"}
_NO_DROP = _UNKNOWN | {403, 404}


def judge(check: Check, catalog: Catalog, resources: Mapping[str, Any] | None = None) -> Verdict:
    """Run a check and return its verdict; objects that it made on the catalog are removed.

    ``resources`` are the arguments of the check's function beside the catalog (``spark``). Raises
    only Unwritable, and errors that are no Exception (an interrupt).
    """
    started, started_ms = time.perf_counter(), round(time.time() * 1000)
    skip = _reason_to_skip(check, catalog)
    ending: Exception | None = None
    requests = 0
    if skip is None:
        ending = _called(check, catalog, resources or {})
        requests += len(catalog.exchanges)
        while lost := _to_leave_out(catalog, ending):
            again = catalog.without(lost)
            later = _called(check, again, resources or {})
            requests += len(again.exchanges)
            if isinstance(later, NotOffered):
                break  # nothing is left that could be judged
            catalog, ending = again, later
    duration_ms = round((time.perf_counter() - started) * 1000, 2)
    facts = {"requests": requests, "duration_ms": duration_ms, "started_ms": started_ms}
    return _verdict(check, catalog, ending, skip, **facts)


def not_run(check: Check, kind: SkipKind, reason: str) -> Verdict:
    """Return the verdict of a check that was not run, with its reason."""
    return _make(check, Outcome.SKIP, summary=reason, skip=Skip(kind, reason))


def _called(check: Check, catalog: Catalog, resources: Mapping[str, Any]) -> Exception | None:
    """Call a check and return how it ended; what it made is removed."""
    try:
        for need in check.needs:
            require_capability(catalog, need, check.proves)
        check.function(catalog, **resources)
    except Unwritable:
        raise  # no check can be judged while files cannot be written
    except Exception as error:  # noqa: BLE001 - every ending is a verdict
        ending = _blocked_by_shape(catalog, error) or _not_to_be_had(catalog, error) or error
        ending = _explained(check, catalog, ending)
        # After a Violation, shared objects may have changed in spite of a refusal: they are not
        # reused.
        catalog.doubted = isinstance(error, Violation)
        return ending
    finally:
        catalog.undo()
    return None


def _to_leave_out(catalog: Catalog, ending: Exception | None) -> str | None:
    """Return the lost effect that blocks a check, if the check can be judged without it."""
    by = ending.by if isinstance(ending, Blocked) else None
    return by if by in catalog.asked - catalog.lost else None


def _reason_to_skip(check: Check, catalog: Catalog) -> Skip | None:
    if catalog.target.read_only and (client := _WRITERS.get(check.group)):
        return Skip(SkipKind.SAFETY_LEVEL, f"{client} writes, and this run may only read")
    undropped = sorted(catalog.session.undropped)
    gone = {f"{catalog.contract.operation_that(Action.DROP, kind)}.gone" for kind in undropped}
    if gone and gone.isdisjoint(check.proves):
        words = (
            f"a {undropped[0]} that the catalog says it has dropped is still there: what this "
            "check makes would stay; to let it, add --accept-residue"
        )
        return Skip(SkipKind.SAFETY_LEVEL, words)
    undeclared = [o for o in check.operations if not catalog.claims(o)]
    if not undeclared:
        return None
    reason = f"the catalog's config does not claim {', '.join(undeclared)}"
    return Skip(SkipKind.NOT_DECLARED, reason)


def _verdict(
    check: Check,
    catalog: Catalog,
    ending: Exception | None,
    skip: Skip | None,
    **facts: Any,
) -> Verdict:
    facts["without"] = tuple(sorted(catalog.lost & catalog.asked))
    redactor = catalog.session.connection.redactor
    if skip is not None:
        return _make(check, Outcome.SKIP, summary=skip.reason, skip=skip, **facts)
    match ending:
        case None:
            facts["evidence"] = evidence_of_refusals(catalog, check.operations[:1])
            return _make(check, Outcome.PASS, summary=_left_out(facts["without"]), **facts)
        case Violation(findings=said) if unclaimed := _unclaimed(catalog, said[0].exchange):
            why = f"the catalog's config does not claim {unclaimed}, which this check needs"
            skip = Skip(SkipKind.MISSING_FIXTURE, why)
            return _make(check, Outcome.SKIP, summary=why, skip=skip, **facts)
        case Violation(findings=said):
            findings = tuple(finding_without_secrets(f, redactor) for f in said)
            failed = _make(
                check,
                Outcome.FAIL,
                summary="; ".join(
                    filter(None, (_summary(findings[0]), _left_out(facts["without"])))
                ),
                findings=findings,
                evidence=evidence_for(catalog, findings[0]),
                **facts,
            )
            excuse, certain = _excuse(check, catalog, said[0])
            if excuse is None or (not certain and excuse.lacks in catalog.session.permitted):
                return failed
            facts |= {"skip": excuse, "if_permitted": None if certain else failed}
            return _make(check, Outcome.SKIP, summary=excuse.reason, **facts)
        case Blocked(by=by, reason=reason, exchange=exchange):
            return _make(
                check,
                Outcome.BLOCKED,
                summary=redactor.text(reason),
                blocked_by=(by,),
                evidence=evidence_of(catalog, exchange),
                **facts,
            )
        case NotOffered(kind=kind, reason=reason, lacks=lacks):
            skip = Skip(kind, redactor.text(reason), lacks)
            return _make(check, Outcome.SKIP, summary=skip.reason, skip=skip, **facts)
        case CredentialsEnded():
            why = redactor.text(str(ending))
            return _make(check, Outcome.BLOCKED, summary=why, blocked_by=(CREDENTIALS,), **facts)
        case Unreachable(broke=broke):
            return _make(
                check,
                Outcome.BLOCKED,
                summary=redactor.text(str(ending)),
                blocked_by=(TARGET,),
                evidence=() if broke is None else evidence_up_to(catalog, broke),
                **facts,
            )
        case error:
            words = redactor.text("".join(traceback.format_exception(error)))
            return _make(
                check,
                Outcome.ERROR,
                summary=redactor.text(f"{type(error).__name__}: {error}"),
                findings=(Finding(SUITE_ERROR, "no error", type(error).__name__, words),),
                evidence=evidence_of(catalog, None),
                **facts,
            )


def _explained(check: Check, catalog: Catalog, ending: Exception) -> Exception:
    """Return what blocks a failed check instead of its finding, or the ending as it was.

    A mistake of the suite in looking for it is an error of the suite.
    """
    if not isinstance(ending, Violation | Blocked):
        return ending
    if isinstance(ending, Violation) and (unreadable := _unreadable(catalog, ending.finding)):
        return unreadable
    try:
        return explained(catalog, check.proves, ending) or ending
    except Unwritable:
        raise
    except Exception as mistake:  # noqa: BLE001 - every ending is a verdict
        return mistake


def _unreadable(catalog: Catalog, finding: Finding) -> Blocked | None:
    """Return what blocks a check that compared metadata which are no object, or None.

    What they should say cannot be read from such an answer: that is a finding of the schema check.
    To whom it is answered is another matter.
    """
    if finding.due is not None or finding.severity is Severity.EXPOSED:
        return None
    if finding.pointer.split("/")[1:2] not in ([], [_METADATA]):
        return None
    shown = next((e for e in catalog.exchanges if e.ordinal == finding.exchange), None)
    place = f"/{_METADATA}"
    return None if shown is None else blocked_by_shape(shown, catalog.session.schemas, place)


def _blocked_by_shape(catalog: Catalog, error: Exception) -> Blocked | None:
    """Return what blocks a check that failed to read an answer which breaks its schema, or None.

    Such an answer is the catalog's fault and a finding of the schema check, not an error of the
    suite. Any other exception is an error of the suite, whatever else the catalog answered.
    """
    body = reads_ill_shaped(error, catalog.handed_out)
    if body is None:
        return None
    blocked = blocked_by_shape(body.exchange, catalog.session.schemas)
    if blocked and body.exchange.check != catalog.check_id:
        return Blocked(blocked.by, blocked.reason, exchange=SETUP_ORDINAL)
    return blocked


def _unclaimed(catalog: Catalog, ordinal: int | None) -> str | None:
    """Return the operation whose answer was judged, if the catalog does not claim to serve it.

    The operations of the check's own requirements are claimed, or it had not run: this is one that
    it only reads with (verdict-rules 9).
    """
    shown = next((e.operation for e in catalog.exchanges if e.ordinal == ordinal), None)
    return None if shown is None or catalog.claims(shown) else shown


def _not_to_be_had(catalog: Catalog, ending: Exception) -> NotOffered | None:
    """Return what ends a check instead, if an arrange step needs what this catalog has not got.

    A config without `endpoints` leaves clients with the document's default list; what of it is not
    served is one finding (verdict-rules 9), and 405 and 501 say that without doubt. A catalog of
    which the user says that it deletes nothing (``accept_residue``) is judged by its drops alone;
    one that has deleted something is not such a catalog.
    """
    if not isinstance(ending, Blocked):
        return None
    operation_id, _, due = ending.by.partition(".")
    refused = next((e for e in catalog.exchanges if e.ordinal == ending.exchange), None)
    if refused is None or refused.operation != operation_id or due not in {"200", "204"}:
        return None
    offer, operation = catalog.session.offer, catalog.contract.operations[operation_id]
    if offer.endpoints is None and operation_id not in offer.held_to and refused.status in _UNKNOWN:
        why = "the config lists no endpoints, and of the default ones"
        return NotOffered(f"{why} {operation_id} is answered {refused.status}")
    kept = refused.status in _NO_DROP or not catalog.session.deleted
    if catalog.target.accept_residue and operation.facts.action is Action.DROP and kept:
        why = f"{operation_id} is answered {refused.status}, and the run accepts what stays"
        return NotOffered(why)
    return None


def _excuse(check: Check, catalog: Catalog, finding: Finding) -> tuple[Skip | None, bool]:
    """Return why a refusal is no fault where the document lists the answer, and if that is certain.

    403: the credentials lack the right (L4547), which a catalog may look at before it looks for
    anything else; so it is no fault either where a refusal was due, unless the run sees that they
    have the right to other requests of the operation (and a 400 that was due is a MUST), or they
    were not shown at all. 406, where a success was due and the operation's table has it: the
    catalog does not support it (L4562, verdict-rules 6).
    """
    due = finding.due
    if due is None:
        return None, True
    shown = [e for e in catalog.exchanges if e.ordinal == finding.exchange and e.operation]
    if not shown:
        return None, True
    operation_id, status = str(shown[-1].operation), shown[-1].status
    if due.all_refusal and 400 <= (status or 0) < 500:
        later = newest(_since(catalog, operation_id, each) for each in due.single or {status})
        if is_newer(later, catalog.session.spec):
            why = f"that {operation_id} is answered {due} is said since Iceberg {later}"
            return Skip(SkipKind.SPEC_VERSION, why), True
    listed = catalog.session.contract.operations[operation_id].responses
    certain = due.all_success or (due.any_refusal and check.level is not Level.MUST)
    if status == 403 and "403" in listed and (certain or 401 not in due.single):
        why = f"{operation_id} answered 403: run with credentials that may do this"
        return Skip(SkipKind.MISSING_FIXTURE, why, operation_id), certain
    if due.all_success and Reply(shown[-1], catalog.session.schemas).unsupported:
        return Skip(SkipKind.NOT_APPLICABLE, f"{operation_id} answered 406: not supported"), True
    return None, True


def _since(catalog: Catalog, operation_id: str, status: int | None) -> str:
    """Return the release that brought a status of an operation; the first one if none has it."""
    contract = catalog.session.contract
    named = str(status) in contract.operations[operation_id].responses
    kind, name = RefKind.RESPONSE, f"{operation_id}.{status}"
    return contract.since(Ref(kind, name) if named else Ref(RefKind.OPERATION, operation_id))


def _summary(finding: Finding) -> str:
    where = f" at {finding.pointer}" if finding.pointer else ""
    detail = f" ({finding.detail})" if finding.detail else ""
    return f"expected {finding.expected}, got {finding.actual}{where}{detail}"


def _left_out(without: Collection[str]) -> str:
    """Return in words what a check was judged without, or "" if it was judged whole."""
    return f"judged without {', '.join(without)}, which the catalog lacks" if without else ""


def _make(check: Check, outcome: Outcome, **facts: Any) -> Verdict:
    return Verdict(
        check=check.id,
        title=check.title,
        group=check.group,
        level=check.level,
        requirements=check.proves,
        operations=check.operations,
        profile=check.profile,
        outcome=outcome,
        **facts,
    )
