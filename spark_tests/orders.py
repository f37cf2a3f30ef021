"""Orders as a shop's systems send them, and the expected tables, computed without Spark.

The records come in two batches of text: with duplicates, with new versions of earlier orders, with
versions that arrive too late to count, and with unusable rows.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation

FIRST_BATCH_ORDERS = 1_500
SECOND_BATCH_ORDERS = 500
CUSTOMERS = 200
DAYS = 14
# The shop writes local times without a zone.
FIRST_DAY = datetime.fromisoformat("2024-02-20")
TIME_FORMAT = "%Y-%m-%d %H:%M:%S"
COUNTRIES = ("DE", "ES", "FR", "IT", "JP", "NO")
STATUSES = ("new", "paid", "paid", "shipped", "cancelled")
UNUSABLE_AMOUNTS = ("n/a", "12,50", "", "-5.00", "0.00", None)
UNUSABLE_TIMES = ("yesterday", "2024-13-45 00:00:00", "", None)
UNUSABLE_COUNTRIES = ("", "Atlantis", "1", None)


@dataclass(frozen=True, slots=True)
class RawOrder:
    """One record as received: each field is text or None."""

    order_id: str | None
    email: str | None
    country: str | None
    ordered_at: str | None
    amount: str | None
    status: str | None
    updated_at: str | None

    def as_json(self) -> dict[str, str | None]:
        """Return the record as the JSON object of one line in a landing file."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class CleanOrder:
    """One usable version of an order; times have no zone, the amount has two decimals."""

    order_id: str
    email: str
    country: str
    ordered_at: datetime
    amount: Decimal
    status: str
    updated_at: datetime

    def as_text(self) -> tuple[str, ...]:
        """Return the order as Spark casts its columns to STRING."""
        return (
            self.order_id,
            self.email,
            self.country,
            str(self.ordered_at),
            str(self.amount),
            self.status,
            str(self.updated_at),
        )


@dataclass(frozen=True, slots=True)
class GoldRow:
    """The orders of one country on one day, without cancelled ones."""

    day: str
    country: str
    orders: int
    amount: Decimal
    customers: int

    def as_text(self) -> tuple[str, ...]:
        """Return the row as Spark casts its columns to STRING."""
        return (self.day, self.country, str(self.orders), str(self.amount), str(self.customers))


def make_batches(seed: int) -> tuple[tuple[RawOrder, ...], tuple[RawOrder, ...]]:
    """Return two batches of raw records; the same seed gives the same records."""
    from faker import Faker

    faker = Faker()
    faker.seed_instance(seed)
    chance = random.Random(seed)  # noqa: S311 - test data
    customers = [(faker.unique.email(), chance.choice(COUNTRIES)) for _ in range(CUSTOMERS)]
    orders = [_order(chance, customers, number) for number in range(FIRST_BATCH_ORDERS)]
    first = [version for order in orders for version in _early_versions(chance, order)]
    later = [
        _order(chance, customers, FIRST_BATCH_ORDERS + number)
        for number in range(SECOND_BATCH_ORDERS)
    ]
    # Version 2 arrives late: where version 3 came before it, it must change nothing.
    updates = [_version(chance, order, 2) for order in chance.sample(orders, 300)]
    updates += [_version(chance, order, 4) for order in chance.sample(orders, 200)]
    second = later + updates + chance.sample(first, 50)
    return _as_received(chance, first), _as_received(chance, second)


def clean(raw: RawOrder) -> CleanOrder | None:
    """Return a usable order, or None for an unusable record."""
    order_id = (raw.order_id or "").strip()
    country = (raw.country or "").strip().upper()
    amount = _amount(raw.amount or "")
    ordered_at, updated_at = _time(raw.ordered_at or ""), _time(raw.updated_at or "")
    if not order_id or len(country) != 2 or not country.isalpha():
        return None
    if amount is None or amount <= 0 or ordered_at is None or updated_at is None:
        return None
    email, status = (raw.email or "").strip().lower(), raw.status or ""
    return CleanOrder(order_id, email, country, ordered_at, amount, status, updated_at)


