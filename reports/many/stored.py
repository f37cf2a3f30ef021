"""What a report about several runs needs of each one, read off its run.json."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from icecheck.contract import Level

_WORST = ("fail", "blocked", "error", "pass", "skip")
NOT_RUN = "not-run"
_RANK = {level: at for at, level in enumerate(Level)}


@dataclass(frozen=True, slots=True)
class StoredProfile:
    """A profile of one run: whether the catalog claims it, its status, and its MUST checks."""

    id: str
    claimed: bool
    status: str
    passed: int
    failed: int
    blocked: int

    @property
    def words(self) -> str:
        """The status, and of a profile that does not conform how many required checks fail."""
        status = self.status.replace("-", " ")
        counts = [f"{self.failed} fail"] * (self.failed > 0)
        counts += [f"{self.blocked} blocked"] * (self.blocked > 0)
        return f"{status} ({', '.join(counts)})" if counts else status


@dataclass(frozen=True, slots=True)
class StoredCause:
    """A finding of one run: the id is the same in every run that finds the same."""

    id: str
    title: str
    level: Level


@dataclass(frozen=True, slots=True)
class StoredRun:
    """One run among several.

    ``results`` is requirement id -> the worst outcome of its checks; ``levels`` and ``profile_of``
    say of each requirement what the run's checks say. A record without requirements has the ids of
    its checks instead. ``judged_by`` is the version of the contract. ``totals`` counts outcomes.
    """

    label: str
    run_id: str
    generated_at: str
    suite: str
    spec: str
    judged_by: str
    status: str
    complete: bool
    exit_code: int
    exit_reason: str
    totals: Mapping[str, int]
    profiles: Mapping[str, StoredProfile]
    causes: tuple[StoredCause, ...]
    results: Mapping[str, str]
    levels: Mapping[str, Level]
    profile_of: Mapping[str, str]

    @property
    def identity(self) -> dict[str, str | int | bool]:
        """What JSON about several runs says of each."""
        return {
            "label": self.label,
            "run_id": self.run_id,
            "generated_at": self.generated_at,
            "suite": self.suite,
            "spec": self.spec,
            "status": self.status,
            "complete": self.complete,
            "exit_code": self.exit_code,
        }

    @property
    def day(self) -> str:
        """The day on which it ended, in UTC."""
        return self.generated_at[:10]

    @property
    def verdict(self) -> str:
        """The verdict in words, and whether the run is incomplete."""
        return self.status.replace("-", " ") + " (incomplete)" * (not self.complete)


def stored_runs(documents: Iterable[Mapping[str, Any]]) -> tuple[StoredRun, ...]:
    """Return the runs in the given order; runs with one name are told apart by day, then by id.

    A generator of documents is read one by one, so that only one of them is in memory.
    """
    return told_apart([stored(document) for document in documents])


def told_apart(runs: Sequence[StoredRun]) -> tuple[StoredRun, ...]:
    """Return the runs; those with one name are told apart by their day, then by their id."""
    for tell_apart in (_with_day, _with_id):
        labels = [run.label for run in runs]
        runs = [tell_apart(run) if labels.count(run.label) > 1 else run for run in runs]
    return tuple(runs)


def _with_day(run: StoredRun) -> StoredRun:
    return replace(run, label=f"{run.label}, {run.day}")


def _with_id(run: StoredRun) -> StoredRun:
    return replace(run, label=f"{run.label}, {run.run_id}")


def stored(document: Mapping[str, Any]) -> StoredRun:
    """Return what a report about several runs needs of one run.json."""
    verdict, checks = document["verdict"], document["checks"]
    outcomes: defaultdict[str, list[str]] = defaultdict(list)
    levels: dict[str, Level] = {}
    profile_of: dict[str, str] = {}
    for check in checks:
        level = Level(check["severity"])
        for requirement in check.get("requirements") or (check["id"],):
            outcomes[requirement].append(check["outcome"])
            levels[requirement] = min(level, levels.get(requirement, level), key=_RANK.__getitem__)
            profile_of.setdefault(requirement, next(iter(check.get("profile") or ()), ""))
    implementation = document["target"].get("implementation") or {}
    return StoredRun(
        label=str(implementation.get("project") or document["target"].get("url")),
        run_id=document["run_id"],
        generated_at=str(document.get("generated_at", "")),
        suite=str(document["suite"].get("version")),
        spec=document["spec"]["id"],
        judged_by=str(document["suite"].get("requirement_set")).rpartition("/")[2],
        status=str(verdict.get("status")),
        complete=document["complete"],
        exit_code=verdict.get("exit_code", 0),
        exit_reason=str(verdict.get("exit_reason", "")),
        totals=_totals([check["outcome"] for check in checks]),
        profiles={p["id"]: _profile(p) for p in document.get("profiles", ())},
        causes=tuple(map(_cause, document.get("causes", ()))),
        results={id_: _worst(found) for id_, found in outcomes.items()},
        levels=levels,
        profile_of=profile_of,
    )


def _totals(outcomes: Sequence[str]) -> dict[str, int]:
    return {each: outcomes.count(each) for each in ("pass", "fail", "blocked", "skip", "error")}


def _worst(outcomes: Sequence[str]) -> str:
    return next((each for each in _WORST if each in outcomes), NOT_RUN)


def _profile(row: Mapping[str, Any]) -> StoredProfile:
    must = row["must"]
    return StoredProfile(
        id=row["id"],
        claimed=row["claimed"],
        status=row["status"],
        passed=must["pass"],
        failed=must["fail"],
        blocked=must["blocked"],
    )


def _cause(row: Mapping[str, Any]) -> StoredCause:
    return StoredCause(row["id"], row["title"], Level(row["level"]))
