"""Fresh idempotency keys, as clients make them."""

import hashlib
import itertools
from datetime import datetime
from email.utils import parsedate_to_datetime

from icecheck.client.catalog import Catalog
from icecheck.wire.exchange import Exchange

_LOOKED_AT = 8
_FIRST_MS = 1_767_225_600_000  # where the catalog tells no time: equal runs send equal keys


def fresh_key(catalog: Catalog) -> str:
    """Return a key that no other request has: a UUIDv7 in lower case (1.11.0, L2103).

    Its time is what the catalog's own answers say, because a catalog may look for a key by that;
    all else follows from the run's seed and a name of the run.
    """
    told = f"{catalog.session.seed}\0{catalog.new_name()}".encode()
    drawn = int.from_bytes(hashlib.blake2b(told, digest_size=10).digest())
    sub_second, rest = drawn >> 62 & 0xFFF, drawn & (1 << 62) - 1
    value = _now_ms(catalog) << 80 | 7 << 76 | sub_second << 64 | 0b10 << 62 | rest
    digits = f"{value:032x}"
    bounds = itertools.pairwise((0, 8, 12, 16, 20, 32))
    return "-".join(digits[start:end] for start, end in bounds)


def _now_ms(catalog: Catalog) -> int:
    """Return the time of the catalog's newest answer that tells it, in epoch milliseconds."""
    own, others = catalog.exchanges[-_LOOKED_AT:], catalog.session.exchanges[-_LOOKED_AT:]
    for exchange in (*reversed(own), *reversed(others)):
        told = _date_of(exchange)
        if told is not None:
            return round(told.timestamp() * 1000)
    return _FIRST_MS


def _date_of(exchange: Exchange) -> datetime | None:
    try:
        told = parsedate_to_datetime(exchange.header("date") or "")
    except ValueError:
        return None
    return told if 0 < told.timestamp() < 1 << 35 else None
