"""The events of the retail pipeline: always the same, and with all that a pipeline must survive."""

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from icecheck.spark_tests.pipeline.events import (
    COLUMNS,
    CUSTOMER,
    LATER_COLUMNS,
    ORDER,
    events_of,
    write_part,
)
from icecheck.spark_tests.pipeline.landing import Landing
from icecheck.spark_tests.pipeline.pools import make_pools
from icecheck.spark_tests.pipeline.scale import DAYS, Part, Scale

SCALE = Scale(3_000)
POOLS = make_pools(0)


def all_parts(scale: Scale) -> list[Part]:
    return [part for day in DAYS for part in scale.parts(day)]


def events(scale: Scale = SCALE) -> list[dict[str, object]]:
    parts = all_parts(scale)
    return [row for part in parts for row in events_of(part, scale, POOLS).to_pylist()]


@pytest.mark.parametrize("rows", [1_000, 3_001, 5_000_000])
def test_the_parts_of_all_days_have_the_rows_of_the_scale(rows: int) -> None:
    parts = all_parts(Scale(rows))
    assert sum(part.rows for part in parts) == rows
    assert all(0 < part.rows <= 250_000 for part in parts)
    assert [part.wide for part in parts if part.day < DAYS[-1]].count(True) == 0
    last = [part.wide for part in parts if part.day == DAYS[-1]]
    assert last == sorted(last)
    assert 2 * last.count(True) <= last.count(False)


def test_the_same_seed_gives_the_same_events_and_another_seed_others() -> None:
    assert events() == events()
    assert events(Scale(3_000, 1)) != events()


def test_a_part_does_not_depend_on_the_parts_before_it() -> None:
    last = all_parts(SCALE)[-1]
    alone = events_of(last, SCALE, POOLS)
    events()
    assert events_of(last, SCALE, POOLS).equals(alone)


def test_only_wide_parts_have_the_later_columns() -> None:
    for part in all_parts(SCALE):
        names = events_of(part, SCALE, POOLS).column_names
        assert names == [*COLUMNS, *(LATER_COLUMNS if part.wide else ())]


def test_an_event_that_comes_twice_says_the_same_twice() -> None:
    found: dict[object, object] = {}
    for event in events():
        said = {name: event[name] for name in COLUMNS if name != "day"}
        assert found.setdefault(event["event_id"], said) == said
    assert len(found) < 3_000


def test_orders_arrive_late_again_and_unusable() -> None:
    orders = [event for event in events() if event["kind"] == ORDER]
    newest: dict[object, object] = {}
    late = 0
    for day in DAYS:
        today = [event for event in orders if event["day"] == day]
        late += sum(
            str(event["happened_at"]) < str(newest.get(event["order_id"], "")) for event in today
        )
        for event in today:
            key = event["order_id"]
            newest[key] = max(str(event["happened_at"]), str(newest.get(key, "")))
    prices = Counter(event["price"] for event in orders)
    assert late > 20
    assert {"n/a", "12,50", "", "-5.00", "0.00", None} <= set(prices)


def test_customers_move_and_their_changes_arrive_late() -> None:
    people = [event for event in events() if event["kind"] == CUSTOMER]
    countries = {event["country"] for event in people}
    assert len({event["customer_id"] for event in people}) == 30
    assert any(str(each).islower() for each in countries)
    assert {"", "Atlantis", "1", None} & countries
    first = {e["event_id"]: e for e in reversed(people)}
    assert any(
        one["customer_id"] == other["customer_id"]
        and one["day"] < other["day"]
        and one["happened_at"] > other["happened_at"]
        for one in first.values()
        for other in first.values()
    )


def test_a_file_appears_when_it_is_whole_and_is_written_once(tmp_path: Path) -> None:
    part = SCALE.parts(1)[0]
    assert write_part(tmp_path, part, SCALE, POOLS) == part.rows
    [path] = tmp_path.iterdir()
    assert path.name == part.file
    assert pq.read_table(path).equals(events_of(part, SCALE, POOLS))
    path.write_bytes(b"as it is")
    write_part(tmp_path, part, SCALE, POOLS)
    assert path.read_bytes() == b"as it is"


def test_a_landing_has_the_files_of_a_day(tmp_path: Path) -> None:
    Landing(tmp_path, SCALE).arrive(SCALE.parts(2))
    tables = [pq.read_table(tmp_path / part.file) for part in SCALE.parts(2)]
    assert len(pa.concat_tables(tables, promote_options="default")) == 1_200
