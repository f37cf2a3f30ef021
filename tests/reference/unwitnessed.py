"""The reasons why a required check has no witness, from runs, expectations and the register.

A check that no recorded catalog has passed was failed, skipped or blocked by each, or judges an
answer that none of them gave.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from icecheck.cli.listings.catalogue import CheckRow, check_rows
from icecheck.contract import Contract, Level
from icecheck.findings.expectations import entry_for
from icecheck.findings.expected_failures import Expectation
from tests.kit.contracts import CONTRACT
from tests.reference import recording
from tests.reference.catalogs import CATALOGS

FILE = Path(__file__).parents[2] / "src" / "icecheck" / "contract" / "unwitnessed.toml"
_HEAD = """\
# Why no recorded catalog has passed a check that is required: generated from the runs and the
# expectations of docs/catalogs by `python -m tests.reference --record`.

[reason]
"""
_NEWER = "newer than the recorded runs"
_STRAINING = "part of a run with --disruptive only, and the recorded runs are without"
_NEVER_GIVEN = "no recorded run had this answer to judge"


@dataclass(frozen=True, slots=True)
class Records:
    """The recorded runs: catalog name -> check id -> its row, and name -> expectations."""

    checks: Mapping[str, Mapping[str, Mapping[str, Any]]]
    entries: Mapping[str, Sequence[Expectation]]

    def passes(self, check: str) -> bool:
        """Return whether one of the catalogs has passed the check."""
        rows = (checks.get(check) for checks in self.checks.values())
        return any(row is not None and recording.is_witness(row) for row in rows)


def read_records() -> Records:
    """Return the records of all catalogs, in the order in which they are run."""
    recorded = {path.parent.name for path in recording.DIRECTORY.glob(f"*/{recording.RUN}")}
    names = [catalog.name for catalog in CATALOGS if catalog.name in recorded]
    return Records(
        {name: {c["id"]: c for c in recording.read(name)["checks"]} for name in names},
        {name: recording.entries(name) for name in names},
    )


def reasons(records: Records, contract: Contract | None = None) -> dict[str, tuple[str, ...]]:
    """Return check id -> the reasons, for each check of a MUST that no catalog has passed."""
    contract = CONTRACT if contract is None else contract
    rows = check_rows(contract)
    told: dict[str, tuple[str, ...]] = {}
    bare = [row for row in rows if _is_required(row) and not records.passes(row.id)]
    # Checks that bring an answer about come before those that judge its body.
    for row in sorted(bare, key=lambda row: row.passive):
        if row.passive:
            told[row.id] = _of_passive(row, rows, contract, records, told)
        else:
            told[row.id] = _of_active(row, records)
    return {row.id: told[row.id] for row in bare}


def newer_than_the_records(told: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return the checks that are newer than the recorded runs of the catalogs."""
    return [check for check, reason in told.items() if reason == (_NEWER,)]


def text_of(told: Mapping[str, tuple[str, ...]]) -> str:
    """Return the file that the package carries."""
    return _HEAD + "".join(
        f"{json.dumps(check)} = {_listed(told[check])}\n" for check in sorted(told)
    )


def _listed(phrases: Sequence[str]) -> str:
    if len(phrases) == 1:
        return json.dumps(phrases)
    return "[\n" + "".join(f"  {json.dumps(phrase)},\n" for phrase in phrases) + "]"


def _is_required(row: CheckRow) -> bool:
    return row.level == Level.MUST


def _of_active(row: CheckRow, records: Records) -> tuple[str, ...]:
    if any(row.id in checks for checks in records.checks.values()):
        return tuple(_by_catalog(row.id, records, lambda: _NEWER))
    return (_STRAINING,) if row.disruptive else (_NEWER,)


def _of_passive(
    row: CheckRow,
    rows: Sequence[CheckRow],
    contract: Contract,
    records: Records,
    told: Mapping[str, tuple[str, ...]],
) -> tuple[str, ...]:
    """Return why the answer was not given, or what was wrong with it where it was."""

    def unanswered() -> str:
        return _why_never_given(row, rows, contract, records, told)

    if any(row.id in checks for checks in records.checks.values()):
        return tuple(_by_catalog(row.id, records, unanswered))
    return (unanswered(),)


def _why_never_given(
    row: CheckRow,
    rows: Sequence[CheckRow],
    contract: Contract,
    records: Records,
    told: Mapping[str, tuple[str, ...]],
) -> str:
    for operation in row.operations:
        if all(_is_unclaimed(operation, checks) for checks in records.checks.values()):
            return f"no recorded catalog claims {operation}"
    (requirement,) = row.requirements
    if (why := contract.requirements[requirement].not_tested) is not None:
        return f"{_NEVER_GIVEN}: {why[0].lower()}{why[1:].rstrip('.')}"
    bringing = [r for r in rows if requirement in r.requirements and not r.passive]
    if passed := [r.id for r in bringing if records.passes(r.id)]:
        return f"{_NEVER_GIVEN}: who passed {', '.join(passed)} answered otherwise"
    due = [f"{r.id} ({'; '.join(told[r.id])})" for r in bringing if r.id in told]
    return f"{_NEVER_GIVEN}: it is due in {', '.join(due)}" if due else _NEVER_GIVEN


def _is_unclaimed(operation: str, checks: Mapping[str, Mapping[str, Any]]) -> bool:
    """Return whether a run skipped a check because nothing claims the operation."""
    skips = (check["skip"] for check in checks.values() if "skip" in check)
    words = (s["reason"].replace(",", "").split() for s in skips if s["kind"] == "not-declared")
    return any(operation in each for each in words)


def _by_catalog(check: str, records: Records, absent: Callable[[], str]) -> Iterator[str]:
    """Yield the outcome of a check, one phrase for all catalogs that share it."""
    who: dict[str, list[str]] = {}
    for name, checks in records.checks.items():
        phrase = _phrase(check, checks.get(check), records.entries[name])
        who.setdefault(phrase or absent(), []).append(name)
    for phrase, names in who.items():
        everybody = len(names) == len(records.checks)
        yield f"{'all recorded catalogs' if everybody else ', '.join(_short(names))}: {phrase}"


def _short(names: Iterable[str]) -> Iterator[str]:
    """Yield names with a shared beginning joined: `seaweedfs-4.48-open/secured`."""
    last: dict[str, list[str]] = {}
    for name in names:
        first, _, rest = name.rpartition("-")
        last.setdefault(first, []).append(rest)
    yield from (f"{first}-{'/'.join(rest)}" for first, rest in last.items())


def _phrase(
    check: str, row: Mapping[str, Any] | None, entries: Sequence[Expectation]
) -> str | None:
    if row is None:
        return None
    if row["outcome"] == "skip":
        return f"not asked, {row['skip']['reason']}"
    if row["outcome"] == "pass":
        return f"passes, {row['summary']}"
    entry = entry_for(check, row.get("cause"), entries)
    why = "not adjudicated yet" if entry is None else entry.reason
    return f"{'fails' if row['outcome'] == 'fail' else row['outcome']}, {why}"
