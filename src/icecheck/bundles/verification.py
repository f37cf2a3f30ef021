"""Verifies a bundle: its hashes, its report, and each verdict, derived again from its exchanges."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from icecheck.bundles.bundle import Bundle, BundleUnusable
from icecheck.bundles.comparing import (
    differing_conclusion,
    differing_rows,
    left_over,
    misquoted,
    second_differences,
)
from icecheck.bundles.differences import Difference
from icecheck.bundles.integrity import (
    breaches_of_schema,
    differing_hashes,
    differing_members,
    recorded_in,
    report_in,
    with_known_operations,
)
from icecheck.bundles.options import release_of
from icecheck.bundles.replayed_run import Replayed, replayed
from icecheck.bundles.second.passive import SecondOpinion, second_opinion
from icecheck.contract import contract_for
from icecheck.findings.never_worked import unserved_operations
from icecheck.findings.verdict import Outcome
from icecheck.reports import run_json
from icecheck.targets.target import UsageError
from icecheck.wire.exchange import Exchange


@dataclass(frozen=True, slots=True)
class Verification:
    """What the verification of a bundle has shown.

    ``replayed`` counts the verdicts that the checks themselves gave again, ``passive`` those that
    were read off the exchanges by both judges. ``only_read`` are the checks that were judged from
    their exchanges only, by the reason. ``compared`` counts the exchanges whose body both
    validators have judged. ``suite`` is the version of icecheck that made the run, or "" if its
    report does not say.
    """

    run_id: str
    differences: tuple[Difference, ...]
    replayed: int = 0
    passive: int = 0
    exchanges: int = 0
    compared: int = 0
    disagreements: int = 0
    only_read: Mapping[str, Sequence[str]] = field(default_factory=dict)
    suite: str = ""


def verified(bundle: Bundle) -> Verification:
    """Verify a bundle without a catalog and without its files.

    Raises BundleUnusable where a report or the exchanges cannot be read at all, and nothing else
    shows that they were changed.
    """
    changed = tuple(differing_hashes(bundle))
    try:
        document = report_in(bundle)
        exchanges = recorded_in(bundle)
    except BundleUnusable as unusable:
        if not changed:
            raise
        broken = Difference("the bundle", "a report and its exchanges", str(unusable))
        return Verification(str(bundle.manifest.get("run_id")), (*changed, broken))
    malformed = tuple(breaches_of_schema(bundle))
    if not malformed:
        return _derived(
            document, exchanges, (*changed, *differing_members(bundle, document, exchanges))
        )
    try:
        apart = tuple(differing_members(bundle, document, exchanges))
        return _derived(document, exchanges, (*changed, *malformed, *apart))
    except (AttributeError, LookupError, TypeError, UsageError, ValueError):
        # What is no report of ours may lack anything.
        return Verification(document["run_id"], (*changed, *malformed))


def _derived(
    document: Mapping[str, Any], exchanges: Sequence[Exchange], known: Sequence[Difference]
) -> Verification:
    exchanges, strange = with_known_operations(exchanges, contract_for(release_of(document)))
    again = replayed(document, exchanges)
    derived = run_json.document(again.run)
    opinion = _opinion_on(exchanges, again)
    stated: list[dict[str, Any]] = document["checks"]
    found = [*known, *strange, *_differences(document, derived, again, exchanges)]
    found += second_differences(stated, opinion)
    by_reason: defaultdict[str, list[str]] = defaultdict(list)
    for check_id, why in again.only_read.items():
        by_reason[why].append(check_id)
    active = [row["id"] for row in stated if not row["passive"]]
    return Verification(
        document["run_id"],
        tuple(dict.fromkeys(found)),
        replayed=sum(id_ not in again.only_read for id_ in active),
        passive=len(stated) - len(active),
        exchanges=len(exchanges),
        compared=opinion.compared,
        disagreements=len(opinion.disagreements),
        only_read=by_reason,
        suite=document["suite"]["version"],
    )


def _differences(
    document: Mapping[str, Any],
    derived: Mapping[str, Any],
    again: Replayed,
    exchanges: Sequence[Exchange],
) -> Iterator[Difference]:
    if again.failure:
        yield Difference("the run", "a session with the catalog", again.failure)
    rows: list[dict[str, Any]] = document["checks"]
    only_read = [row for row in rows if row["id"] in again.only_read]
    # A stated verdict is compared with itself, but for what a row does not tell of it.
    own = {row["id"]: row for row in only_read}
    yield from differing_rows(rows, [own.get(row["id"], row) for row in derived["checks"]])
    yield from left_over(again.left)
    for check_id in again.unknown:
        yield Difference(check_id, "a check", f"none of this icecheck in {derived['spec']['id']}")
    for check_id in again.missing:
        yield Difference(check_id, "no verdict in a complete run", "a check that was to be run")
    recorded: defaultdict[str, list[Exchange]] = defaultdict(list)
    for exchange in exchanges:
        recorded[exchange.check].append(exchange)
    yield from misquoted(only_read, recorded)
    wrong = {str(o) for o in (Outcome.FAIL, Outcome.BLOCKED, Outcome.ERROR)}
    in_part = any(row["outcome"] in wrong for row in only_read)
    yield from differing_conclusion(document, derived, in_part=in_part)


def _opinion_on(exchanges: Sequence[Exchange], again: Replayed) -> SecondOpinion:
    unserved = unserved_operations(again.run.verdicts)
    return second_opinion(exchanges, again.judged, again.contract, tuple(unserved.items()))
