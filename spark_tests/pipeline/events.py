"""Events of a shop as its systems send them: orders and customers, untidy, repeated and late.

What an event says is a function of the seed and its id, so that one that is sent twice says the
same twice; which events a file holds is drawn by a generator of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from icecheck.spark_tests.pipeline.pools import Pools
from icecheck.spark_tests.pipeline.scale import Part, Scale

ORDER, CUSTOMER = "order", "customer"
COLUMNS = {
    "event_id": "BIGINT",
    "kind": "STRING",
    "happened_at": "TIMESTAMP",
    "order_id": "BIGINT",
    "ordered_at": "TIMESTAMP",
    "customer_id": "BIGINT",
    "sku": "STRING",
    "quantity": "INT",
    "price": "STRING",
    "status": "STRING",
    "name": "STRING",
    "email": "STRING",
    "country": "STRING",
    "day": "INT",
}
"""The columns of an event with Spark's types; ``day`` is the day on which it arrives."""
LATER_COLUMNS = {"channel": "STRING"}
"""The columns that only wide files have."""

_FIRST_SECOND = 1_709_164_800  # 2024-02-29T00:00:00Z
_HOUR, _DAY = 3_600, 86_400
_SHARE_OF_CUSTOMERS = 0.1
_SHARE_OF_EARLIER_DAYS = 0.3
_VERSIONS = 4
_FIRST_CUSTOMER_EVENT = 1 << 50
_STATUSES = ("placed", "paid", "shipped", "cancelled")
_CHANNELS = ("web", "shop", "phone")
_UNUSABLE_PRICES = ("n/a", "12,50", "", "-5.00", "0.00", None)
_UNUSABLE_COUNTRIES = ("", "Atlantis", "1", None)
_CENTS_MAX = 50_099
_PRICES = (
    *(f"{cents // 100}.{cents % 100:02}" for cents in range(_CENTS_MAX + 1)),
    *_UNUSABLE_PRICES,
)

Ints = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class _Drawn:
    """Ids of things and versions of them; the order or customer and its version make the event."""

    id: Ints
    version: Ints


def write_part(directory: Path, part: Part, scale: Scale, pools: Pools) -> int:
    """Write the file of a part, unless it is there, and return its rows.

    It appears under its name when it is whole.
    """
    import pyarrow.parquet

    path = directory / part.file
    if not path.exists():
        # Spark's source of files passes over names with a point in front.
        unfinished = directory / f".{part.file}"
        pyarrow.parquet.write_table(events_of(part, scale, pools), unfinished)
        unfinished.rename(path)
    return part.rows


def events_of(part: Part, scale: Scale, pools: Pools) -> Any:
    """Return the events of a part as an Arrow table."""
    import pyarrow as pa

    chance = np.random.default_rng((scale.seed, part.day, part.number))
    customers = round(part.rows * _SHARE_OF_CUSTOMERS)
    orders = _order_columns(_drawn_orders(chance, part, customers, scale), scale, pools)
    people = _customer_columns(_drawn_customers(chance, customers, scale), scale, pools)
    shuffled = chance.permutation(part.rows)
    types = {"BIGINT": pa.int64(), "INT": pa.int32(), "STRING": pa.string()}
    types["TIMESTAMP"] = pa.timestamp("us", tz="UTC")
    columns = {}
    for name, kind in (COLUMNS | (LATER_COLUMNS if part.wide else {})).items():
        halves = [
            _filled(each.get(name), length, types[kind])
            for each, length in ((orders, part.rows - customers), (people, customers))
        ]
        columns[name] = pa.concat_arrays(halves)
    columns["day"] = pa.array(np.full(part.rows, part.day), pa.int32())
    return pa.table(columns).take(pa.array(shuffled))


def _texts(pool: Sequence[str | None], places: Ints) -> Any:
    """Return the texts at these places of a pool as an Arrow array."""
    import pyarrow as pa

    return pa.array(pool, pa.string()).take(pa.array(places))


def _filled(values: Any, length: int, kind: Any) -> Any:
    import pyarrow as pa

    if values is None:
        return pa.nulls(length, kind)
    return values if isinstance(values, pa.Array) else pa.array(values, kind)


def _drawn_orders(chance: np.random.Generator, part: Part, customers: int, scale: Scale) -> _Drawn:
    """Draw events of orders: most of orders that were placed on the day, others of earlier ones.

    An early version may be drawn on a later day than a late one.
    """
    many = part.rows - customers
    earlier = chance.random(many) < _SHARE_OF_EARLIER_DAYS
    placed = np.where(earlier, chance.integers(1, part.day + 1, many), part.day)
    ids = (placed - 1) * scale.orders_of_a_day + chance.integers(0, scale.orders_of_a_day, many)
    return _Drawn(ids, chance.integers(0, _VERSIONS, many))


