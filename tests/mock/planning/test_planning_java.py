"""What the server plans equals what Iceberg's Java library plans, deletes and residuals included.

Where the two may differ is kept out of the tables, and has tests of its own: Java takes null for
the least value where it has only a partition value, and -0.0 for less than 0.0.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from icecheck.mock_server import MockCatalog
from icecheck.spark import SparkWorkbench
from tests.kit.shares import some
from tests.mock.planning.handmade import (
    EQUALITY_DELETES,
    PATH_ID,
    POSITION_DELETES,
    File,
    Handmade,
    Manifest,
    make_table,
)
from tests.mock.planning.java_planning import JavaPlanning
from tests.mock.planning.serving import all_tasks, normal, planning_server
from tests.mock.planning.wide_table import (
    BY_NAME,
    SCHEMA,
    SPECS,
    Row,
    describe,
    files_of,
    filters,
    matches,
    open_to_all,
    predicates,
    rows,
    spec_fields,
)

pytestmark = pytest.mark.spark

# Java reads no hexadecimal literals without a schema, and no fixed partition values at all.
COLUMNS = tuple(name for name in BY_NAME if name not in {"blob", "code"})
JAVA_SPECS = tuple(name for name in SPECS if name != "identities_2")
VERSIONS = (1, 2, 3)


@dataclass
class PlanningSetup:
    mock: MockCatalog
    http: httpx.Client
    root: Path
    java: JavaPlanning
    workbench: SparkWorkbench
    tables: dict[str, Handmade]
    rows: dict[str, dict[str, list[Row]]]

    def make(self, name: str, spec: str, version: int) -> Handmade:
        return make_table(self.http, self.root, name, SCHEMA, spec_fields(spec), version)


@pytest.fixture(scope="module")
def setup(
    tmp_path_factory: pytest.TempPathFactory, workbench: SparkWorkbench
) -> Iterator[PlanningSetup]:
    root = tmp_path_factory.mktemp("java")
    mock = planning_server(root)
    transport = mock.httpx_transport()
    with httpx.Client(transport=transport, base_url="http://mock/v1/wh") as http:
        assert http.get("http://mock/v1/config?warehouse=wh").status_code == 200
        assert http.post("/namespaces", json={"namespace": ["ns"]}).status_code == 200
        made = PlanningSetup(mock, http, root, JavaPlanning(workbench), workbench, {}, {})
        for seed, (spec, version) in enumerate((s, v) for s in JAVA_SPECS for v in VERSIONS):
            table = made.make(f"{spec}_{version}", spec, version)
            described = files_of(spec, seed, with_all_metrics=True)
            files = [without_negative_zero(file) for file, _ in described.values()]
            table.commit(Manifest(files[::2]), Manifest(files[1::2], codec="null"))
            made.tables[table.name] = table
            made.rows[table.name] = {path: members for path, (_, members) in described.items()}
        yield made
        mock.stop()


def without_negative_zero(file: File) -> File:
    for bounds in (file.lower, file.upper):
        if bounds and bounds.get(8) == b"\x00" * 7 + b"\x80":
            bounds[8] = b"\x00" * 8
    return file


def ours(
    setup: PlanningSetup, table: Handmade, body: dict[str, Any] | None = None
) -> dict[str, Any]:
    tasks = all_tasks(setup.http, table.name, body)
    return {task["data-file"]["file-path"]: task for task in tasks}


def assert_equal(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert_same_files(found, expected)
    for path, task in found.items():
        assert same_residual(task, expected[path])


def same_residual(task: dict[str, Any], java: dict[str, Any]) -> bool:
    return normal(task["residual-filter"]) == normal(java["residual-filter"])


def assert_same_files(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found.keys() == expected.keys()
    for path, task in found.items():
        java = expected[path]
        deletes = [describing(each) for each in task["deletes"]]
        assert sorted(deletes) == sorted(map(describing, java.get("delete-files", [])))
        for name in ("spec-id", "record-count", "file-size-in-bytes", "first-row-id"):
            assert task["data-file"].get(name) == java["data-file"].get(name)
        assert task["data-file"]["file-format"] == java["data-file"]["file-format"].lower()
        partition = java["data-file"].get("partition", {})
        known = [each for each in task["data-file"]["partition"] if each is not None]
        assert [short(each) for each in known] == [short(each) for each in partition.values()]


def describing(delete: dict[str, Any]) -> tuple[Any, ...]:
    names = ("file-path", "content-offset", "content-size-in-bytes", "referenced-data-file")
    content = delete["content"].lower().replace("_", "-")
    found = (content, *(delete.get(name) for name in names), tuple(delete.get("equality-ids", ())))
    return tuple(str(each) for each in found)


def short(value: Any) -> Any:
    """A value in the spelling that leaves out what is zero, as Java's does."""
    return value.replace(".000000", "") if isinstance(value, str) else value


