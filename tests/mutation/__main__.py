"""``python -m tests.mutation [--children N]``: how much of what changes in code the tests notice.

Runs mutmut over the modules of ``[tool.mutmut]`` in pyproject.toml, which takes half an hour or
more, and prints how many mutants of each the tests noticed. Exit code 1: in one module that was
less than the share due. Equivalent mutants count as missed; docs/mutation.md has their reasons.
"""

import argparse
import subprocess
import sys
from collections import Counter, defaultdict

SHARE_DUE = 0.90
NOTICED = frozenset({"killed", "timeout", "segfault", "caught by type check"})


def main() -> int:
    """Change the code, run the tests, and hold each module to the share that is due."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("--children", type=int, default=2, help="how many at the same time")
    options = parser.parse_args()
    mutmut = (sys.executable, "-m", "mutmut")
    # Its progress is megabytes of spinner, its exit code says nothing of what survived.
    command = (*mutmut, "run", "--max-children", str(options.children))
    run = subprocess.run(command, capture_output=True, check=False, text=True)
    if run.returncode != 0:
        print(run.stdout[-2000:], run.stderr[-2000:], sep="\n", file=sys.stderr)
        return 1
    told = subprocess.run(
        (*mutmut, "results", "--all", "true"), capture_output=True, check=True, text=True
    )
    return 0 if holds(told.stdout) else 1


def holds(results: str) -> bool:
    """Print each module's share and what went unnoticed; whether every one has the share due.

    A line of ``results`` is ``module.mutant: how it ended``. No mutants at all is no success.
    """
    ended: dict[str, Counter[bool]] = defaultdict(Counter)
    for line in results.splitlines():
        name, _, ending = line.strip().rpartition(": ")
        if not name:
            continue
        module = name.rpartition(".")[0]
        ended[module][ending in NOTICED] += 1
        if ending not in NOTICED:
            print(f"{ending}: {name}")
    for module, counts in sorted(ended.items()):
        print(f"{module}: {counts[True]} of {counts.total()} noticed ({_share(counts):.1%})")
    return bool(ended) and all(_share(counts) >= SHARE_DUE for counts in ended.values())


def _share(counts: Counter[bool]) -> float:
    return counts[True] / counts.total()


if __name__ == "__main__":
    sys.exit(main())
