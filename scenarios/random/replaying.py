"""Runs a history, and shrinks a failing one to the few steps that matter."""

from collections.abc import Sequence

from icecheck.client.catalog import Catalog
from icecheck.judging.probes import has_capability
from icecheck.replies.expect import Violation
from icecheck.scenarios.random.machine import Divergence, play, tidy
from icecheck.scenarios.random.shrinking import shrunk
from icecheck.scenarios.random.steps import (
    AddSnapshot,
    RemoveRef,
    SetRef,
    StageCreate,
    Step,
    UpdateProperties,
    in_words,
    operations_of,
    to_json,
)

__all__ = ["SHRINKING_REQUESTS_MAX", "replay"]

SHRINKING_REQUESTS_MAX = 800


def replay(catalog: Catalog, steps: Sequence[Step]) -> None:
    """Run a history; if the catalog differs from the model, report the shortest failing history.

    Steps that the catalog does not offer are left out. Raises Violation with the steps in words and
    as JSON (``steps.from_json`` reads it); Unreachable when the catalog gives no answer.
    """
    keeps_properties = has_capability(catalog, "namespace-properties")
    offered = _offered(catalog, steps)
    found = play(catalog, offered, keeps_properties=keeps_properties)
    tidy(catalog)
    if found is None:
        return
    shortest, found = _shortest(catalog, offered, found, keeps_properties=keeps_properties)
    words = "; ".join(in_words(step) for step in shortest)
    where = found.finding.detail
    detail = f"{where}; the shortest history: {words}; replay {to_json(shortest)}"
    raise Violation.again(found.finding, detail=detail)


def _shortest(
    catalog: Catalog, steps: Sequence[Step], found: Divergence, *, keeps_properties: bool
) -> tuple[tuple[Step, ...], Divergence]:
    """Shrink a failing history within a budget of requests, and run the result once more."""
    limit = len(catalog.exchanges) + SHRINKING_REQUESTS_MAX

    def played(candidate: Sequence[Step]) -> Divergence | None:
        # The state is compared once, at the end: the failing step is the last one.
        every = len(candidate)
        seen = play(catalog, candidate, compare_every=every, keeps_properties=keeps_properties)
        tidy(catalog)
        return seen

    prefix = tuple(steps[: found.index + 1])
    shortest = shrunk(
        prefix,
        lambda candidate: played(candidate) is not None,
        lambda: len(catalog.exchanges) < limit,
    )
    again = played(shortest)
    # A failure that does not repeat is reported as it was first seen.
    return (shortest, again) if again is not None else (prefix, found)


def _offered(catalog: Catalog, plan: Sequence[Step]) -> tuple[Step, ...]:
    """Leave out steps whose optional operation or capability the catalog lacks."""
    kept = [s for s in plan if all(catalog.claims(o) for o in operations_of(s))]
    return tuple(s for s in kept if all(has_capability(catalog, need) for need in _needs(s)))


def _needs(step: Step) -> tuple[str, ...]:
    match step:
        case UpdateProperties():
            return ("namespace-properties",)
        case StageCreate():
            return ("stage-create",)
        case AddSnapshot():
            return ("metadata-only-snapshots",)
        case SetRef() | RemoveRef():
            # A catalog that lacks one of these refuses such a ref for various reasons.
            return ("metadata-only-snapshots", "branches", "tags")
    return ()