def test_files_and_residuals_are_those_that_java_finds(setup: PlanningSetup) -> None:
    """Java answers a negated test of a null partition value with true; then rows decide."""
    files = differing = 0

    @settings(
        max_examples=80, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
    )
    @given(
        filters(
            predicates(COLUMNS).filter(open_to_all).filter(lambda each: "-0.0" not in str(each))
        ),
        st.sampled_from(sorted(setup.tables)),
    )
    def compare(filter_: Any, name: str) -> None:
        nonlocal files, differing
        table = setup.tables[name]
        java = setup.java.plan(table.metadata_location(), filter_)
        found = ours(setup, table, {"filter": filter_})
        assert_same_files(found, java)
        files += len(found)
        for path, task in found.items():
            if not same_residual(task, java[path]):
                differing += 1
                for row in setup.rows[name][path]:
                    assert matches(task["residual-filter"], row) == matches(filter_, row)

    compare()
    assert files > 500
    assert differing < files / 50


def test_everything_is_found_without_a_filter(setup: PlanningSetup) -> None:
    for table in setup.tables.values():
        assert_equal(ours(setup, table), setup.java.plan(table.metadata_location()))


def test_one_snapshot_and_the_appends_between_two_are_those_that_java_finds(
    setup: PlanningSetup,
) -> None:
    for version in VERSIONS:
        table = setup.make(f"history_{version}", "identities", version)
        ids: list[int] = []
        for number, operation in enumerate(["append", "append", "overwrite", "append", "append"]):
            files = [
                File(f"file:///h/{number}-{row['id']}-{at}.parquet", (row["number"], row["flag"]))
                for at, row in enumerate(rows(number, 5))
            ]
            ids.append(table.commit(Manifest(files), operation=operation))
        where = table.metadata_location()
        for snapshot_id in ids:
            body = {"snapshot-id": snapshot_id}
            assert_equal(ours(setup, table, body), setup.java.plan(where, None, snapshot_id))
        for start, end in ((0, 1), (0, 4), (1, 3), (2, 4)):
            body = {"start-snapshot-id": ids[start], "end-snapshot-id": ids[end]}
            java = setup.java.appends(where, ids[start], ids[end])
            assert_equal(ours(setup, table, body), java)


def test_a_version_1_snapshot_may_name_its_manifests_itself(setup: PlanningSetup) -> None:
    table = setup.make("listless", "identities", 1)
    for number in range(2):
        files = [
            File(f"file:///l/{number}-{at}.parquet", (row["number"], row["flag"]))
            for at, row in enumerate(rows(number, 5))
        ]
        table.commit(Manifest(files, logical_types=False), v1_list=True)
    filter_ = {"type": "gt", "term": "number", "value": 1}
    java = setup.java.plan(table.metadata_location(), filter_)
    assert 0 < len(java) < 10
    assert_equal(ours(setup, table, {"filter": filter_}), java)


