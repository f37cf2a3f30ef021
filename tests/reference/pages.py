"""The page of a catalog: its start, and below that the findings of its recorded run."""

from collections.abc import Mapping, Sequence
from typing import Any

from icecheck.findings.expectations import entry_for
from icecheck.findings.expected_failures import Expectation
from tests.reference import recording

_RECORDED = "Recorded "
_HEAD = "| level | cause | checks | whose doing |\n|---|---|---|---|\n"
_FOOT = """
`run.json` and `run.spark.json` are the runs without their exchanges; `expectations.toml` lets
`icecheck run` meet the same catalog with a gate that is satisfied.
"""


def write(name: str) -> None:
    """Write the records' part of the page, below the part about the start."""
    path = recording.DIRECTORY / name / "README.md"
    path.write_text(page_of(name, path.read_text("utf-8")), encoding="utf-8")


def page_of(name: str, page: str) -> str:
    """Return the page with everything from "Recorded" on taken from the records."""
    run, entries = recording.read(name), recording.entries(name)
    head, _, _ = page.partition(f"\n{_RECORDED}")
    return (
        f"{head}\n{_summary(run)} {_profiles(run)}\n\n## Findings\n\n{_table(run, entries)}"
        f"{_by_own_release(name)}{_with_spark(name)}{_FOOT}"
    )


def _by_own_release(name: str) -> str:
    if not recording.has(name, recording.OWN_RUN):
        return ""
    run, entries = (f(name, recording.OWN_RUN) for f in (recording.read, recording.entries))
    head = f"## By its own release ({run['spec']['id']})"
    return f"\n{head}\n\n{_summary(run)} {_profiles(run)}\n\n{_table(run, entries)}"


def _profiles(run: Mapping[str, Any]) -> str:
    claimed = (f"{p['id']} {p['status']}" for p in run["profiles"] if p["claimed"])
    return f"Profiles: {'; '.join(claimed)}."


def _with_spark(name: str) -> str:
    if not recording.has(name, recording.SPARK_RUN):
        return ""
    spark = recording.read(name, recording.SPARK_RUN)
    return f"\n## With Spark\n\n{_summary(spark)}\n\n{_table(spark, recording.entries(name))}"


def _summary(run: Mapping[str, Any]) -> str:
    totals, left = run["totals"], len(run["safety"]["residue"])
    return (
        f"{_RECORDED}{run['generated_at'][:10]}: "
        f"**{run['verdict']['status'].replace('-', ' ')}**; {totals['pass']} checks passed, "
        f"{totals['fail']} failed, {totals['blocked']} blocked, {totals['skip']} skipped;\n"
        f"{f'{left} objects were' if left else 'nothing was'} left behind."
    )


def _table(run: Mapping[str, Any], entries: Sequence[Expectation]) -> str:
    """Return the table of causes with their judgements, if there are any."""
    rows = [_row(cause, run, entries) for cause in run["causes"]]
    if not rows:
        return "Nothing was found.\n"
    silent = sum("Document silent: " in row and "Server: " not in row for row in rows)
    return (
        f"{len(rows)} causes, {len(rows) - silent} the server's, {silent} where the document is "
        "silent. None is the suite's: what was is mended (docs/decisions).\n\n"
        f"{_HEAD}{''.join(rows)}"
    )


def _row(cause: Mapping[str, Any], run: Mapping[str, Any], entries: Sequence[Expectation]) -> str:
    own = [c for c in run["checks"] if c.get("cause") == cause["id"]]
    told = [entry_for(c["id"], cause["id"], entries) for c in own]
    reasons = dict.fromkeys(entry.reason for entry in told if entry is not None)
    blocked = f" + {len(cause['blocked'])} blocked" if cause["blocked"] else ""
    whose = "; ".join(f"{reason[0].upper()}{reason[1:]}" for reason in reasons)
    return f"| {cause['level']} | {cause['title']} | {len(cause['checks'])}{blocked} | {whose} |\n"
