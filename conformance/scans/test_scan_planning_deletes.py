"""Checks of delete files in plans of every snapshot, and of the details in large plans.

Equality deletes and the data files to which they apply decide what is read: they are judged
exactly. Position deletes name their rows: an additional one changes nothing, a missing one does.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from icecheck.client.catalog import Catalog
from icecheck.client.planned_scan import answers, file_scan_tasks, planned
from icecheck.conformance.kit.manifest_files import (
    EQUALITY_DELETES,
    POSITION_DELETES,
    ManifestFiles,
    PlannedFile,
    given_files,
)
from icecheck.conformance.scans.planned_files import (
    HISTORY,
    MANY,
    PLANNED_DELETES,
    PLANNED_FILE,
    PLANNED_FILES,
    V2,
    expect_undecided,
)
from icecheck.conformance.scans.planned_history import ALL_OF, DRESSES, SOME_OF, dress
from icecheck.judging.check import generated_check
from icecheck.objects.reading import not_applicable
from icecheck.replies.expect import Reply, equal

Json = Any
Tasks = list[dict[str, Json]]


# ---- a history of deletes


@dataclass(frozen=True, slots=True)
class _Content:
    """The content of a snapshot: data file -> its equality and its position deletes, by name."""

    equality: dict[str, set[str]] = field(default_factory=dict)
    position: dict[str, set[str]] = field(default_factory=dict)

    def with_data(self, name: str) -> "_Content":
        return _Content({**self.equality, name: set()}, {**self.position, name: set()})

    def deleting(self, name: str, data: Iterable[str], kind: int) -> "_Content":
        """Return the content after a delete file that applies to these data files."""
        of_kind = self.equality if kind == EQUALITY_DELETES else self.position
        more = {each: {*of_kind[each], name} for each in data}
        if kind == EQUALITY_DELETES:
            return _Content({**self.equality, **more}, self.position)
        return _Content(self.equality, {**self.position, **more})

    def without(self, name: str) -> "_Content":
        """Return the content without a data or delete file."""

        def left(of_kind: dict[str, set[str]]) -> dict[str, set[str]]:
            return {data: deletes - {name} for data, deletes in of_kind.items() if data != name}

        return _Content(left(self.equality), left(self.position))


def _data(name: str, category: str) -> PlannedFile:
    return PlannedFile(f"{name}.parquet", category)


def _position(name: str, data: str, category: str) -> PlannedFile:
    return PlannedFile(
        f"{name}.parquet", category, content=POSITION_DELETES, refers_to=f"{data}.parquet"
    )


def _equality(name: str, category: str) -> PlannedFile:
    return PlannedFile(f"{name}.parquet", category, content=EQUALITY_DELETES)


Step = tuple[str, PlannedFile | str, Callable[[_Content], _Content]]

_STEPS: tuple[Step, ...] = (
    ("a1 is added", _data("a1", "a"), lambda c: c.with_data("a1")),
    ("b1 is added", _data("b1", "b"), lambda c: c.with_data("b1")),
    (
        "rows of a1 are deleted by position",
        _position("p1", "a1", "a"),
        lambda c: c.deleting("p1", ["a1"], POSITION_DELETES),
    ),
    ("a2 is added", _data("a2", "a"), lambda c: c.with_data("a2")),
    (
        "rows of partition a are deleted by value",
        _equality("e1", "a"),
        lambda c: c.deleting("e1", ["a1", "a2"], EQUALITY_DELETES),
    ),
    ("a3 is added", _data("a3", "a"), lambda c: c.with_data("a3")),
    (
        "rows of a3 are deleted by position",
        _position("p2", "a3", "a"),
        lambda c: c.deleting("p2", ["a3"], POSITION_DELETES),
    ),
    (
        "rows of partition a are deleted by value again",
        _equality("e2", "a"),
        lambda c: c.deleting("e2", ["a1", "a2", "a3"], EQUALITY_DELETES),
    ),
    ("b1 is removed, and manifests are written anew", "b1", lambda c: c.without("b1")),
    ("the first position deletes are removed", "p1", lambda c: c.without("p1")),
    ("b2 is added", _data("b2", "b"), lambda c: c.with_data("b2")),
    ("the first equality deletes are removed", "e1", lambda c: c.without("e1")),
)


def _bare(files: ManifestFiles, locations: Iterable[str]) -> list[str]:
    return [name.removesuffix(".parquet") for name in files.names_of(locations)]


def _expect_content(files: ManifestFiles, tasks: Iterable[Json], due: _Content, why: str) -> None:
    """Judge which data files are planned, and with which deletes."""
    deletes = {}
    for task in tasks:
        (data,) = _bare(files, [str(task["data-file"]["file-path"])])
        equal(data in deletes, False, symptom=PLANNED_FILES, detail=f"{why}: {data} twice")
        deletes[data] = _bare(files, (str(d["file-path"]) for d in task["delete-files"]))
    equal(sorted(deletes), sorted(due.equality), symptom=PLANNED_FILES, detail=why)
    positions = set().union(*due.position.values())
    for data, found in deletes.items():
        by_value = [name for name in found if name not in positions]
        detail = f"{why}: of {data}"
        equal(by_value, sorted(due.equality[data]), symptom=PLANNED_DELETES, detail=detail)
        named = sorted(due.position[data] & {*found})
        equal(named, sorted(due.position[data]), symptom=PLANNED_DELETES, detail=detail)


@generated_check("planTableScan.deletes-of-a-snapshot", needs=HISTORY)
def test_deletes_after_every_step(catalog: Catalog) -> None:
    """Each snapshot is planned with the deletes that it has, not with earlier or later ones."""
    with given_files(catalog) as files:
        contents: list[tuple[int, str, _Content]] = []
        for at in range(0, len(_STEPS), 2):
            with files.at_once():
                contents += _two_steps(files, at, contents[-1][2] if at else _Content())
            now = contents[at + at // 2 % 2]  # one of the two; in the end the other of each
            _expect_snapshot(catalog, files, now, at // 2, f"after {contents[-1][1]}")
        for turn in range(len(_STEPS) // 2):
            then = contents[2 * turn + 1 - turn % 2]
            _expect_snapshot(catalog, files, then, turn + 3, "in the end")


def _two_steps(
    files: ManifestFiles, start: int, content: _Content
) -> Iterator[tuple[int, str, _Content]]:
    """Take the step at this place and the next one; yield the snapshot and content of each."""
    for step, change, becomes in _STEPS[start : start + 2]:
        content = becomes(content)
        if isinstance(change, str):
            yield files.remove(f"{change}.parquet"), step, content
        else:
            yield files.append(change), step, content


def _expect_snapshot(
    catalog: Catalog,
    files: ManifestFiles,
    snapshot: tuple[int, str, _Content],
    turn: int,
    when: str,
) -> None:
    """Judge the scan of a snapshot in one of the forms."""
    snapshot_id, then, due = snapshot
    asked, members = dress(turn)
    found = planned(catalog, files.table, snapshot_id=snapshot_id, **members)
    why = f"{when}: scan as when {then}, with {asked}"
    _expect_content(files, found.tasks, due, why)


# ---- plans that are fetched in parts


def _given_many(files: ManifestFiles) -> tuple[int, _Content]:
    """Add many files, each with its own position deletes; return the snapshot and its content."""
    content = _Content()
    names = [f"{number:03}" for number in range(MANY)]
    with files.at_once():
        files.append(*(_data(name, "ab"[at % 2]) for at, name in enumerate(names)))
        files.append(_equality("e", "b"))
        snapshot_id = files.append(
            *(_position(f"p{name}", name, "ab"[at % 2]) for at, name in enumerate(names))
        )
    for name in names:
        content = content.with_data(name)
    content = content.deleting("e", names[1::2], EQUALITY_DELETES)
    for name in names:
        content = content.deleting(f"p{name}", [name], POSITION_DELETES)
    return snapshot_id, content


def _tasks(replies: Iterable[Reply]) -> Tasks:
    return [task for reply in replies for task in file_scan_tasks(reply)]


def _asked(catalog: Catalog, files: ManifestFiles, snapshot_id: int, **members: Json) -> Reply:
    reply = catalog.plan_table_scan(files.table, snapshot_id=snapshot_id, **members).expect(200)
    body = reply.json()
    if body.get("status") == "completed" and not body.get("plan-tasks"):
        raise not_applicable(f"the catalog plans {MANY} files at once, without plan tasks")
    return reply


@generated_check("fetchScanTasks.deletes", needs=V2)
def test_deletes_of_plan_tasks(catalog: Catalog) -> None:
    """Every part of a large plan has the delete files of its data files."""
    with given_files(catalog) as files:
        snapshot_id, due = _given_many(files)
        # With nothing else: `of-its-plan`.
        for asked in ("a filter", "everything"):
            members = DRESSES[asked]
            reply = _asked(catalog, files, snapshot_id, **members)
            tasks = _tasks(answers(catalog, files.table, reply))
            _expect_content(files, tasks, due, f"large scan with {asked}")


def _given_sizes(files: ManifestFiles) -> tuple[int, dict[str, Json]]:
    """Add many files of many sizes; return the snapshot and the due members of each file."""
    made = [
        PlannedFile(f"{at:03}.parquet", "ab"[at % 2], size_bytes=2**32 + at) for at in range(MANY)
    ]
    snapshot_id = files.append(*made)
    spec_id = files.spec(0)["spec-id"]
    due = {
        file.name: {
            "file-size-in-bytes": file.size_bytes,
            "record-count": 10,
            "spec-id": spec_id,
            "partition": [file.category],
        }
        for file in made
    }
    return snapshot_id, due


@generated_check("fetchScanTasks.facts", needs=V2)
def test_facts_of_plan_tasks(catalog: Catalog) -> None:
    """Every part of a large plan has the right facts and residual filter of each file."""
    with given_files(catalog) as files:
        snapshot_id, due = _given_sizes(files)
        reply = _asked(catalog, files, snapshot_id, filter=SOME_OF, stats_fields=["id"])
        tasks = _tasks(answers(catalog, files.table, reply))
        names = [files.names_of([task["data-file"]["file-path"]])[0] for task in tasks]
        equal(sorted(names), sorted(due), symptom=PLANNED_FILES)
        for name, task in zip(names, tasks, strict=True):
            for member, value in due[name].items():
                told = task["data-file"].get(member)
                equal(told, value, symptom=PLANNED_FILE.of(member), detail=f"of {name}")
            expect_undecided(task, f"of {name}")


@generated_check("fetchScanTasks.stats-fields", needs=V2)
def test_statistics_of_plan_tasks(catalog: Catalog) -> None:
    """Files come with the statistics that were asked for in every part of a large plan."""
    with given_files(catalog) as files:
        snapshot_id, _ = _given_sizes(files)
        reply = _asked(catalog, files, snapshot_id, stats_fields=["id"])
        for part, answer in enumerate(answers(catalog, files.table, reply), start=1):
            for task in file_scan_tasks(answer):
                keys = (task["data-file"].get("lower-bounds") or {}).get("keys") or []
                detail = f"part {part} of a plan"
                equal(1 in keys, True, symptom=PLANNED_FILE.of("lower-bounds"), detail=detail)


@generated_check("fetchScanTasks.of-its-plan", needs=HISTORY)
def test_plans_beside_each_other(catalog: Catalog) -> None:
    """A plan gives the files of its scan, whatever is planned, cancelled or committed meanwhile."""
    with given_files(catalog) as files:
        snapshot_id, due = _given_many(files)
        later = files.append(_data("later", "a"))
        plain = _asked(catalog, files, snapshot_id)
        other = _asked(catalog, files, later, filter=ALL_OF)
        first, second = _in_turns(
            answers(catalog, files.table, plain), answers(catalog, files.table, other)
        )
        _expect_content(files, first, due, "one of two plans that are fetched in turns")
        _expect_content(files, second, due.with_data("later"), "the other of two plans")

        kept = _asked(catalog, files, snapshot_id)
        cancelled = (
            catalog.plan_table_scan(files.table, snapshot_id=later)
            .expect(200)
            .json()
            .get("plan-id")
        )
        with files.at_once():
            files.append(_data("newest", "a"))
            files.remove("000.parquet", f"{MANY - 1}.parquet", "e.parquet")
        if isinstance(cancelled, str) and catalog.claims("cancelPlanning"):
            catalog.cancel_planning(files.table, cancelled)  # it may be over, and forgotten
        _expect_content(
            files,
            _tasks(answers(catalog, files.table, kept)),
            due,
            "a plan before commits, fetched after them and after another was cancelled",
        )
        found = planned(catalog, files.table, snapshot_id=snapshot_id)
        _expect_content(files, found.tasks, due, "the same snapshot planned anew")


def _in_turns(one: Iterator[Reply], other: Iterator[Reply]) -> tuple[Tasks, Tasks]:
    """Fetch two plans alternately, one answer at a time."""
    pairs = [*zip_longest(one, other)]
    return _tasks(a for a, _ in pairs if a), _tasks(b for _, b in pairs if b)
