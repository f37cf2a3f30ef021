"""What pandas computes of the events, against plain Python that goes through them one by one."""

import re
from collections import defaultdict
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from icecheck.spark_tests.pipeline.expected import Expected
from icecheck.spark_tests.pipeline.landing import Landing
from icecheck.spark_tests.pipeline.scale import DAYS, Scale

SCALE = Scale(2_000, seed=5)
Event = dict[str, Any]


@pytest.fixture(scope="module")
def landing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("landing")
    Landing(directory, SCALE).arrive_all()
    return directory


@pytest.fixture(scope="module")
def expected(landing: Path) -> Expected:
    return Expected(landing, SCALE)


def received(landing: Path, day: int) -> list[Event]:
    paths = [landing / part.file for part in SCALE.parts(day)]
    return [event for path in paths for event in pq.read_table(path).to_pylist()]


def micros(time: datetime) -> int:
    return round(time.replace(tzinfo=UTC).timestamp()) * 1_000_000


def price_of(event: Event) -> Decimal | None:
    found = re.fullmatch(r"\d+\.\d\d", event["price"] or "")
    return Decimal(found[0]) if found and Decimal(found[0]) > 0 else None


def orders_after(landing: Path, day: int) -> dict[int, Event]:
    newest: dict[int, Event] = {}
    for arrived in DAYS[:day]:
        # Of an event that comes twice on a day the one with a channel counts.
        today = sorted(received(landing, arrived), key=lambda event: not event.get("channel"))
        for event in today:
            if event["kind"] != "order" or price_of(event) is None:
                continue
            known = newest.get(event["order_id"])
            if known is None or event["happened_at"] > known["happened_at"]:
                newest[event["order_id"]] = event
    return newest


def history_after(landing: Path, day: int) -> dict[int, list[tuple[Any, ...]]]:
    said: defaultdict[int, dict[Any, tuple[Any, ...]]] = defaultdict(dict)
    for arrived in DAYS[:day]:
        for event in received(landing, arrived):
            country = (event["country"] or "").strip().upper()
            if event["kind"] == "customer" and re.fullmatch("[A-Z]{2}", country):
                attributes = (event["name"], event["email"].strip().lower(), country)
                said[event["customer_id"]][event["happened_at"]] = attributes
    history: dict[int, list[tuple[Any, ...]]] = {}
    for customer, versions in said.items():
        rows: list[tuple[Any, ...]] = []
        for time, attributes in sorted(versions.items()):
            if not rows or rows[-1][1] != attributes:
                rows.append((time, attributes))
        history[customer] = rows
    return history


@pytest.mark.parametrize("day", DAYS)
def test_the_newest_usable_version_of_an_order_counts(
    landing: Path, expected: Expected, day: int
) -> None:
    wanted = {
        order: (
            event["customer_id"],
            event["sku"],
            event["quantity"],
            int((price_of(event) or 0) * event["quantity"] * 100),
            event["status"],
            event.get("channel"),
            micros(event["ordered_at"]),
            micros(event["happened_at"]),
        )
        for order, event in orders_after(landing, day).items()
    }
    orders = expected.orders(day).astype({"channel": "object"})
    orders["channel"] = orders["channel"].where(orders["channel"].notna(), None)
    rows = orders.itertuples(index=False)
    assert {row[0]: tuple(row[1:]) for row in rows} == wanted


@pytest.mark.parametrize("day", DAYS)
def test_a_customer_has_a_row_for_each_change(landing: Path, expected: Expected, day: int) -> None:
    wanted = set()
    for customer, rows in history_after(landing, day).items():
        ends = [time for time, _ in rows[1:]]
        for (time, attributes), end in zip(rows, [*ends, None], strict=True):
            wanted.add((customer, *attributes, micros(time), end and micros(end)))
    found = expected.customers(day)
    ends = [
        None if end is None else int(end)
        for end in found["valid_to"].astype(object).where(found["valid_to"].notna(), None)
    ]
    rows = found.drop(columns="valid_to").itertuples(index=False)
    assert {(*row, end) for row, end in zip(rows, ends, strict=True)} == wanted


@pytest.mark.parametrize("day", DAYS)
def test_figures_are_by_day_and_the_country_of_the_customer_at_the_time(
    landing: Path, expected: Expected, day: int
) -> None:
    history = history_after(landing, day)
    groups: defaultdict[tuple[str, str], list[Event]] = defaultdict(list)
    for event in orders_after(landing, day).values():
        if event["status"] == "cancelled":
            continue
        before = [r for r in history.get(event["customer_id"], []) if r[0] <= event["ordered_at"]]
        country = before[-1][1][2] if before else "?"
        groups[event["ordered_at"].date().isoformat(), country].append(event)
    wanted = {
        key: (
            len(group),
            sum(event["quantity"] for event in group),
            int(sum((price_of(event) or 0) * event["quantity"] for event in group) * 100),
            len({event["customer_id"] for event in group}),
        )
        for key, group in groups.items()
    }
    rows = expected.revenue(day).itertuples(index=False)
    assert {tuple(row[:2]): tuple(row[2:]) for row in rows} == wanted
    sums = {row.country: row.orders for row in expected.by_country(day).itertuples()}
    assert sum(sums.values()) == sum(len(group) for group in groups.values())


@pytest.mark.parametrize("day", DAYS)
def test_unusable_events_are_counted(landing: Path, expected: Expected, day: int) -> None:
    events = received(landing, day)
    for row in expected.counted(day).itertuples():
        own = [event for event in events if event["kind"] == row.kind]
        assert (row.events, row.ids) == (
            len(own),
            sum(event["event_id"] % 1_000_003 for event in own),
        )
        if row.kind == "order":
            assert row.unusable == sum(price_of(event) is None for event in own) > 0