def test_row_ids_are_inherited_as_java_does(setup: PlanningSetup) -> None:
    table = setup.make("row_ids", "none", 3)
    names = iter(range(100))

    def file(**others: Any) -> File:
        return File(f"file:///r/{next(names)}.parquet", **others)

    table.commit(Manifest([file(records=7), file(records=3)]), Manifest([file()]))
    moved = [file(status=0, sequence_number=1, snapshot_id=1001, first_row_id=7, records=3)]
    moved += [file(status=2, sequence_number=1, snapshot_id=1001, records=5), file(records=2)]
    table.commit(Manifest([*moved, file(records=4)]), Manifest([file()]))
    found, java = ours(setup, table), setup.java.plan(table.metadata_location())
    assert_equal(found, java)
    ids = {Path(path).stem: task["data-file"]["first-row-id"] for path, task in found.items()}
    assert ids == {"0": 0, "1": 7, "2": 10, "3": 7, "5": 20, "6": 22, "7": 29}


def commits_with_deletes(table: Handmade, spec: str, lot: random.Random) -> None:
    """Five commits, each with files and with deletes of every kind that the version has."""
    known: list[tuple[str, tuple[Any, ...], int]] = []
    vectors: set[str] = set()
    members = list(rows(lot.randrange(1000), 40))
    for number in range(5):
        described = files_of(spec, lot.randrange(1000), 12, with_all_metrics=True)
        data = []
        for at, (file, _) in enumerate(described.values()):
            file.path = f"file:///d/{table.name}/{number}-{at}.parquet"
            data.append(without_negative_zero(file))
            known.append((file.path, file.partition, number))
        deletes = []
        for at in range(8):
            path, partition, _ = lot.choice(known)
            delete = File(f"file:///d/{table.name}/{number}-{at}.del", partition)
            kind = lot.choice(["by partition", "by reference", "by bounds", "equality", "vector"])
            if kind == "vector" and table.version == 3 and path not in vectors:
                vectors.add(path)
                delete.content, delete.format = POSITION_DELETES, "PUFFIN"
                delete.path = f"file:///d/{table.name}/{number}.puffin"
                delete.referenced, delete.offset, delete.size = path, 4 + 10 * at, 10
            elif kind == "equality":
                delete.content = EQUALITY_DELETES
                describe(delete, lot.sample(members, 2), lot, with_all=lot.random() < 0.7)
                ids = [BY_NAME[name].id for name in ("id", "number", "word", "day")]
                delete.equality_ids = lot.sample(ids, lot.randint(1, 2))
            else:
                delete.content = POSITION_DELETES
                if kind == "by reference":
                    delete.referenced = path
                if kind == "by bounds":
                    delete.lower = delete.upper = {PATH_ID: path.encode()}
            deletes.append(delete)
        table.commit(Manifest(data), Manifest(deletes, deletes=True), operation="overwrite")


@pytest.mark.parametrize("version", some([3, 2], 2))
@pytest.mark.parametrize("spec", some(["identities", "none", "buckets", "calendar"], 2))
def test_the_deletes_of_each_file_are_those_that_java_finds(
    setup: PlanningSetup, spec: str, version: int
) -> None:
    lot = random.Random(f"{spec}{version}")  # noqa: S311
    table = setup.make(f"deletes_{spec}_{version}", spec, version)
    commits_with_deletes(table, spec, lot)
    where = table.metadata_location()
    java = setup.java.plan(where)
    assert sum(len(task.get("delete-files", ())) for task in java.values()) > 5
    assert_equal(ours(setup, table), java)
    for column, value in (("id", 3), ("number", 2), ("word", "ab"), ("day", "1970-01-31")):
        for operation in ("lt", "gt-eq", "eq"):
            filter_ = {"type": operation, "term": column, "value": value}
            assert_equal(ours(setup, table, {"filter": filter_}), setup.java.plan(where, filter_))


