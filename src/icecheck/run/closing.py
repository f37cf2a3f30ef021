"""The closing lines of a run: what is left, and which expectations are not met."""

from collections.abc import Sequence
from pathlib import Path

from icecheck.findings.telling.finding_card import one_line
from icecheck.findings.verdict import Run
from icecheck.ownership.ledger_file import clean_command

_UNMET_MAX = 10


def residue_lines(run: Run, ledgers: Sequence[Path]) -> list[str]:
    """Return what is left on the catalog, with the command that removes each ledger's objects."""
    residue = run.facts["safety"]["residue"]
    if not residue:
        return []
    left = f"left behind on the catalog: {', '.join(residue[:5])} ({len(residue)} in all)"
    url = run.facts["target"]["url"]
    return [f"{left}; {clean_command(url, ledger)}" for ledger in ledgers] or [left]


def unmet_lines(run: Run) -> list[str]:
    """Return a line for the file of expectations, and one for each entry that fails the gate."""
    file, unmet = run.expectations.file, run.expectations.unmet
    if file is None or not unmet:
        return []
    lines = [f"expectations: {len(unmet)} of {len(file.entries)} entries of {file.path} unmet"]
    for one in unmet[:_UNMET_MAX]:
        more = f" and {len(one.checks) - 1} more" if len(one.checks) > 1 else ""
        shown = f" [{one.checks[0]}{more}]" if one.checks else ""
        kind = str(one.kind).replace("-", " ")
        lines.append(f"  {kind}: {one_line(f'{one.entry.words}: {one.why}{shown}')}")
    if len(unmet) > _UNMET_MAX:
        lines.append(f"  … and {len(unmet) - _UNMET_MAX} more in the report")
    return lines
