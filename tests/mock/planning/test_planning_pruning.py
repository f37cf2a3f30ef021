"""No file is left out that has a matching row, no residual says what the filter does not."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.kit.shares import in_shares, judges_everything
from tests.mock.planning.handmade import File, Handmade, Manifest, encoded, make_table
from tests.mock.planning.serving import all_tasks, paths, planning_server
from tests.mock.planning.wide_table import (
    BY_NAME,
    SCHEMA,
    SPECS,
    Row,
    files_of,
    filters,
    matches,
    spec_fields,
)

Tables = dict[str, dict[str, tuple[File, list[Row]]]]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[httpx.Client, Tables]]:
    root = tmp_path_factory.mktemp("pruning")
    mock = planning_server(root)
    with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock/v1/wh") as http:
        http.get("http://mock/v1/config?warehouse=wh")
        http.post("/namespaces", json={"namespace": ["ns"]})
        tables: Tables = {}
        for seed, spec in enumerate(SPECS):
            table = make_table(http, root, spec, SCHEMA, spec_fields(spec))
            tables[spec] = files_of(spec, seed, 80)
            files = [file for file, _ in tables[spec].values()]
            for at in range(4):
                table.commit(Manifest(files[at::4], summaries=at != 3))
        yield http, tables


@in_shares
def test_no_matching_row_is_lost_and_residuals_mean_the_filter(
    served: tuple[httpx.Client, Tables],
) -> None:
    http, tables = served
    left_out = 0

    @settings(
        max_examples=200 if judges_everything() else 60,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        derandomize=True,
    )
    @given(filters(), st.sampled_from(sorted(tables)))
    def check(filter_: Any, name: str) -> None:
        nonlocal left_out
        found = {
            task["data-file"]["file-path"]: task["residual-filter"]
            for task in all_tasks(http, name, {"filter": filter_})
        }
        left_out += len(tables[name]) - len(found)
        for path, (_, members) in tables[name].items():
            for row in members:
                expected = matches(filter_, row)
                if path in found:
                    assert matches(found[path], row) == expected
                else:
                    assert not expected

    check()
    assert left_out > 300


# The ids are those that a new table gives: fields first, then what is in them.
SMALL = {
    "type": "struct",
    "fields": [
        {"id": 1, "name": "id", "required": False, "type": "long"},
        {
            "id": 2,
            "name": "list",
            "required": False,
            "type": {"type": "list", "element-id": 7, "element": "long", "element-required": False},
        },
        {
            "id": 3,
            "name": "inner",
            "required": False,
            "type": {
                "type": "struct",
                "fields": [{"id": 8, "name": "x", "required": True, "type": "long"}],
            },
        },
        {"id": 4, "name": "key", "required": False, "type": "uuid"},
        {"id": 5, "name": "at", "required": False, "type": "timestamp"},
        {"id": 6, "name": "weight", "required": False, "type": "double"},
    ],
}


@pytest.fixture
def small(http: httpx.Client, tmp_path: Path) -> Handmade:
    return make_table(http, tmp_path, "t", SMALL)


def kept(http: httpx.Client, filter_: Any) -> list[str]:
    return [Path(each).stem for each in paths(all_tasks(http, "t", {"filter": filter_}))]


def long(value: int) -> bytes:
    return encoded(BY_NAME["id"].iceberg_type, value)


def test_what_is_in_a_list_never_leaves_a_file_out(http: httpx.Client, small: Handmade) -> None:
    bounds = {7: long(5)}
    small.commit(Manifest([File("a.parquet", lower=bounds, upper=bounds, nulls={7: 0})]))
    for name in ("list.element", "list"):
        assert kept(http, {"type": "is-null", "term": name}) == ["a"]
    assert kept(http, {"type": "eq", "term": "list.element", "value": 6}) == ["a"]


def test_a_required_field_of_an_optional_struct_can_be_null(
    http: httpx.Client, small: Handmade
) -> None:
    small.commit(Manifest([File("a.parquet"), File("b.parquet", nulls={8: 0})]))
    assert kept(http, {"type": "is-null", "term": "inner.x"}) == ["a"]
    assert kept(http, {"type": "not-null", "term": "inner.x"}) == ["a", "b"]


def test_uuids_are_looked_for_in_both_orders_of_their_bounds(
    http: httpx.Client, small: Handmade
) -> None:
    high, low = b"\xff" * 16, b"\x01" * 16
    unsigned = File("u.parquet", lower={4: low}, upper={4: high})
    signed = File("s.parquet", lower={4: high}, upper={4: low})
    small.commit(Manifest([unsigned, signed]))

    def eq(digit: str) -> dict[str, Any]:
        text = f"{digit * 8}-{digit * 4}-{digit * 4}-{digit * 4}-{digit * 12}"
        return {"type": "eq", "term": "key", "value": text}

    assert kept(http, eq("7")) == ["u"]
    assert kept(http, eq("f")) == ["s", "u"]
    assert kept(http, eq("0")) == ["s"]
    assert kept(http, {**eq("0"), "type": "lt"}) == ["s", "u"]


def test_the_order_of_uuids_leaves_no_partition_out(http: httpx.Client, tmp_path: Path) -> None:
    fields = [{"name": "key", "transform": "identity", "source-id": 4, "field-id": 1000}]
    table = make_table(http, tmp_path, "t", SMALL, fields)
    table.commit(Manifest([File("a.parquet", (UUID(int=1),)), File("b.parquet", (UUID(int=9),))]))
    text = str(UUID(int=5))
    for operation in ("lt", "gt"):
        assert kept(http, {"type": operation, "term": "key", "value": text}) == ["a", "b"]
    assert kept(http, {"type": "eq", "term": "key", "value": str(UUID(int=9))}) == ["b"]


def test_the_result_of_void_is_always_null(http: httpx.Client, small: Handmade) -> None:
    void = {"type": "transform", "transform": "void", "term": "id"}
    small.commit(Manifest([File("a.parquet", nulls={1: 0})]))
    assert kept(http, {"type": "is-null", "term": void}) == ["a"]
    assert kept(http, {"type": "is-null", "term": "id"}) == []


def test_a_bound_that_is_not_a_number_says_nothing(http: httpx.Client, small: Handmade) -> None:
    weight = BY_NAME["weight"].iceberg_type
    nan, one = encoded(weight, float("nan")), encoded(weight, 1.0)
    small.commit(Manifest([File("a.parquet", lower={6: nan}, upper={6: one})]))
    assert kept(http, {"type": "lt", "term": "weight", "value": -5.0}) == ["a"]
    assert kept(http, {"type": "gt", "term": "weight", "value": 5.0}) == []


def test_a_bound_that_is_damaged_says_nothing(http: httpx.Client, small: Handmade) -> None:
    small.commit(Manifest([File("a.parquet", lower={1: b"123"}, upper={1: b""})]))
    assert kept(http, {"type": "lt", "term": "id", "value": -5}) == ["a"]


def test_bounds_written_before_a_column_was_promoted_still_count(
    http: httpx.Client, small: Handmade
) -> None:
    five = (5).to_bytes(4, "little")
    small.commit(Manifest([File("a.parquet", lower={1: five, 5: five}, upper={1: five, 5: five})]))
    assert kept(http, {"type": "eq", "term": "id", "value": 5}) == ["a"]
    assert kept(http, {"type": "eq", "term": "id", "value": 6}) == []
    assert kept(http, {"type": "lt", "term": "at", "value": "1970-01-06T00:00:01"}) == ["a"]
    assert kept(http, {"type": "lt", "term": "at", "value": "1970-01-06T00:00:00"}) == []


def test_tests_of_transforms_use_bounds_and_partitions(http: httpx.Client, small: Handmade) -> None:
    day = {"type": "transform", "transform": "day", "term": "at"}
    spec = {"name": "at_day", "transform": "day", "source-id": 5, "field-id": 1000}
    at = BY_NAME["at"].iceberg_type
    early, late = (encoded(at, moment) for moment in (0, 5 * 86_400_000_000))
    small.commit(
        Manifest([File("a.parquet", lower={5: early}, upper={5: late}), File("b.parquet")])
    )
    small.update(
        {"action": "add-spec", "spec": {"spec-id": 1, "fields": [spec]}},
        {"action": "set-default-spec", "spec-id": -1},
    )
    small.commit(Manifest([File("c.parquet", (3,)), File("d.parquet", (9,))], spec_id=1))
    assert kept(http, {"type": "eq", "term": day, "value": "1970-01-10"}) == ["b", "d"]
    assert kept(http, {"type": "lt-eq", "term": day, "value": 3}) == ["a", "b", "c"]
    tasks = all_tasks(http, "t", {"filter": {"type": "eq", "term": day, "value": 3}})
    assert {
        Path(task["data-file"]["file-path"]).stem: task["residual-filter"] for task in tasks
    } == {
        "a": {"type": "eq", "term": day, "value": 3},
        "b": {"type": "eq", "term": day, "value": 3},
        "c": True,
    }


def test_an_unknown_transform_leaves_no_file_out_and_answers_nothing(
    http: httpx.Client, tmp_path: Path
) -> None:
    fields = [
        {"name": "p", "transform": "zorder", "source-id": 1, "field-id": 1000},
        {"name": "v", "transform": "void", "source-id": 1, "field-id": 1001},
    ]
    table = make_table(http, tmp_path, "t", SMALL, fields)
    table.commit(Manifest([File("a.parquet", (None, None))], summaries=False))
    for filter_ in (
        {"type": "eq", "term": "id", "value": 1},
        {"type": "is-null", "term": "id"},
        {"type": "not-null", "term": "id"},
    ):
        tasks = all_tasks(http, "t", {"filter": filter_})
        assert [task["residual-filter"] for task in tasks] == [filter_]
        assert tasks[0]["data-file"]["partition"] == [None, None]


def test_partition_values_from_before_1970_may_be_one_too_high(
    http: httpx.Client, tmp_path: Path
) -> None:
    """Iceberg 0.10 and older rounded towards zero: their hour -1 is 0."""
    fields = [{"name": "h", "transform": "hour", "source-id": 5, "field-id": 1000}]
    table = make_table(http, tmp_path, "t", SMALL, fields)
    table.commit(Manifest([File("old.parquet", (0,)), File("other.parquet", (1,))]))
    assert kept(http, {"type": "eq", "term": "at", "value": "1969-12-31T23:30:00"}) == ["old"]
    assert kept(http, {"type": "lt", "term": "at", "value": "1969-12-31T23:30:00"}) == ["old"]


def test_manifests_that_cannot_match_are_not_read(http: httpx.Client, tmp_path: Path) -> None:
    fields = [{"name": "id", "transform": "identity", "source-id": 1, "field-id": 1000}]
    table = make_table(http, tmp_path, "t", SMALL, fields)
    table.commit(Manifest([File("a.parquet", (1,))]), Manifest([File("b.parquet", (9,))]))
    (tmp_path / "t" / "manifest-1001-1.avro").unlink()
    assert kept(http, {"type": "lt", "term": "id", "value": 5}) == ["a"]
    answer = http.post(f"{table.path}/plan", json={})
    assert answer.json()["status"] == "failed"


def test_a_manifest_of_deleted_files_is_not_read(http: httpx.Client, small: Handmade) -> None:
    gone = File("a.parquet", status=2, snapshot_id=1, sequence_number=1)
    small.commit(Manifest([gone]), Manifest([File("b.parquet")]))
    (small.root / "t" / "manifest-1001-0.avro").unlink()
    assert kept(http, True) == ["b"]
