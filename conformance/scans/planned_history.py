"""Tables with a known history, and the forms of scans of its snapshots and ranges.

Each snapshot has a name here, and its files are known after every step.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from icecheck.conformance.kit.manifest_files import ManifestFiles, PlannedFile

Json = Any
Dress = Mapping[str, Json]

# Every row of every file matches these filters: a file that they exclude is a wrong result.
ALL_OF: Json = {"type": "gt-eq", "term": "id", "value": 0}
# Some rows of every file match it, and some do not.
SOME_OF: Json = {"type": "gt-eq", "term": "id", "value": 5}
_IN_CAPITALS: Json = {"type": "lt-eq", "term": "ID", "value": 9}

DRESSES: dict[str, Dress] = {
    "nothing else": {},
    "a selection": {"select": ["id"]},
    "a filter": {"filter": SOME_OF},
    "names in capitals": {
        "select": ["CATEGORY"],
        "filter": _IN_CAPITALS,
        "case_sensitive": False,
    },
    "statistics": {"stats_fields": ["id", "category"]},
    "the schema of the snapshot": {"use_snapshot_schema": True},
    "everything": {
        "select": ["id", "category"],
        "filter": ALL_OF,
        "case_sensitive": True,
        "use_snapshot_schema": True,
        "stats_fields": ["id"],
    },
}
"""Forms of a scan besides its snapshots; none of them excludes a file."""

SOME_DRESSES = {asked: DRESSES[asked] for asked in ("nothing else", "everything")}
"""The forms that are asked for again after a change, so that a plan kept from before shows."""


def dress(number: int) -> tuple[str, Dress]:
    """Return one of the forms, in rotation."""
    return [*DRESSES.items()][number % len(DRESSES)]


@dataclass(frozen=True, slots=True)
class _Point:
    """A snapshot: its id, its files, and the name of its parent."""

    snapshot_id: int
    files: tuple[str, ...]
    parent: str | None


class History:
    """Holds a table's snapshots by name, and the name of main's snapshot."""

    def __init__(self, files: ManifestFiles) -> None:
        self.files = files
        self.points: dict[str, _Point] = {}
        self.main: str | None = None

    def append(self, word: str, *names: str, ref: str = "main", after: str | None = None) -> None:
        """Commit a snapshot that adds files; ``after`` is its parent (default: main's snapshot)."""
        parent = after or self.main
        snapshot_id = self.files.append(*(PlannedFile(f"{n}.parquet") for n in names), ref=ref)
        self._enter(word, snapshot_id, (*self._files(parent), *names), parent, ref)

    def remove(self, word: str, name: str) -> None:
        """Commit a snapshot of main without a file."""
        snapshot_id = self.files.remove(f"{name}.parquet")
        kept = tuple(each for each in self._files(self.main) if each != name)
        self._enter(word, snapshot_id, kept, self.main, "main")

    def roll_back(self, word: str) -> None:
        """Commit that main is at an earlier snapshot again."""
        self.files.set_main(self.points[word].snapshot_id)
        self.main = word

    def due(self, word: str | None) -> list[str]:
        """Return the names of the files of a snapshot; none for None."""
        return sorted(f"{name}.parquet" for name in self._files(word))

    def _files(self, word: str | None) -> tuple[str, ...]:
        return () if word is None else self.points[word].files

    def _enter(
        self, word: str, snapshot_id: int, files: tuple[str, ...], parent: str | None, ref: str
    ) -> None:
        self.points[word] = _Point(snapshot_id, files, parent)
        if ref == "main":
            self.main = word


Step = Callable[[History], None]

WALK: dict[str, Step] = {
    "two files were appended": lambda h: h.append("first", "a", "b"),
    "a third file was appended": lambda h: h.append("second", "c"),
    "a branch got a file": lambda h: h.append("branch", "x", ref="audit", after="second"),
    "main got a file beside the branch": lambda h: h.append("third", "d"),
    "the branch got another file": lambda h: h.append("branch-2", "y", ref="audit", after="branch"),
    "a file was removed": lambda h: h.remove("removal", "a"),
    "a file was appended after the removal": lambda h: h.append("fifth", "e"),
    "main was rolled back": lambda h: h.roll_back("third"),
    "a file was appended after the rollback": lambda h: h.append("after", "f"),
    "main was set to the branch": lambda h: h.roll_back("branch-2"),
    "main was set back": lambda h: h.roll_back("after"),
}
"""Description -> step; each step adds a snapshot or moves main."""


@dataclass(frozen=True, slots=True)
class Range:
    """The snapshots after ``start`` up to ``end``, by name, and the files that they appended."""

    start: str
    end: str
    files: tuple[str, ...]
    appends_only: bool


def ranges(history: History) -> Iterator[Range]:
    """Yield every range of the history, on main, on branches and on rolled back snapshots.

    Every other end has an empty range too, which starts at the end; a catalog may refuse it.
    """
    for at, end in enumerate(history.points):
        if at % 2:
            yield Range(end, end, (), appends_only=False)
        added: tuple[str, ...] = ()
        appends_only = True
        word = end
        while (parent := history.points[word].parent) is not None:
            before = history.points[parent].files
            added += tuple(name for name in history.points[word].files if name not in before)
            appends_only = appends_only and set(before) <= set(history.points[word].files)
            yield Range(parent, end, added, appends_only)
            word = parent
