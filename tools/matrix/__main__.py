"""Judge the full kill matrix, or report on the one that was judged last.

`python -m tools.matrix` judges what has not been judged since its sources changed, and writes
`kills.txt` when every defect is done; interrupted, it goes on where it was. `--slice 3/20` judges
a part, `-j 2` in two processes. `python -m tools.matrix --report` says what each check is good for.
"""

import argparse
import signal
import sys
from pathlib import Path

from icecheck.contract import load
from icecheck.mock_server.defects import defects
from tools.matrix.digests import Digests
from tools.matrix.kept import Kept
from tools.matrix.plan import VERSION, Plan, judging_checks, reach_of, slice_of
from tools.matrix.report import known_of, report, requests_of
from tools.matrix.running import judge_missing, rows_of
from tools.matrix.table import FILE, read_table, write_table

CACHE = Path(".matrix")


def main(arguments: list[str] | None = None) -> int:
    """Judge a slice or report; returns 1 if a defect could not be judged."""
    parser = argparse.ArgumentParser(prog="tools.matrix", description=__doc__)
    parser.add_argument(
        "--slice", type=_part, default=(1, 1), help="the part of the defects, such as 3/20"
    )
    parser.add_argument("-j", dest="processes", type=int, default=1, help="processes")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where judged cells are kept")
    parser.add_argument("--file", type=Path, default=FILE, help="where the whole matrix is")
    parser.add_argument("--report", action="store_true", help="report, and judge nothing")
    options = parser.parse_args(arguments)
    index, of = options.slice
    every = [*defects().values()]
    contract = load(VERSION)
    checks = judging_checks(contract)
    if options.report:
        rows = read_table(options.file)
        if not rows:
            parser.error(f"no matrix in {options.file}: judge it first")
        print(report(rows, known_of(contract, checks, every), requests_of(checks)))
        return 0
    # Ended from outside as by its user: no process of it is left behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    plan = Plan(checks, reach_of(checks), Digests())
    kept = Kept(options.cache, f"{index}-of-{of}")
    failed = judge_missing(plan, slice_of(every, index, of), kept, options.processes)
    rows = rows_of(plan, every, kept)
    if len(rows) == len(every):
        write_table(rows, options.file)
    else:
        print(f"{len(every) - len(rows)} defects are still to be judged", file=sys.stderr)
    return 1 if failed else 0


def _part(text: str) -> tuple[int, int]:
    index, _, of = text.partition("/")
    if not 1 <= int(index) <= int(of):
        raise ValueError(text)
    return int(index), int(of)


if __name__ == "__main__":
    raise SystemExit(main())
