"""What explains a failed check: an effect that the catalog acknowledges and never keeps.

A check that renames a table and does not find it tells what the catalog makes of every rename, not
what the check is about. So a failure is followed by a look at what the check relied on. Each
effect is tried once in a run, in its plainest form, and only after a check that needs it has
failed: a catalog that keeps everything is never asked.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from icecheck.client.catalog import Catalog
from icecheck.findings.never_worked import NOT_SERVED_STATUSES
from icecheck.findings.shared_symptoms import ANOMALY
from icecheck.findings.verdict import Finding
from icecheck.judging.explaining.effects import EFFECTS, Effect
from icecheck.ownership.effects import read_body
from icecheck.replies.expect import Blocked, NotOffered, Violation
from icecheck.replies.ill_shaped import IllShaped, ill_shaped_reads_named
from icecheck.wire.exchange import Exchange, Step
from icecheck.wire.unreachable import Unreachable

_NOT_KEPT = "tried in its plainest form, the catalog does not do so"


def explained(
    catalog: Catalog, proves: Sequence[str], error: Violation | Blocked
) -> Blocked | None:
    """Return what blocks a failed check instead of its finding, or None.

    That is the requirement of an effect on which the check relies and which it does not prove,
    where no load shows that effect after the plainest request for it (verdict-rules 19 and 22). An
    operation that is not served blocks by this only what can do without it.
    """
    if catalog.session.undropped:
        return None  # what a trial makes would stay
    if isinstance(error, Blocked) and error.by.startswith("schema."):
        return None  # an answer of another shape is no lost effect
    finding = error.finding if isinstance(error, Violation) else None
    exchanges = [*catalog.borrowed.setup, *catalog.exchanges]
    for effect in EFFECTS:
        relied = any(
            effect.relies(sent) and (finding is None or effect.explains(sent, finding))
            for sent in _sent(exchanges, effect.operations)
        )
        if effect.route:
            relied = relied and finding is not None and _is_left_out(finding, effect, catalog)
        if not relied or _is_kept(catalog, effect):
            continue
        if effect.requirement in proves:
            return None  # the finding of this effect, which later ones may need
        why = "no such route is served" if effect.route else _NOT_KEPT
        return Blocked(effect.requirement, f"{effect.requirement}: {why}")
    return None


def _is_left_out(finding: Finding, effect: Effect, catalog: Catalog) -> bool:
    """Return whether a finding is about a route that is none, and the check can do without it.

    What no order of requests explains may be due to any of them that is answered 404.
    """
    if effect.requirement not in catalog.asked:
        return False
    if finding.symptom.is_a(ANOMALY):
        return True
    return any(
        each.operation in effect.operations and each.status in NOT_SERVED_STATUSES
        for each in catalog.exchanges
        if each.ordinal == finding.exchange
    )


def _sent(exchanges: Sequence[Exchange], operations: Sequence[str]) -> Iterator[Any]:
    """Yield the bodies of a check's requests; a refusal may be due to the same lack."""
    for each in exchanges:
        if each.operation in operations and each.step is not Step.UNDO:
            yield read_body(each.request_body)


def _is_kept(catalog: Catalog, effect: Effect) -> bool:
    """Return whether a catalog keeps an effect; one that cannot be tried counts as kept."""
    session, key = catalog.session, f"{'served.' * effect.route}{effect.requirement}"
    with session.sharing:
        if key not in session.kept:
            prober = Catalog(session, session.probe_id(f"effect.{key}"))
            session.kept[key] = True
            try:
                with ill_shaped_reads_named(prober.handed_out):
                    kept = effect.is_kept(prober)
                claimed = all(prober.claims(e.operation) for e in prober.exchanges if e.operation)
                session.kept[key] = kept or not claimed
            except (Blocked, IllShaped, NotOffered, Unreachable, Violation):
                pass
            finally:
                prober.undo()
        return session.kept[key]