def test_global_equality_deletes_reach_the_files_of_every_spec(setup: PlanningSetup) -> None:
    table = setup.make("evolved", "none", 2)
    table.commit(Manifest([File("file:///e/a.parquet")]))
    table.update(
        {"action": "add-spec", "spec": {"spec-id": 1, "fields": spec_fields("identities")}},
        {"action": "set-default-spec", "spec-id": -1},
    )
    partitioned = [File("file:///e/b.parquet", (1, True)), File("file:///e/c.parquet", (2, None))]
    table.commit(Manifest(partitioned, spec_id=1))
    scoped = File("file:///e/x.del", (1, True), EQUALITY_DELETES, equality_ids=[1])
    everywhere = File("file:///e/y.del", (), EQUALITY_DELETES, equality_ids=[1])
    positions = File("file:///e/z.del", (2, None), POSITION_DELETES)
    table.commit(
        Manifest([scoped, positions], deletes=True, spec_id=1),
        Manifest([everywhere], deletes=True),
        operation="delete",
    )
    found = ours(setup, table)
    java = setup.java.deletes(table.metadata_location())
    assert {
        path: sorted(each["file-path"] for each in task["deletes"]) for path, task in found.items()
    } == java
    assert [len(found[f"file:///e/{name}.parquet"]["deletes"]) for name in "abc"] == [1, 2, 2]


STATEMENTS = (
    """CREATE TABLE {table} (id BIGINT, word STRING, at TIMESTAMP) USING iceberg
    PARTITIONED BY (days(at), bucket(2, id)) TBLPROPERTIES ('format-version'='{version}',
    'write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read',
    'write.delete.granularity'='{granularity}')""",
    """INSERT INTO {table} SELECT id, CAST(id AS STRING),
    TIMESTAMP '2024-01-01 00:00:00' + make_interval(0, 0, 0, id % 3) FROM range(60)""",
    "INSERT INTO {table} SELECT id + 100, 'x', NULL FROM range(10)",
    "DELETE FROM {table} WHERE id % 7 = 1",
    "UPDATE {table} SET word = 'y' WHERE id % 11 = 2",
)


@pytest.mark.parametrize("version", some([3, 2], 2))
@pytest.mark.parametrize("granularity", ["file", "partition"])
def test_tables_that_spark_wrote_are_planned_as_java_does(
    setup: PlanningSetup, version: int, granularity: str
) -> None:
    if not setup.mock._listening.is_on:
        setup.mock.start()
    name = f"spark_{version}_{granularity}"
    session = setup.workbench.catalog_session(
        "wh",
        {"type": "rest", "uri": setup.mock.uri, "warehouse": "wh", "cache-enabled": "false"},
    )
    for statement in STATEMENTS:
        session.sql(
            statement.format(table=f"wh.ns.{name}", version=version, granularity=granularity)
        )
    table = Handmade(setup.http, setup.root, name, version)
    where = table.metadata_location()
    for filter_ in (
        None,
        {"type": "lt", "term": "id", "value": 30},
        {"type": "gt", "term": "at", "value": "2024-01-01T12:00:00+00:00"},
        {"type": "is-null", "term": "at"},
        {"type": "in", "term": "id", "values": [3, 104]},
        {"type": "eq", "term": "word", "value": "y"},
    ):
        java = setup.java.plan(where, filter_)
        assert java
        body = {} if filter_ is None else {"filter": filter_}
        found = ours(setup, table, body)
        if version == 2 and granularity == "partition":
            # Java 1.10 takes position deletes for all files of a partition; their bounds say less.
            for path, task in java.items():
                task["delete-files"] = [
                    each for each in task.get("delete-files", ()) if could_name(each, path)
                ]
        assert_equal(found, java)
        assert any(task["deletes"] for task in found.values()) or filter_ is not None


def could_name(delete: dict[str, Any], path: str) -> bool:
    bounds = []
    for side in ("lower-bounds", "upper-bounds"):
        known = delete.get(side, {"keys": [], "values": []})
        by_id = dict(zip(known["keys"], known["values"], strict=True))
        bounds.append(by_id.get(PATH_ID))
    lower, upper = (None if each is None else bytes.fromhex(each).decode() for each in bounds)
    if lower is None or upper is None:
        return True
    return bool(lower <= path <= upper)