def upsert(
    known: dict[str, CleanOrder], batch: Iterable[RawOrder]
) -> tuple[dict[str, CleanOrder], int]:
    """Return the newest version of each order after a batch, and the number of unusable records."""
    orders, rejected = dict(known), 0
    for raw in batch:
        order = clean(raw)
        if order is None:
            rejected += 1
        elif order.order_id not in orders or order.updated_at > orders[order.order_id].updated_at:
            orders[order.order_id] = order
    return orders, rejected


def gold_rows(orders: Iterable[CleanOrder]) -> tuple[GoldRow, ...]:
    """Return the figures sorted by day and country."""
    groups: defaultdict[tuple[str, str], list[CleanOrder]] = defaultdict(list)
    for order in orders:
        if order.status != "cancelled":
            groups[str(order.ordered_at.date()), order.country].append(order)
    return tuple(
        GoldRow(
            day=day,
            country=country,
            orders=len(group),
            amount=sum((order.amount for order in group), Decimal("0.00")),
            customers=len({order.email for order in group}),
        )
        for (day, country), group in sorted(groups.items())
    )


def _order(chance: random.Random, customers: Sequence[tuple[str, str]], number: int) -> RawOrder:
    email, country = chance.choice(customers)
    ordered_at = FIRST_DAY + timedelta(seconds=chance.randrange(DAYS * 86_400))
    order = RawOrder(
        order_id=f"O-{number:06}",
        email=email,
        country=country,
        ordered_at=ordered_at.strftime(TIME_FORMAT),
        amount=f"{chance.randrange(100, 50_000) / 100:.2f}",
        status=None,
        updated_at=None,
    )
    return _version(chance, order, 1)


def _version(chance: random.Random, order: RawOrder, version: int) -> RawOrder:
    """Return a version of an order; higher versions are newer, and no two have the same time."""
    assert order.ordered_at is not None
    updated_at = datetime.strptime(order.ordered_at, TIME_FORMAT) + timedelta(hours=version)  # noqa: DTZ007
    return replace(
        order,
        amount=f"{chance.randrange(100, 50_000) / 100:.2f}",
        status=chance.choice(STATUSES),
        updated_at=updated_at.strftime(TIME_FORMAT),
    )


def _early_versions(chance: random.Random, order: RawOrder) -> list[RawOrder]:
    return [order, _version(chance, order, 3)] if chance.random() < 0.3 else [order]


def _as_received(chance: random.Random, orders: Sequence[RawOrder]) -> tuple[RawOrder, ...]:
    """Return the records as they arrive: untidy, some twice, some broken, in random order."""
    untidy = [_untidy(chance, order) for order in orders]
    twice = chance.sample(untidy, len(untidy) // 20)
    broken = [_broken(chance, order) for order in chance.sample(untidy, len(untidy) // 25)]
    records = [*untidy, *twice, *broken]
    chance.shuffle(records)
    return tuple(records)


def _untidy(chance: random.Random, order: RawOrder) -> RawOrder:
    match chance.randrange(8):
        case 0:
            return replace(order, email=f" {(order.email or '').upper()} ")
        case 1:
            return replace(order, country=f" {(order.country or '').lower()}")
        case _:
            return order


def _broken(chance: random.Random, order: RawOrder) -> RawOrder:
    match chance.randrange(4):
        case 0:
            return replace(order, order_id=chance.choice((None, "", "  ")))
        case 1:
            return replace(order, amount=chance.choice(UNUSABLE_AMOUNTS))
        case 2:
            return replace(order, ordered_at=chance.choice(UNUSABLE_TIMES))
        case _:
            return replace(order, country=chance.choice(UNUSABLE_COUNTRIES))


def _amount(text: str) -> Decimal | None:
    try:
        return Decimal(text).quantize(Decimal("0.01"))
    except InvalidOperation:
        return None


def _time(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, TIME_FORMAT)  # noqa: DTZ007 - as FIRST_DAY
    except ValueError:
        return None
