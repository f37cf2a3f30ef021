"""What the server plans equals what pyiceberg plans from the same files, for versions 1 and 2."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.catalog.rest.scan_planning import PlanTableScanRequest
from pyiceberg.expressions import AlwaysTrue, BooleanExpression
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.table import FileScanTask, Table
from pyiceberg.transforms import parse_transform

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.planning.plans import PlanningSettings
from tests.mock.planning.handmade import PATH_ID, POSITION_DELETES, File, Manifest, make_table
from tests.mock.planning.serving import all_tasks, normal, planning_server
from tests.mock.planning.wide_table import (
    BY_NAME,
    PYICEBERG_SCHEMA,
    SCHEMA,
    SPECS,
    Row,
    files_of,
    filters,
    open_to_all,
    predicates,
    rows,
    spec_fields,
)

# pyiceberg reads a hexadecimal text as the text itself, and keeps a file for `not-starts-with`
# although its metrics say that every value starts so.
COLUMNS = tuple(name for name in BY_NAME if name not in {"blob", "code"})
FILTERS = filters(
    predicates(COLUMNS)
    .filter(open_to_all)
    .filter(lambda each: not each["type"].endswith("starts-with"))
) | predicates(("word",)).filter(lambda each: each["type"] == "starts-with")


@dataclass
class PlanningSetup:
    mock: MockCatalog
    http: httpx.Client
    catalog: RestCatalog
    root: Path
    tables: dict[str, Table]


@pytest.fixture(scope="module")
def setup(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlanningSetup]:
    root = tmp_path_factory.mktemp("pyiceberg")
    mock = planning_server(root, PlanningSettings(files_per_task=7))
    catalog = mock.pyiceberg("wh", in_process=True)
    catalog.create_namespace("ns")
    transport = mock.httpx_transport()
    with httpx.Client(transport=transport, base_url="http://mock/v1/wh") as http:
        made = PlanningSetup(mock, http, catalog, root, {})
        for version in (1, 2):
            for seed, spec in enumerate(SPECS):
                made.tables[f"{spec}_{version}"] = handmade(made, spec, version, seed)
            parts = (("number", "identity"), ("word", "identity"))
            made.tables[f"written_{version}"] = written(made, f"written_{version}", version, parts)
        yield made


def handmade(setup: PlanningSetup, spec: str, version: int, seed: int) -> Table:
    table = make_table(
        setup.http, setup.root, f"{spec}_{version}", SCHEMA, spec_fields(spec), version
    )
    files = [file for file, _ in files_of(spec, seed, with_all_metrics=True).values()]
    table.commit(Manifest(files[::3]), Manifest(files[1::3], codec="null"))
    table.commit(Manifest(files[2::3], summaries=False))
    return setup.catalog.load_table(f"ns.{table.name}")


def written(
    setup: PlanningSetup, name: str, version: int, parts: tuple[tuple[str, str], ...]
) -> Table:
    """A table whose data files exist, written by pyiceberg in three appends."""
    spec = PartitionSpec(
        *(
            PartitionField(BY_NAME[column].id, 1000 + at, parse_transform(transform), f"p{at}")
            for at, (column, transform) in enumerate(parts)
        )
    )
    table = setup.catalog.create_table(
        f"ns.{name}",
        PYICEBERG_SCHEMA,
        partition_spec=spec,
        properties={"format-version": str(version)},
    )
    schema = PYICEBERG_SCHEMA.as_arrow()
    for seed in range(3):
        table.append(pa.Table.from_pylist([arrow_row(row) for row in rows(seed, 25)], schema))
    return table


def arrow_row(row: Row) -> Row:
    return {
        name: value.bytes if name == "key" and value is not None else value
        for name, value in row.items()
    }


def expression(filter_: Any) -> BooleanExpression:
    found = PlanTableScanRequest.model_validate({"filter": filter_}).filter
    assert isinstance(found, BooleanExpression)
    return found


def assert_equal(ours: list[Any], theirs: list[FileScanTask]) -> None:
    found = {task["data-file"]["file-path"]: task for task in ours}
    expected = {task.file.file_path: task for task in theirs}
    assert len(found) == len(ours)
    assert found.keys() == expected.keys()
    for path, task in found.items():
        other = expected[path]
        deletes = {each["file-path"] for each in task["deletes"]}
        assert deletes == {each.file_path for each in other.delete_files}
        residual = PlanTableScanRequest(filter=other.residual).model_dump(
            mode="json", by_alias=True
        )["filter"]
        assert normal(task["residual-filter"]) == normal(residual)


def test_files_and_residuals_are_those_that_pyiceberg_finds(setup: PlanningSetup) -> None:
    compared = 0

    @settings(
        max_examples=100, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
    )
    @given(FILTERS, st.sampled_from(sorted(setup.tables)))
    def compare(filter_: Any, name: str) -> None:
        nonlocal compared
        try:
            theirs = list(setup.tables[name].scan(row_filter=expression(filter_)).plan_files())
        except TypeError as error:  # pyiceberg compares the null of a partition
            assume("NoneType" not in str(error))
            raise
        assert_equal(all_tasks(setup.http, name, {"filter": filter_}), theirs)
        compared += len(theirs) > 0

    compare()
    assert compared > 40


def test_older_snapshots_are_planned_alike(setup: PlanningSetup) -> None:
    for name in ("written_1", "written_2", "buckets_2"):
        table = setup.tables[name]
        for snapshot in table.metadata.snapshots:
            scan = table.scan(snapshot_id=snapshot.snapshot_id)
            body = {"snapshot-id": snapshot.snapshot_id}
            assert_equal(all_tasks(setup.http, name, body), list(scan.plan_files()))


@pytest.mark.parametrize("spec", ["none", "identities", "buckets", "calendar"])
def test_position_deletes_are_given_to_the_files_that_pyiceberg_gives_them_to(
    setup: PlanningSetup, spec: str
) -> None:
    lot = random.Random(spec)  # noqa: S311
    table = make_table(setup.http, setup.root, f"deletes_{spec}", SCHEMA, spec_fields(spec))
    known: list[File] = []
    for number in range(4):
        described = files_of(spec, lot.randrange(1000), 20, with_all_metrics=True)
        files = [file for file, _ in described.values()]
        for at, file in enumerate(files):
            file.path = f"file:///p/{spec}/{at}-{number}.parquet"
        known += files
        deletes = []
        for at in range(6):
            of = lot.choice(known)
            delete = File(f"file:///p/{number}-{at}.del", of.partition, POSITION_DELETES)
            ends = sorted(lot.choice([of, *known]).path.encode() for _ in range(2))
            if at:  # the first has no bounds
                delete.lower = {PATH_ID: min(ends[0], of.path.encode())}
                delete.upper = {PATH_ID: max(ends[1], of.path.encode())}
            if at > 3:
                delete.lower = delete.upper = {PATH_ID: of.path.encode()}
            deletes.append(delete)
        table.commit(Manifest(files), Manifest(deletes, deletes=True), operation="overwrite")
    loaded = setup.catalog.load_table(f"ns.{table.name}")
    theirs = list(loaded.scan().plan_files())
    assert sum(len(task.delete_files) for task in theirs) > 10
    assert_equal(all_tasks(setup.http, table.name), theirs)


def test_pyiceberg_reads_through_the_servers_plans(setup: PlanningSetup) -> None:
    """Its own client: the filter it sends, the pages it fetches, the tasks it makes of them.

    The partitions are without null: there is no null in the document's partition lists, and
    pyiceberg refuses the ones that the format makes necessary.
    """
    written(setup, "through", 2, (("id", "identity"),))
    client = setup.mock.pyiceberg("wh", in_process=True, **{"scan-planning-mode": "server"})
    assert client.supports_server_side_planning()
    for row_filter in (
        AlwaysTrue(),
        "number > 2 and word is not null",
        "at_zone >= '2020-01-01T00:00:00+00:00' or id in (1, 2, 3)",
        "not (price < 1 or flag = true)",
        "day = '2020-01-01' or weight is nan",
    ):
        through_server, alone = (
            sorted(
                catalog.load_table("ns.through")
                .scan(row_filter=row_filter, selected_fields=("id", "at"))
                .to_arrow()
                .to_pylist(),
                key=str,
            )
            for catalog in (client, setup.catalog)
        )
        assert through_server == alone
    assert setup.mock.journal.count("planTableScan", name="through", status=200) == 5
    assert setup.mock.journal.count("fetchScanTasks", name="through", status=200) > 0
