"""The orders of the pipeline and the figures computed from them without Spark."""

from datetime import datetime
from decimal import Decimal

import pytest

from icecheck.spark_tests.orders import (
    CleanOrder,
    GoldRow,
    RawOrder,
    clean,
    gold_rows,
    make_batches,
    upsert,
)

GOOD = RawOrder(
    "O-1", " A@B.C ", " fr", "2024-02-29 10:00:00", "12.50", "paid", "2024-02-29 11:00:00"
)


def changed(**fields: str | None) -> RawOrder:
    return RawOrder(**{**GOOD.as_json(), **fields})


def order(order_id: str, **fields: object) -> CleanOrder:
    made = clean(changed(order_id=order_id))
    assert made is not None
    return CleanOrder(
        **{
            "order_id": order_id,
            "email": made.email,
            "country": made.country,
            "ordered_at": made.ordered_at,
            "amount": made.amount,
            "status": made.status,
            "updated_at": made.updated_at,
            **fields,
        }
    )


def test_the_same_seed_gives_the_same_batches_and_another_seed_others() -> None:
    assert make_batches(7) == make_batches(7)
    assert make_batches(7) != make_batches(8)


def test_the_batches_hold_everything_that_a_pipeline_must_survive() -> None:
    first, second = make_batches(0)
    assert len(first) > 2000
    assert len(second) > 1000
    assert len(set(first)) < len(first), "duplicates"
    after_first, rejected_first = upsert({}, first)
    after_second, rejected_second = upsert(after_first, second)
    assert rejected_first > 0
    assert rejected_second > 0
    assert any(after_second[key] != value for key, value in after_first.items()), "updates"
    known = [one for one in map(clean, second) if one and one.order_id in after_first]
    late = [one for one in known if one.updated_at < after_first[one.order_id].updated_at]
    assert late, "versions that come too late"
    assert all(after_second[one.order_id].updated_at > one.updated_at for one in late)


def test_a_good_record_is_tidied() -> None:
    assert clean(GOOD) == CleanOrder(
        "O-1",
        "a@b.c",
        "FR",
        datetime.fromisoformat("2024-02-29 10:00:00"),
        Decimal("12.50"),
        "paid",
        datetime.fromisoformat("2024-02-29 11:00:00"),
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"order_id": None},
        {"order_id": "  "},
        {"amount": "n/a"},
        {"amount": "12,50"},
        {"amount": "0.00"},
        {"amount": "-1.00"},
        {"amount": None},
        {"ordered_at": "2024-13-45 00:00:00"},
        {"ordered_at": None},
        {"country": "Atlantis"},
        {"country": "1"},
        {"country": None},
    ],
)
def test_an_unusable_record_is_rejected(fields: dict[str, str | None]) -> None:
    assert clean(changed(**fields)) is None


def test_only_a_newer_version_replaces_an_order() -> None:
    known, _ = upsert({}, [GOOD])
    late = changed(amount="99.00", updated_at="2024-02-29 10:30:00")
    newer = changed(amount="15.00", updated_at="2024-02-29 12:00:00")
    assert upsert(known, [late])[0]["O-1"].amount == Decimal("12.50")
    assert upsert(known, [newer, late, GOOD])[0]["O-1"].amount == Decimal("15.00")
    assert upsert(known, [changed(amount="x")]) == (known, 1)


def test_figures_are_by_day_and_country_without_cancelled_orders() -> None:
    rows = gold_rows(
        [
            order("1"),
            order("2", amount=Decimal("0.50")),
            order("3", email="x@y.z"),
            order("4", status="cancelled", amount=Decimal("100.00")),
            order("5", country="DE"),
            order("6", ordered_at=datetime.fromisoformat("2024-03-01")),
        ]
    )
    assert rows == (
        GoldRow("2024-02-29", "DE", 1, Decimal("12.50"), 1),
        GoldRow("2024-02-29", "FR", 3, Decimal("25.50"), 2),
        GoldRow("2024-03-01", "FR", 1, Decimal("12.50"), 1),
    )
    assert rows[1].as_text() == ("2024-02-29", "FR", "3", "25.50", "2")
