"""What explains a failed check: an effect that the catalog acknowledges and never keeps.

A check that renames a table and does not find it tells what the catalog makes of every rename, not
what the check is about. So a failure is followed by a look at what the check relied on. Each
effect is tried once in a run, in its plainest form, and only after a check that needs it has
failed: a catalog that keeps everything is never asked.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from icecheck.client.catalog import Catalog
from icecheck.judging.explaining.effects import EFFECTS, Effect
from icecheck.ownership.effects import read_body
from icecheck.replies.expect import Blocked, NotOffered, Violation
from icecheck.replies.ill_shaped import IllShaped, ill_shaped_reads_named
from icecheck.wire.exchange import Exchange, Step
from icecheck.wire.unreachable import Unreachable


def explained(
    catalog: Catalog, proves: Sequence[str], error: Violation | Blocked
) -> Blocked | None:
    """Return what blocks a failed check instead of its finding, or None.

    That is the requirement of an effect on which the check relies and which it does not prove,
    where no load shows that effect after the plainest request for it (verdict-rules 19 and 22).
    """
    if catalog.session.undropped:
        return None  # what a trial makes would stay
    finding = error.finding if isinstance(error, Violation) else None
    exchanges = [*catalog.setup_exchanges, *catalog.exchanges]
    for effect in EFFECTS:
        relied = any(
            effect.relies(sent) and (finding is None or effect.explains(sent, finding))
            for sent in _sent(exchanges, effect.operations)
        )
        if not relied or _is_kept(catalog, effect):
            continue
        if effect.requirement in proves:
            return None  # the finding of this effect, which later ones may need
        why = f"{effect.requirement}: the catalog acknowledges it, and no load shows it"
        return Blocked(effect.requirement, why)
    return None


def _sent(exchanges: Sequence[Exchange], operations: Sequence[str]) -> Iterator[Any]:
    """Yield the bodies of a check's requests; a refusal may be due to the same lack."""
    for each in exchanges:
        if each.operation in operations and each.step is not Step.UNDO:
            yield read_body(each.request_body)


def _is_kept(catalog: Catalog, effect: Effect) -> bool:
    """Return whether a catalog keeps an effect; one that cannot be tried counts as kept."""
    session, key = catalog.session, effect.requirement
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
