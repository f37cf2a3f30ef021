"""Checks of scans of a table with files and deletes of three partition specs.

An equality delete applies to the older files of its own spec and partition; one of an unpartitioned
spec applies to every older file (table format, Scan Planning).
"""

from collections.abc import Mapping
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.client.planned_scan import Planned, planned
from icecheck.conformance.kit.manifest_files import (
    CATEGORY_ID,
    EQUALITY_DELETES,
    SCHEMA,
    SPEC,
    Layout,
    ManifestFiles,
    PlannedFile,
    given_files,
)
from icecheck.conformance.scans.planned_files import (
    HISTORY,
    PLANNED_DELETES,
    PLANNED_FILE,
    PLANNED_FILES,
    expect_planned,
    expect_undecided,
    lost,
)
from icecheck.conformance.scans.planned_history import SOME_OF, dress
from icecheck.judging.check import generated_check
from icecheck.replies.expect import equal

Json = Any

BY_BOTH = bodies.partition_spec(
    bodies.partition_field(CATEGORY_ID, "identity", "category", 1000),
    bodies.partition_field(1, "truncate[10]", "id_trunc", 1001),
    spec_id=1,
)
LAYOUT = Layout(SCHEMA, SPEC, ("string",), later_avro_types=(("string", "long"), ()))
NEW_SPECS = (BY_BOTH, bodies.partition_spec(spec_id=2))

# Data file -> the number of its spec and its partition.
DATA: dict[str, tuple[int, tuple[Json, ...]]] = {
    "a0": (0, ("a",)),
    "b0": (0, ("b",)),
    "a1": (1, ("a", 0)),
    "b1": (1, ("b", 0)),
    "none2": (2, ()),
    "late2": (2, ()),
}
# Equality delete file -> the number of its spec, its partition, and its data files.
DELETES: dict[str, tuple[int, tuple[Json, ...], tuple[str, ...]]] = {
    "of-a0": (0, ("a",), ("a0",)),
    "of-a1": (1, ("a", 0), ("a1",)),
    "of-all": (2, (), ("a0", "b0", "a1", "b1", "none2")),
}
# The files in the order of their addition; the files of one step have the same spec.
STEPS = (("a0", "b0"), ("a1", "b1"), ("of-a0",), ("none2",), ("of-a1",), ("of-all",), ("late2",))
_FILTERS: dict[str, tuple[str, ...]] = {
    "a": ("a0", "a1", "none2", "late2"),
    "b": ("b0", "b1", "none2", "late2"),
}


def _file(name: str) -> PlannedFile:
    spec, partition = DATA[name] if name in DATA else DELETES[name][:2]
    return PlannedFile(
        f"{name}.parquet",
        category=partition[0] if partition else "",
        partition=partition,
        spec=spec,
        content=0 if name in DATA else EQUALITY_DELETES,
    )


def _given_steps(files: ManifestFiles) -> dict[int, list[str]]:
    """Add all files step by step; return snapshot id -> names of all files in the snapshot."""
    found: dict[int, list[str]] = {}
    names: list[str] = []
    for spec in NEW_SPECS:
        files.commit(
            {"action": "add-spec", "spec": spec}, {"action": "set-default-spec", "spec-id": -1}
        )
    with files.at_once():  # a file may be of any spec of the table
        for step in STEPS:
            snapshot_id = files.append(*map(_file, step))
            names = [*names, *step]
            found[snapshot_id] = names
    return found


def _due_deletes(names: list[str]) -> dict[str, list[str]]:
    """Return the deletes of each data file in a snapshot with these files."""
    data = [name for name in names if name in DATA]
    return {
        name: sorted(delete for delete in names if delete in DELETES and name in DELETES[delete][2])
        for name in data
    }


def _expect_specs(
    files: ManifestFiles, found: Planned, due: Mapping[str, list[str]], why: str
) -> None:
    expect_planned(files, found, (f"{name}.parquet" for name in due), why)
    for task in found.tasks:
        _expect_place(files, task["data-file"], why)
        (name,) = files.names_of([task["data-file"]["file-path"]])
        for delete in task["delete-files"]:
            _expect_place(files, delete, why)
        deletes = files.names_of(each["file-path"] for each in task["delete-files"])
        told = [each.removesuffix(".parquet") for each in deletes]
        wanted = due[name.removesuffix(".parquet")]
        equal(told, wanted, symptom=PLANNED_DELETES, detail=f"{why}: of {name}")


def _expect_place(files: ManifestFiles, told: Mapping[str, Json], why: str) -> None:
    """Judge the spec and the partition of a planned file."""
    (name,) = files.names_of([str(told["file-path"])])
    file = _file(name.removesuffix(".parquet"))
    detail = f"{why}: of {name}"
    spec_id = files.spec(file.spec)["spec-id"]
    equal(told["spec-id"], spec_id, symptom=PLANNED_FILE.of("spec-id"), detail=detail)
    partition = [*(file.partition or ())]
    equal(told["partition"], partition, symptom=PLANNED_FILE.of("partition"), detail=detail)


@generated_check("planTableScan.every-spec", needs=HISTORY)
def test_files_of_every_spec(catalog: Catalog) -> None:
    """In a repartitioned table, each file is planned with its own spec, partition and deletes."""
    with given_files(catalog, layout=LAYOUT) as files:
        snapshots = _given_steps(files)
        for turn, (step, (snapshot_id, names)) in enumerate(
            zip(STEPS, snapshots.items(), strict=True)
        ):
            asked, members = dress(turn)
            found = planned(catalog, files.table, snapshot_id=snapshot_id, **members)
            why = f"scan as when {', '.join(step)} came, with {asked}"
            _expect_specs(files, found, _due_deletes(names), why)
            value, due = [*_FILTERS.items()][turn // 2 % 2]
            there = [f"{n}.parquet" for n in due if n in names]
            category = {"type": "eq", "term": "category", "value": value}
            asked = f"asked for category {value}"
            if turn % 2:
                found = planned(catalog, files.table, snapshot_id=snapshot_id, filter=category)
                equal(lost(files, found, there), [], symptom=PLANNED_FILES, detail=asked)
                continue
            both = {"type": "and", "left": category, "right": SOME_OF}
            found = planned(catalog, files.table, snapshot_id=snapshot_id, filter=both)
            _expect_some_of(files, found, there, f"{asked}, and for some of the numbers")


def _expect_some_of(files: ManifestFiles, found: Planned, names: list[str], asked: str) -> None:
    """Judge that these files are planned, and that a filter remains for their rows."""
    equal(lost(files, found, names), [], symptom=PLANNED_FILES, detail=asked)
    for task in found.tasks:
        (name,) = files.names_of([task["data-file"]["file-path"]])
        if name in names:
            expect_undecided(task, f"{asked}: of {name}")
