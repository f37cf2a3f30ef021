"""Tries operations that a catalog does not claim, once each: reported, never judged (rule 9)."""

from collections.abc import Sequence
from dataclasses import replace

from icecheck.client.catalog import Catalog
from icecheck.client.session import Session
from icecheck.contract import Action, Object
from icecheck.findings.never_worked import NOT_SERVED_STATUSES
from icecheck.findings.statuses import STATUS
from icecheck.findings.verdict import Outcome, Verdict
from icecheck.judging.check import Check
from icecheck.judging.judge import judge
from icecheck.replies.expect import Violation
from icecheck.replies.matching import find
from icecheck.targets.target import Namespace
from icecheck.wire.unreachable import Unreachable

_KINDS = (Object.NAMESPACE, Object.TABLE, Object.VIEW)
_SUCCESSES = ("200", "204")


def try_undeclared(session: Session, checks: Sequence[Check]) -> dict[str, str]:
    """Run the success checks of unlisted operations; return operationId -> what was seen.

    Only operations whose check is among ``checks`` are tried, and only if objects made for it can
    be removed again. The values are "works", "broken", "absent" and "not-probed". None of this is a
    verdict, and the exchanges are not left in the session for passive judgement.
    """
    unclaimed = [
        id_
        for id_ in session.contract.operations
        if not session.offer.claims(id_, session.contract)
    ]
    if not unclaimed:
        return {}
    offer, before = session.offer, len(session.exchanges)
    probed = dict(session.capabilities)
    seen: dict[str, str] = {}
    try:
        removable = {kind: _can_remove(session, kind) for kind in _KINDS}
        session.offer = replace(offer, held_to=offer.held_to | frozenset(unclaimed))
        for operation_id in unclaimed:
            check = _of_success(operation_id, checks)
            if check is None or not all(
                removable[kind] for kind in _made_for(session, operation_id)
            ):
                continue
            verdict = judge(check, Catalog(session, f"undeclared.{operation_id}{session.worker}"))
            seen[operation_id] = _seen(operation_id, verdict)
    except Unreachable:
        pass  # nothing more can be tried
    finally:
        session.offer = offer
        # What is probed with an operation that is not served tells of that operation.
        session.capabilities = probed
        del session.exchanges[before:]
    return seen


def _of_success(operation_id: str, checks: Sequence[Check]) -> Check | None:
    due = {f"{operation_id}.{status}" for status in _SUCCESSES}
    mine = (c for c in checks if c.operations[:1] == (operation_id,) and due & {*c.proves})
    return next(mine, None)


def _made_for(session: Session, operation_id: str) -> list[Object]:
    """Return the kinds of objects that trying an operation may make."""
    facts = session.contract.operations[operation_id].facts
    if facts.object is Object.VIEW or facts.action in {Action.CREATE, Action.REGISTER}:
        return list(dict.fromkeys((Object.NAMESPACE, facts.object)))
    return [Object.NAMESPACE]


def _can_remove(session: Session, kind: Object) -> bool:
    """Return whether an object can be removed: its drop is claimed, or found to be served.

    A drop that answers a missing object as the document does is served.
    """
    drops = session.contract.operation_that(Action.DROP, kind)
    if session.target.accept_residue or session.offer.claims(drops, session.contract):
        return True
    if session.target.read_only:
        return False
    catalog = Catalog(session, f"undeclared.{drops}{session.worker}")
    namespace = catalog.new_namespace_name()
    names: dict[str, str | Namespace] = {"namespace": namespace}
    if kind is not Object.NAMESPACE:
        names[kind] = catalog.new_name()
    reply = catalog.call(drops, names)
    try:
        said = find(reply.json(), ("error", "type"))
    except Violation:
        return False
    return reply.status == 404 and isinstance(said, str) and said.startswith("NoSuch")


def _seen(operation_id: str, verdict: Verdict) -> str:
    if verdict.outcome is Outcome.PASS:
        return "works"
    if verdict.outcome is not Outcome.FAIL:
        return "not-probed"
    first = verdict.findings[0]
    shown = {e.operation for e in verdict.evidence if e.ordinal == first.exchange}
    if (
        first.symptom == STATUS
        and first.answered in NOT_SERVED_STATUSES
        and shown == {operation_id}
    ):
        return "absent"
    return "broken"
