"""PyIceberg lets the mock plan its scans, and reads the same rows as when it plans itself."""

from collections.abc import Callable, Iterator

import pyarrow as pa
import pytest
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.catalog.rest.scan_planning import PlanTableScanRequest
from pyiceberg.schema import Schema
from pyiceberg.table import Table

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.planning.plans import PlanningMode, PlanningSettings

Serving = Callable[..., RestCatalog]
SERVER = {"scan-planning-mode": "server"}
ARROW = pa.schema([pa.field("id", pa.int64()), pa.field("word", pa.string())])


@pytest.fixture
def serving(tmp_path: object, schema: Schema) -> Serving:
    """A catalog with server-side planning and a table of three files, partitioned by `word`."""

    def serving(settings: PlanningSettings | None = None) -> RestCatalog:
        mock = MockCatalog(root=f"{tmp_path}/planning", warehouses=["wh"], planning=settings)
        catalog = mock.pyiceberg("wh", in_process=True, **SERVER)
        catalog.create_namespace("ns")
        table = catalog.create_table("ns.t", schema)
        with table.update_spec() as spec:
            spec.add_identity("word")
        for word, ids in {"a": (1, 2), "b": (3,), "c": (4, 5)}.items():
            rows = [{"id": each, "word": word} for each in ids]
            table.append(pa.Table.from_pylist(rows, ARROW))
        return catalog

    return serving


@pytest.fixture
def planned(serving: Serving) -> Iterator[Table]:
    catalog = serving()
    yield catalog.load_table("ns.t")
    catalog.close()


def test_a_catalog_plans_where_it_is_asked_to(mock: MockCatalog, serving: Serving) -> None:
    catalog = serving()
    assert catalog.supports_server_side_planning()
    catalog = mock.pyiceberg("wh", in_process=True)
    assert not catalog.supports_server_side_planning()
    del mock.registries.operations["planTableScan"]
    catalog = mock.pyiceberg("wh", in_process=True, **SERVER)
    assert not catalog.supports_server_side_planning()


@pytest.mark.parametrize(
    ("row_filter", "ids", "files"),
    [
        ("word = 'b'", [3], 1),
        ("word in ('a', 'c') and id > 1", [2, 4, 5], 2),
        ("id > 3", [4, 5], 1),
        ("id < 0", [], 0),
        ("word is null", [], 0),
        ("word not like 'a%'", [3, 4, 5], 2),
    ],
)
def test_rows_are_those_of_the_filter(
    planned: Table, row_filter: str, ids: list[int], files: int
) -> None:
    scan = planned.scan(row_filter=row_filter)
    assert len(list(scan.plan_files())) == files
    assert sorted(scan.to_arrow()["id"].to_pylist()) == ids


def test_columns_and_snapshots_are_chosen(planned: Table) -> None:
    first = planned.history()[0].snapshot_id
    scan = planned.scan(selected_fields=("word",), snapshot_id=first)
    assert scan.to_arrow().to_pylist() == [{"word": "a"}, {"word": "a"}]


def test_many_files_come_in_tasks(serving: Serving) -> None:
    catalog = serving(PlanningSettings(files_per_task=1))
    tasks = catalog.plan_scan("ns.t", PlanTableScanRequest())
    assert len({task.file.file_path for task in tasks}) == len(tasks) == 3
    table = catalog.load_table("ns.t")
    assert sorted(table.scan().to_arrow()["id"].to_pylist()) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("mode", [PlanningMode.ASYNC, "async"])
def test_a_plan_that_takes_time_is_more_than_this_client_waits_for(
    serving: Serving, mode: PlanningMode
) -> None:
    catalog = serving(PlanningSettings(mode=mode))
    with pytest.raises(NotImplementedError, match="Async scan planning"):
        catalog.plan_scan("ns.t", PlanTableScanRequest())


def test_a_failed_plan_is_an_error(serving: Serving) -> None:
    catalog = serving(PlanningSettings(ends="failed"))
    with pytest.raises(RuntimeError, match="failed"):
        catalog.plan_scan("ns.t", PlanTableScanRequest())