def _drawn_customers(chance: np.random.Generator, many: int, scale: Scale) -> _Drawn:
    """Draw events of customers: half of them say that somebody has become one."""
    version = np.maximum(chance.integers(-3, _VERSIONS, many), 0)
    return _Drawn(chance.integers(0, scale.customers, many), version)


def _order_columns(drawn: _Drawn, scale: Scale, pools: Pools) -> dict[str, Any]:
    order = _bits(scale.seed, "order", drawn.id)
    event = _bits(scale.seed, "order event", drawn.id * _VERSIONS + drawn.version)
    second_of_day = order % np.uint64(_DAY)
    ordered_at = (
        _FIRST_SECOND + drawn.id // scale.orders_of_a_day * _DAY + second_of_day.astype(np.int64)
    )
    # A later version happens later, and no two of an order at the same time.
    happened_at = ordered_at + drawn.version * 6 * _HOUR + _below(event, 0, 5 * _HOUR)
    cents = _below(event, 1, _CENTS_MAX - 99) + 100
    unusable = _CENTS_MAX + 1 + _below(event, 3, len(_UNUSABLE_PRICES))
    price = np.where(_below(event, 2, 25) == 0, unusable, cents)
    return {
        "event_id": drawn.id * _VERSIONS + drawn.version,
        "kind": _texts([ORDER], np.zeros_like(drawn.id)),
        "happened_at": happened_at * 1_000_000,
        "order_id": drawn.id,
        "ordered_at": ordered_at * 1_000_000,
        "customer_id": _below(order, 1, scale.customers),
        "sku": _texts(pools.goods, _below(order, 2, len(pools.goods))),
        "quantity": _below(event, 4, 5) + 1,
        "price": _texts(_PRICES, price),
        "status": _texts(_STATUSES, drawn.version),
        "channel": _texts(_CHANNELS, _below(order, 3, len(_CHANNELS))),
    }


def _customer_columns(drawn: _Drawn, scale: Scale, pools: Pools) -> dict[str, Any]:
    person = _bits(scale.seed, "customer", drawn.id)
    event = _bits(scale.seed, "customer event", drawn.id * _VERSIONS + drawn.version)
    # The first version is some days old for most customers.
    days = drawn.version - 1 + (drawn.version == 0) * (_below(person, 0, 10) == 0)
    happened_at = _FIRST_SECOND + days * _DAY + drawn.version * _HOUR + _below(event, 0, _HOUR)
    # Each has three addresses: about a third of the new versions say nothing new.
    address = _bits(scale.seed, "address", drawn.id * 3 + _below(event, 1, 3))
    country = _below(address, 0, len(pools.countries))
    email = _below(person, 2, len(pools.emails))
    untidy, unusable = _below(event, 3, 4), _below(event, 4, 30) == 0
    # Behind the tidy texts are the same in lower case, then with spaces, then the unusable ones.
    forms = [*pools.countries, *(each.lower() for each in pools.countries)]
    forms += [f" {each} " for each in pools.countries]
    country += np.minimum(untidy, 2) * len(pools.countries)
    country[unusable] = len(forms) + _below(event, 5, len(_UNUSABLE_COUNTRIES))[unusable]
    email += (untidy == 3) * len(pools.emails)
    return {
        "event_id": _FIRST_CUSTOMER_EVENT + drawn.id * _VERSIONS + drawn.version,
        "kind": _texts([CUSTOMER], np.zeros_like(drawn.id)),
        "happened_at": happened_at * 1_000_000,
        "customer_id": drawn.id,
        "name": _texts(pools.names, _below(person, 1, len(pools.names))),
        "email": _texts([*pools.emails, *(f" {each.upper()}" for each in pools.emails)], email),
        "country": _texts([*forms, *_UNUSABLE_COUNTRIES], country),
    }


def _bits(seed: int, what: str, ids: Ints) -> Bits:
    """Return 64 bits for each id that look random: the finalizer of SplitMix64."""
    salt = (int.from_bytes(what.encode()[-7:]) ^ (seed * 0x9E3779B97F4A7C15)) % 2**64
    with np.errstate(over="ignore"):
        mixed: Bits = (ids.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        mixed += np.uint64(salt)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return mixed ^ (mixed >> np.uint64(31))


def _below(bits: Bits, use: int, limit: int) -> Ints:
    """Return numbers below a limit from bits; another ``use`` gives other numbers."""
    with np.errstate(over="ignore"):
        mixed = (bits + np.uint64(use)) * np.uint64(0xD6E8FEB86659FD93)
        mixed ^= mixed >> np.uint64(32)
    return (mixed % np.uint64(limit)).astype(np.int64)
