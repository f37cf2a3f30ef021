"""``python -m tests.lawful.drawn [DESIGN …]``: draw many requests and steps for lawful designs.

What a run draws is a sample. This sends as many requests and takes as many steps as are asked for,
on each design, and prints what was blamed at MUST, blocked or an error of the suite. Exit code 1:
something was.
Half an hour for all designs on two cores, so it is no part of the tests. ``faithful`` is the mock
without any freedom.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from unittest.mock import patch

from icecheck.conformance.fuzzed.replaying import OPERATION_OF
from icecheck.findings.verdict import Group, Outcome
from icecheck.run.collect import collect
from icecheck.scenarios.random import test_namespaces_and_tables as histories
from icecheck.scenarios.random.plans import Sizes, draw_plans
from tests.kit.contracts import CONTRACT
from tests.lawful.designs import DESIGNS, FREEDOMS
from tests.lawful.freedom import Freedom
from tests.lawful.serving import Said, said_of_design

FAITHFUL = "faithful"
_JUDGED = frozenset({Outcome.PASS, Outcome.FAIL})
_STEPS_IN_A_HISTORY = (30, 40)


@dataclass(slots=True)
class Drawn:
    """What was drawn for one design: requests and steps, and each verdict that is not its due."""

    requests: Counter[str] = field(default_factory=Counter)
    steps: int = 0
    blames: list[str] = field(default_factory=list)


def main() -> int:
    """Draw, and print what each design was asked and what went wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.lawful.drawn")
    parser.add_argument("designs", nargs="*", metavar="DESIGN", help="all, unless some are named")
    parser.add_argument("--cases", type=int, default=1750, help="drawn for each operation")
    parser.add_argument("--histories", type=int, default=32, help="of 30 to 40 steps each")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    known = {FAITHFUL, *DESIGNS}
    if unknown := set(options.designs) - known:
        parser.error(f"no design {', '.join(sorted(unknown))}")
    names = options.designs or sorted(known)
    drawn = {name: Drawn() for name in names}
    with ProcessPoolExecutor(options.processes) as pool:
        tasks = [
            pool.submit(drawn_requests, check_id, names, options.cases, options.seed)
            for check_id in OPERATION_OF
        ]
        tasks.append(pool.submit(drawn_histories, names, options.histories, options.seed))
        for done, task in enumerate(as_completed(tasks), start=1):
            _add(drawn, task.result())
            print(f"{done} of {len(tasks)} parts done", file=sys.stderr, flush=True)
    for name, each in drawn.items():
        print(f"{name}: {each.requests.total()} requests, {each.steps} steps", *each.blames)
    return 1 if any(each.blames for each in drawn.values()) else 0


def _add(drawn: Mapping[str, Drawn], more: Mapping[str, Drawn]) -> None:
    for name, each in more.items():
        drawn[name].requests += each.requests
        drawn[name].steps += each.steps
        drawn[name].blames += each.blames


def drawn_requests(check_id: str, names: Iterable[str], cases: int, seed: int) -> dict[str, Drawn]:
    """Send drawn requests of one operation to each design."""
    found: dict[str, Drawn] = {}
    checks = [c for c in collect((Group.GENERATED,), CONTRACT) if c.id == check_id]
    operation = OPERATION_OF[check_id]
    for name in names:
        said = said_of_design(_freedoms(name), checks, 1, seed=seed, fuzz_cases=cases)
        found[name] = Drawn(Counter({operation: said.sent[operation]}), blames=_undue(said))
    return found


def drawn_histories(names: Iterable[str], many: int, seed: int) -> dict[str, Drawn]:
    """Follow drawn histories on each design."""
    found: dict[str, Drawn] = {}
    sizes = Sizes(many, *_STEPS_IN_A_HISTORY)
    checks = [c for c in collect((Group.SCENARIOS,), CONTRACT) if c.id == histories.CHECK]
    steps = sum(len(plan) for plan in draw_plans(seed, sizes))
    with patch.object(histories, "USUAL", sizes):
        for name in names:
            said = said_of_design(_freedoms(name), checks, 1, seed=seed)
            judged = any(v.check == histories.CHECK and v.outcome in _JUDGED for v in said.verdicts)
            found[name] = Drawn(steps=steps if judged else 0, blames=_undue(said))
    return found


def _undue(said: Said) -> list[str]:
    """Return a line for each verdict that a lawful design must not get."""
    blocked = [v for v in said.verdicts if v.outcome is Outcome.BLOCKED]
    return [*said.blames, *(f"{v.check}: {v.outcome} {v.summary}" for v in blocked)]


def _freedoms(name: str) -> list[Freedom]:
    return [FREEDOMS[each] for each in DESIGNS[name].freedoms] if name in DESIGNS else []


if __name__ == "__main__":
    sys.exit(main())
