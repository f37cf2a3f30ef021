"""Tells what each check is good for, and which ones could be dropped."""

from collections.abc import Iterable, Mapping, Sequence

from icecheck.contract import Contract
from icecheck.judging.check import Check
from icecheck.judging.observed import Observed
from icecheck.judging.passive import passive_checks, passive_verdicts
from icecheck.mock_server.defects import Defect
from icecheck.proof.kill_matrix import judged_with
from tools.matrix.plan import VERSION
from tools.matrix.table import Row
from tools.matrix.worth import Known, Matrix, Worth, matrix_of, needless, worth_of

_COLUMNS = "requests  kills  alone  proofs alone  check"


def requests_of(checks: Iterable[Check]) -> dict[str, int]:
    """Return check -> the requests that it sends in a run of all of them on the faithful mock."""
    return {v.check: v.requests for v in judged_with((), checks, spec=VERSION) if not v.passive}


def known_of(contract: Contract, checks: Iterable[Check], defects: Iterable[Defect]) -> Known:
    """Return what the register says of these checks and defects, and of the passive checks."""
    defects = tuple(defects)
    seen = {passive: Observed(seen=1) for passive in passive_checks(contract)}
    proves = {v.check: v.requirements for v in passive_verdicts(seen, contract)}
    return Known(
        breaks={defect.name: defect.breaks for defect in defects},
        levels={d.name: contract.requirements[d.breaks].level for d in defects},
        proves=proves | {check.id: check.proves for check in checks},
    )


def report(rows: Sequence[Row], known: Known, requests: Mapping[str, int]) -> str:
    """Return the report as text."""
    matrix = matrix_of(rows, known)
    worths = worth_of(matrix, requests)
    never = sorted((w for w in worths if not w.alone), key=lambda w: (-w.requests, w.check))
    dropped = needless(matrix, worths)
    saved, total = sum(w.requests for w in dropped), sum(requests.values())
    return "\n".join(
        [
            f"{len(rows)} of {len(known.breaks)} defects, {len(worths)} checks, {total} requests.",
            "",
            "kills: the defects that a check finds at the level of what they break; alone: those",
            "that no other check finds; proofs alone: those that no other check about the same",
            "requirement finds. A check of races is never counted as the other one.",
            *_part("All checks", [_line(worth) for worth in worths], _COLUMNS),
            *_part(
                f"{len(never)} checks never kill alone; only they prove the requirements named, "
                "within: another check finds all that they find",
                [_line(worth) + _reasons(worth) for worth in never],
                _COLUMNS,
            ),
            *_part(
                f"{len(dropped)} checks can be dropped together, {saved} requests: each defect and "
                "each requirement of them keeps another check",
                [_line(worth) + _reasons(worth) for worth in dropped],
                _COLUMNS,
            ),
            *_part(
                "Defects that none of these checks finds at the level of what they break",
                _unfound(matrix),
            ),
            *_part(
                "Errors of the suite",
                [f"{r.defect}: {' '.join(r.errors)}" for r in rows if r.errors],
            ),
            "",
        ]
    )


def _part(title: str, lines: Sequence[str], columns: str = "") -> list[str]:
    return ["", f"{title}:", *([columns] if columns else []), *(lines or ["none"])]


def _line(worth: Worth) -> str:
    counts = f"{worth.requests:8}  {worth.kills:5}  {worth.alone:5}  {worth.proofs_alone:12}"
    return f"{counts}  {worth.check}"


def _reasons(worth: Worth) -> str:
    reasons = []
    if worth.rows_alone:
        reasons.append(f"only proof of {' '.join(worth.rows_alone)}")
    if worth.within:
        reasons.append(f"within {worth.within}")
    if worth.droppable:
        reasons.append("droppable")
    return f" ({'; '.join(reasons)})" if reasons else ""


def _unfound(matrix: Matrix) -> list[str]:
    return sorted(defect for defect, found in matrix.found.items() if not found)
