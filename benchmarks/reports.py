"""Rendering a run of 5 000 checks with 50 000 exchanges, and 200 runs side by side.

CPU is compared with reading the same run.json by `json.loads`, memory with the size of the file.
"""

import json
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.kit.findings import a_finding
from tests.kit.finished_runs import finished, verdict

from icecheck.contract import load
from icecheck.findings.verdict import Evidence, Finding, Outcome, Run
from icecheck.reports.many.matrix import as_html, matrix
from icecheck.reports.many.stored import stored_runs
from icecheck.run.output import FORMATS

CHECKS, EXCHANGES_OF_EACH, RUNS = 5_000, 10, 200
BODY = json.dumps({"metadata": {"schemas": [{"id": n, "name": f"column_{n}"} for n in range(20)]}})


def evidence(ordinal: int) -> Evidence:
    """Return one exchange of a kilobyte and a half."""
    url = "http://catalog.test/v1/namespaces/a/tables/t"
    headers = "content-type: application/json"
    curl = f"curl -sS -X POST {url}"
    return Evidence(ordinal, "do", "updateTable", f"POST {url}", 200, BODY, headers, BODY, curl)


def long_run() -> Run:
    """Return a run in which every check fails, each with all its exchanges."""
    finding: Finding = a_finding("status", "409", "200", exchange=1)
    shown = tuple(map(evidence, range(1, EXCHANGES_OF_EACH + 1)))
    members: dict[str, Any] = {"summary": "expected 409, got 200", "findings": (finding,)}
    names = (f"family{n % 40}.check-{n}" for n in range(CHECKS))
    failed = [verdict(name, Outcome.FAIL, evidence=shown, **members) for name in names]
    run: Run = finished(*failed)
    return run


def cpu(work: Callable[[], object]) -> float:
    """Return the CPU seconds of one call."""
    started = time.process_time()
    work()
    return time.process_time() - started


def memory_mib() -> float:
    """Return the most memory that this process had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Measure in one run and print the ratios."""
    run = long_run()
    before = memory_mib()
    taken = {name: cpu(lambda render=render: render(run)) for name, render in FORMATS.items()}
    grown = memory_mib() - before
    text = FORMATS["run.json"](run)
    read = cpu(lambda: json.loads(text))
    print(
        f"{CHECKS} checks, {CHECKS * EXCHANGES_OF_EACH} exchanges, run.json {len(text) >> 20} MiB"
    )
    for name, seconds in taken.items():
        print(f"  {name:<12} {seconds:6.2f} s CPU  {seconds / read:5.1f} x reading run.json")
    share = grown * 2**20 / len(text)
    print(f"  memory       {grown:6.0f} MiB above the run  {share:4.1f} x run.json")
    few = replace(run, verdicts=run.verdicts[:900])
    stored = FORMATS["run.json"](replace(few, verdicts=tuple(_short(v) for v in few.verdicts)))
    many = [json.loads(stored) for _ in range(RUNS)]
    one = cpu(lambda: json.loads(stored))
    side = cpu(lambda: as_html(matrix(stored_runs(many), load("1.10.0").requirements)))
    print(
        f"{RUNS} runs of 900 checks side by side: {side:.2f} s CPU, {side / one:.0f} x reading one"
    )


def _short(each: Any) -> Any:
    return replace(each, evidence=each.evidence[:1])


if __name__ == "__main__":
    main()
