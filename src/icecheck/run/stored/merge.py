"""Makes one run out of several that judged parts of one catalog, such as the shards of a CI."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from icecheck.contract import Contract, Level
from icecheck.findings.causes import causes_of
from icecheck.findings.conclusion import conclude, profiles_of
from icecheck.findings.expected_failures import (
    NOTHING_EXPECTED,
    EntryFailure,
    EntryMatch,
    Expectations,
    FailedEntry,
)
from icecheck.findings.verdict import Capability, Group, Outcome, Run, SkipKind, Verdict
from icecheck.reports.joined import contract_of
from icecheck.run.collect import collect
from icecheck.targets.offer import Offer
from icecheck.targets.target import Target, UsageError

_RANK = (Outcome.FAIL, Outcome.PASS, Outcome.BLOCKED, Outcome.ERROR, Outcome.SKIP)
"""Which outcome of a check that several parts have counts: what was judged, a failure first."""
_GRAVEST = ("false-acceptance", "false-advertising", "served-but-undeclared", "supported")
_ONE_OF = "one-of-several-runs"
_SAME: dict[str, Callable[[Run], Any]] = {
    "documents": lambda run: run.facts["spec"]["sha256"],
    "releases of the suite": lambda run: run.facts["suite"]["version"],
    "sets of requirements": lambda run: run.facts["suite"]["requirement_set_sha256"],
    "catalogs": lambda run: run.facts["target"]["implementation"],
    "configurations of the catalog": lambda run: run.facts["target"]["fingerprint"],
    "isolations": lambda run: run.facts["config"]["isolation"],
}
"""What the parts of one run have in common, and how an error calls it."""


def merge(runs: Sequence[Run]) -> Run:
    """Return one run with the verdicts of all, its causes, profiles and gate computed anew.

    Of a check that several judged, a failure counts, then a pass; that they differ is an
    observation. The run is complete if all are. Times are those of the whole, latencies the longest
    of any part. Raises UsageError when the runs are not parts of one.
    """
    _expect_parts(runs)
    contract = contract_of(runs[0])
    verdicts = _verdicts(runs)
    causes = causes_of(verdicts, contract)
    facts = _facts(runs)
    profiles = profiles_of(
        verdicts, _offer(facts["target"]), contract, _in_part(verdicts, contract)
    )
    tripped = next((run for run in runs if run.tripped), None)
    expectations = _expectations(runs, verdicts)
    conclusion = conclude(
        verdicts,
        profiles,
        causes,
        complete=all(run.complete or run.tripped for run in runs),
        residue=bool(facts["safety"]["residue"]),
        tripped=tripped is not None,
        expectations=expectations,
    )
    return Run(
        run_id=_id_of(runs),
        generated_at=max(run.generated_at for run in runs),
        complete=all(run.complete for run in runs),
        status=conclusion.status,
        headline=tripped.headline if tripped else conclusion.headline,
        exit_code=conclusion.exit_code,
        exit_reason=conclusion.exit_reason,
        verdicts=verdicts,
        causes=causes,
        capabilities=_capabilities(runs),
        profiles=profiles,
        observations=(*_observations(runs), *_contradictions(runs)),
        facts=facts,
        expectations=expectations,
    )


def _expect_parts(runs: Sequence[Run]) -> None:
    if len(runs) < 2:
        raise UsageError("name two runs or more: the parts of one")
    if len({run.run_id for run in runs}) < len(runs):
        raise UsageError(f"a run is named twice: {', '.join(run.run_id for run in runs)}")
    for words, fact in _SAME.items():
        if any(fact(run) != fact(runs[0]) for run in runs):
            raise UsageError(
                f"the runs are of different {words}: put them side by side with `report matrix`"
            )


def _id_of(runs: Sequence[Run]) -> str:
    digest = hashlib.sha256(" ".join(run.run_id for run in runs).encode()).hexdigest()
    return f"m{digest[:11]}"


def _verdicts(runs: Iterable[Run]) -> tuple[Verdict, ...]:
    """Return one verdict for each check, in the order in which the parts have them."""
    found: dict[str, Verdict] = {}
    for run in runs:
        for verdict in run.verdicts:
            had = found.get(verdict.check)
            if had is None or _counts_more(verdict, had):
                found[verdict.check] = verdict
    return tuple(found.values())


def _counts_more(new: Verdict, old: Verdict) -> bool:
    if new.outcome is old.outcome is Outcome.SKIP:
        return _is_left_out(old) and not _is_left_out(new)
    return _RANK.index(new.outcome) < _RANK.index(old.outcome)


def _is_left_out(verdict: Verdict) -> bool:
    """Return whether a check was not run because of what the user chose for this part."""
    return verdict.skip is not None and verdict.skip.kind is SkipKind.EXCLUDED_BY_USER


def _contradictions(runs: Sequence[Run]) -> Iterable[dict[str, Any]]:
    """Yield an observation for each check that one part passes and another fails."""
    outcomes: dict[str, set[Outcome]] = {}
    for run in runs:
        for verdict in run.verdicts:
            outcomes.setdefault(verdict.check, set()).add(verdict.outcome)
    for check, had in outcomes.items():
        if {Outcome.PASS, Outcome.FAIL} <= had:
            yield {
                "id": f"{_ONE_OF}.{check}",
                "question": f"{check} was judged by several of the runs: did they agree?",
                "answer": "it passed in one and failed in another; the failure counts",
            }


def _observations(runs: Iterable[Run]) -> tuple[dict[str, Any], ...]:
    """Return what the parts observed, each observation once."""
    found: dict[str, dict[str, Any]] = {}
    for run in runs:
        for each in run.observations:
            found.setdefault(str(each.get("id")), each)
    return tuple(found.values())


def _offer(target: dict[str, Any]) -> Offer:
    """Return what the catalog offers, as far as profiles depend on it."""
    return Offer.read({"endpoints": target["endpoints"]}, Target(target["url"]))


def _in_part(verdicts: Iterable[Verdict], contract: Contract) -> frozenset[str]:
    """Return the profiles of which no part judged some MUST check of its groups."""
    verdicts = tuple(verdicts)
    judged = {v.check for v in verdicts if not _is_left_out(v)}
    groups = {v.group for v in verdicts} | {Group.CHECKS, Group.GENERATED, Group.SCENARIOS}
    every = collect(groups, contract)
    return frozenset(c.profile for c in every if c.level is Level.MUST and c.id not in judged)


def _capabilities(runs: Sequence[Run]) -> tuple[Capability, ...]:
    """Return one row for each capability: the gravest that a part says of it."""
    found: dict[str, Capability] = {}
    for run in runs:
        for row in run.capabilities:
            had = found.get(row.id)
            if had is None:
                found[row.id] = row
                continue
            first, second = sorted((had, row), key=_gravity)
            checks = tuple(dict.fromkeys((*first.checks, *second.checks)))
            found[row.id] = replace(first, checks=checks)
    return tuple(found.values())


def _gravity(row: Capability) -> int:
    known = row.assessment in _GRAVEST
    return (
        _GRAVEST.index(row.assessment) if known else len(_GRAVEST) + (row.assessment == "unknown")
    )


def _expectations(runs: Sequence[Run], verdicts: Sequence[Verdict]) -> Expectations:
    """Return how the verdicts that count compare with the entries of the user's one file.

    Raises UsageError if the parts were gated by different files.
    """
    files = [run.expectations.file for run in runs if run.expectations.file]
    if not files:
        return NOTHING_EXPECTED
    if len({file.sha256 for file in files}) > 1 or len(files) < len(runs):
        raise UsageError(
            "the runs were gated by different files of expectations: give each the same"
        )
    by_run = [run.expectations.by_check for run in runs]
    chosen = {v.check: v for v in verdicts}
    marks: dict[str, EntryMatch] = {}
    for run, marked in zip(runs, by_run, strict=True):
        for verdict in run.verdicts:
            if chosen[verdict.check] is verdict and verdict.check in marked:
                marks[verdict.check] = marked[verdict.check]
    return Expectations(files[0], tuple(marks.values()), _unmet(runs, marks))


def _unmet(runs: Sequence[Run], marks: Mapping[str, EntryMatch]) -> tuple[FailedEntry, ...]:
    """Return the entries that some part finds unmet, without those that another part confirms.

    What shows it has to be an outcome that counts.
    """
    confirmed = {mark.entry.number for mark in marks.values() if mark.excuses}
    found: dict[int, FailedEntry] = {}
    for run in runs:
        for each in run.expectations.unmet:
            refuted = each.kind is EntryFailure.STALE and each.entry.number in confirmed
            if not refuted and marks.keys() >= {*each.checks}:
                found.setdefault(each.entry.number, each)
    return tuple(found[number] for number in sorted(found))


def _facts(runs: Sequence[Run]) -> dict[str, dict[str, Any]]:
    first = runs[0].facts
    every = [run.facts for run in runs]
    config, target = first["config"], first["target"]
    return first | {
        "suite": first["suite"] | {"checks_total": _announced(runs)},
        "target": target
        | {"accommodations": _together(f["target"].get("accommodations", ()) for f in every)},
        "config": config
        | {
            "groups": _together(f["config"]["groups"] for f in every),
            "globs": _together(f["config"]["globs"] for f in every),
            "witnessed_only": any(f["config"]["witnessed_only"] for f in every),
            "command": " && ".join(filter(None, (f["config"]["command"] for f in every))),
        },
        "timing": _timing([f["timing"] for f in every]),
        "safety": first["safety"]
        | {count: sum(f["safety"][count] for f in every) for count in ("created", "deleted")}
        | {"residue": _together(f["safety"]["residue"] for f in every)},
        "artifacts": {
            f"{run.run_id}-{kind}": row | {"name": f"{run.run_id}/{row['name']}"}
            for run in runs
            for kind, row in run.facts.get("artifacts", {}).items()
        },
    }


def _announced(runs: Iterable[Run]) -> int:
    return len({v.check for run in runs for v in run.verdicts if not v.passive})


def _together(lists: Iterable[Iterable[Any]]) -> list[Any]:
    return list(dict.fromkeys(each for some in lists for each in some))


def _timing(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    operations: dict[str, dict[str, Any]] = {}
    for row in (row for part in parts for row in part.get("operations", ())):
        had = operations.get(row["id"])
        operations[row["id"]] = row if had is None else _slower(had, row)
    return {
        "started_at": min(part["started_at"] for part in parts),
        "finished_at": max(part["finished_at"] for part in parts),
        "wall_s": round(sum(part["wall_s"] for part in parts), 2),
        "requests": sum(part["requests"] for part in parts),
        "latency_ms": {
            share: max(part["latency_ms"][share] for part in parts) for share in ("p50", "p95")
        },
        "operations": list(operations.values()),
    }


def _slower(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    times = {key: max(one[key], other[key]) for key in ("p50_ms", "p95_ms", "max_ms")}
    return one | times | {"requests": one["requests"] + other["requests"]}
