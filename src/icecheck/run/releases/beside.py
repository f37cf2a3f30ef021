"""The verdict on the same answers by the document of an older release, beside that of the run."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from icecheck.client.session import SessionSummary
from icecheck.contract import Contract, Level, contract_for
from icecheck.findings.causes import causes_of
from icecheck.findings.conclusion import conclude, profiles_of
from icecheck.findings.verdict import Group, Outcome, Run, Verdict
from icecheck.judging.check import Check
from icecheck.judging.observed import Observed
from icecheck.judging.settling import settled_with_passive
from icecheck.run.collect import collect
from icecheck.run.releases.demands import demanded_by, demanded_verdicts
from icecheck.targets.offer import Offer

_WRONG = frozenset({Outcome.FAIL, Outcome.BLOCKED, Outcome.ERROR})


def told_beside(
    release: str,
    run: Run,
    groups: Iterable[Group],
    observed: Mapping[str, Observed],
    session: SessionSummary,
    offer: Offer | None,
    by: Contract,
    left_out: Collection[str] = (),
) -> dict[str, Any]:
    """Return as JSON what an older release says of the catalog, and which checks end otherwise.

    ``observed`` are its passive checks, ``by`` is the contract of the run, ``left_out`` the checks
    that were not asked for. In
    `differs`, `outcome` and `level` are those of the run, `there` is how the check ends by the
    older document, None where that does not demand it, and `changed` says what the requirement was
    before.
    """
    contract = contract_for(release)
    bound = collect(groups, contract, disruptive=True)
    in_part = {c.profile for c in bound if c.id in left_out and c.level is Level.MUST}
    own = [verdict for verdict in run.verdicts if not verdict.passive]
    known, passive = settled_with_passive(
        _demanded(release, own, bound), session.permitted, observed, contract
    )
    verdicts = (*known, *demanded_verdicts(passive, release, contract))
    causes = causes_of(verdicts, contract)
    profiles = profiles_of(verdicts, offer, contract, in_part)
    conclusion = conclude(
        verdicts,
        profiles,
        causes,
        complete=run.complete,
        residue=bool(session.residue),
        tripped=run.tripped,
    )
    return {
        "id": f"iceberg-rest/{release}",
        "status": conclusion.status,
        "headline": conclusion.headline,
        "exit_code": conclusion.exit_code,
        "profiles": [
            {"id": each.id, "claimed": each.claimed, "status": each.status} for each in profiles
        ],
        "differs": _differing(run.verdicts, verdicts, by),
    }


def _demanded(
    release: str, verdicts: Iterable[Verdict], bound: Iterable[Check]
) -> tuple[Verdict, ...]:
    """Return the verdicts of checks as a release demands them.

    A requirement may be a SHOULD in one document and a MUST in another; what a document does not
    demand is skipped, or left out where its contract does not know of it.
    """
    demanded, skipped = demanded_by(release, bound)
    due, not_due = {c.id: c for c in demanded}, {verdict.check: verdict for verdict in skipped}
    found = []
    for verdict in verdicts:
        if verdict.check in not_due:
            found.append(not_due[verdict.check])
        elif (check := due.get(verdict.check)) is not None:
            found.append(
                replace(
                    verdict,
                    level=check.level,
                    profile=check.profile,
                    requirements=check.proves,
                    operations=check.operations,
                )
            )
    return tuple(found)


def _differing(
    own: Sequence[Verdict], other: Sequence[Verdict], contract: Contract
) -> list[dict[str, Any]]:
    """Return the checks that end otherwise by the other document, where anything is wrong."""
    theirs = {verdict.check: verdict for verdict in other}
    ours = {verdict.check: verdict for verdict in own}
    rows = []
    for check in dict.fromkeys((*ours, *theirs)):
        mine, there = _due(ours.get(check)), _due(theirs.get(check))
        ends = [(v.outcome, v.level) if v else None for v in (mine, there)]
        wrong = any(v is not None and v.outcome in _WRONG for v in (mine, there))
        shown = mine or there
        if shown is None or not wrong or ends[0] == ends[1]:
            continue
        rows.append(
            {
                "check": check,
                "title": shown.title,
                "level": str(mine.level) if mine else None,
                "outcome": str(mine.outcome) if mine else None,
                "there_level": str(there.level) if there else None,
                "there": str(there.outcome) if there else None,
                "changed": _changed(shown, contract),
                "summary": shown.summary,
            }
        )
    return rows


def _due(verdict: Verdict | None) -> Verdict | None:
    return None if verdict is None or verdict.skip is not None else verdict


def _changed(verdict: Verdict, contract: Contract) -> str | None:
    rows = [contract.requirements.get(id_) for id_ in verdict.requirements]
    return next((row.changed for row in rows if row is not None and row.changed), None)
