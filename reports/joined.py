"""What several formats ask of a run: its contract, which cause a check has, what Spark can do."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from icecheck.contract import Contract, load
from icecheck.verdict import Cause, Group, Level, Outcome, Run, Verdict

__all__ = [
    "SparkRow",
    "causes_by_check",
    "checks_by_requirement",
    "contract_of",
    "families",
    "family_of",
    "gates",
    "result_of",
    "spark_rows",
    "verdicts_by_check",
]

_SPARK_WORDS = {Outcome.PASS: "works", Outcome.FAIL: "broken"}


@dataclass(frozen=True, slots=True)
class SparkRow:
    """One thing a Spark user does, and whether it works: works, broken or not-run, and why."""

    check: str
    title: str
    status: str
    why: str
    cause: str | None


def contract_of(run: Run) -> Contract:
    """Return the contract that the run was judged by."""
    return load(str(run.facts["spec"]["id"]).rpartition("/")[2])


def verdicts_by_check(run: Run) -> dict[str, Verdict]:
    """Return check id -> verdict."""
    return {v.check: v for v in run.verdicts}


def causes_by_check(run: Run) -> dict[str, Cause]:
    """Return check id -> the cause that fails or blocks it."""
    return {check: cause for cause in run.causes for check in (*cause.members, *cause.blocked)}


def checks_by_requirement(run: Run) -> Mapping[str, list[Verdict]]:
    """Return requirement id -> the verdicts that speak of it."""
    found: defaultdict[str, list[Verdict]] = defaultdict(list)
    for verdict in run.verdicts:
        for requirement in verdict.requirements:
            found[requirement].append(verdict)
    return found


def result_of(verdicts: Iterable[Verdict]) -> str:
    """Return what is known of a requirement: the worst outcome of its checks, or not-run."""
    outcomes = {v.outcome for v in verdicts}
    for worst in (Outcome.FAIL, Outcome.BLOCKED, Outcome.ERROR, Outcome.PASS):
        if worst in outcomes:
            return str(worst)
    return "not-run"


def family_of(verdict: Verdict) -> str:
    """Return the family a check is listed under: its group, and the operation or topic."""
    topic = verdict.check.split(".")[1 if verdict.check.startswith("schema.") else 0]
    return topic if verdict.group is Group.CHECKS else str(verdict.group)


def families(run: Run) -> dict[str, list[Verdict]]:
    """Return family -> its verdicts, in the order in which the run met them."""
    grouped: defaultdict[str, list[Verdict]] = defaultdict(list)
    for verdict in run.verdicts:
        grouped[family_of(verdict)].append(verdict)
    return dict(grouped)


def spark_rows(run: Run) -> tuple[SparkRow, ...]:
    """Return one row for each check that Spark itself ran or was to run."""
    causes = causes_by_check(run)
    return tuple(
        SparkRow(
            check=v.check,
            title=v.title,
            status=_SPARK_WORDS.get(v.outcome, "not-run"),
            why=v.summary,
            cause=causes[v.check].id if v.check in causes else None,
        )
        for v in run.verdicts
        if v.group is Group.SPARK
    )


def gates(verdict: Verdict) -> bool:
    """Whether a failure of this check would fail the gate."""
    return verdict.level is Level.MUST
