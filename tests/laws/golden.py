"""Golden files: they show a change in review. The list of debts only gets shorter."""

import difflib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "golden"
VARIABLE = "ICECHECK_UPDATE_GOLDEN"
"""If 1, golden files are written instead of compared, and paid debts are removed."""

_MESSAGE = (
    "{name} is not what was reviewed; if the change is meant, run this test with "
    f"{VARIABLE}=1 (CONTRIBUTING.md says which others) and look at what changed:\n"
)
DEBTS = "debt.txt"
_WANTED = {
    "requirement": "a check that proves it, or the reason for none in its row (not_tested)",
    "unkilled": f"a defect that fails the check in mock_server/defects (then {VARIABLE}=1)",
}
"""Kind of debt -> what is to be written instead."""
_DEBTS_HEAD = """\
# What is owed: one line for each, a kind and an id. Lines may go, and none may come. What is no
# longer owed fails the tests until its line is gone (ICECHECK_UPDATE_GOLDEN=1 strikes it out).
"""


def updating() -> bool:
    """Return whether golden files are to be written."""
    return os.environ.get(VARIABLE, "") not in {"", "0"}


def expect_golden(name: str, lines: Sequence[str], folder: Path = FOLDER) -> None:
    """Compare lines with a golden file, or write them; a failure shows the difference."""
    path = folder / name
    if updating():
        folder.mkdir(exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    before = reviewed(name, folder)
    difference = list(difflib.unified_diff(before, lines, "reviewed", "now", n=0, lineterm=""))
    assert not difference, _MESSAGE.format(name=name) + "\n".join(difference)


def reviewed(name: str, folder: Path = FOLDER) -> list[str]:
    """Return the lines of a golden file as they were reviewed last."""
    path = folder / name
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def expect_part(
    name: str, keys: Iterable[str], lines: Sequence[str], folder: Path = FOLDER
) -> None:
    """Compare only the lines of a golden file that begin with one of the keys, or write only these.

    A line is ``key | rest``; the file is sorted.
    """
    mine = frozenset(keys)
    known = reviewed(name, folder)
    before = [line for line in known if key_of(line) in mine]
    if updating():
        others = [line for line in known if key_of(line) not in mine]
        expect_golden(name, sorted([*others, *lines]), folder)
        return
    difference = list(difflib.unified_diff(before, lines, "reviewed", "now", n=0, lineterm=""))
    assert not difference, _MESSAGE.format(name=name) + "\n".join(difference)


def key_of(line: str) -> str:
    """Return the key of a line of a golden file."""
    return line.partition(" | ")[0]


def debts(kind: str, folder: Path = FOLDER) -> set[str]:
    """Return the ids of one kind in the list of debts."""
    return {owed for each, owed in _listed(folder) if each == kind}


def expect_debts(kind: str, owed: Iterable[str], folder: Path = FOLDER) -> None:
    """Check that the list of debts names exactly these ids of one kind.

    When updating, paid lines are removed; no line is ever added.
    """
    owed = set(owed)
    if updating():
        _strike_out(kind, owed, folder)
    listed = debts(kind, folder)
    new, paid = sorted(owed - listed), sorted(listed - owed)
    assert not new, f"new debts ({kind}), each wants {_WANTED.get(kind, 'its part')}: {new}"
    assert not paid, f"no longer owed ({kind}); set {VARIABLE}=1 to strike out: {paid}"


def _listed(folder: Path) -> list[tuple[str, str]]:
    path = folder / DEBTS
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    pairs = [line.split(" ", 1) for line in lines if line and not line.startswith("#")]
    return [(kind, owed) for kind, owed in pairs]


def _strike_out(kind: str, owed: set[str], folder: Path) -> None:
    kept = [(each, o) for each, o in _listed(folder) if each != kind or o in owed]
    text = "".join(f"{each} {o}\n" for each, o in sorted(kept))
    (folder / DEBTS).write_text(_DEBTS_HEAD + text, encoding="utf-8")
