"""Fresh idempotency keys, as clients make them."""

import itertools
import secrets
import time
from datetime import datetime
from email.utils import parsedate_to_datetime

from icecheck.client.catalog import Catalog
from icecheck.wire.exchange import Exchange

_LOOKED_AT = 8


def fresh_key(catalog: Catalog) -> str:
    """Return a key that no other request has: a UUIDv7 in lower case (1.11.0, L2103).

    Its time is what the catalog's own answers say, because a catalog may look for a key by that, or
    refuse an old one. All else is drawn, and not from the run's seed: another run with the same
    seed and the same names sends other requests (L2106).
    """
    sub_second, rest = secrets.randbits(12), secrets.randbits(62)
    value = _now_ms(catalog) << 80 | 7 << 76 | sub_second << 64 | 0b10 << 62 | rest
    digits = f"{value:032x}"
    bounds = itertools.pairwise((0, 8, 12, 16, 20, 32))
    return "-".join(digits[start:end] for start, end in bounds)


def _now_ms(catalog: Catalog) -> int:
    """Return the time of the catalog's newest answer that tells it, or ours, in epoch ms."""
    own, others = catalog.exchanges[-_LOOKED_AT:], catalog.session.exchanges[-_LOOKED_AT:]
    for exchange in (*reversed(own), *reversed(others)):
        told = _date_of(exchange)
        if told is not None:
            return round(told.timestamp() * 1000)
    return time.time_ns() // 1_000_000


def _date_of(exchange: Exchange) -> datetime | None:
    try:
        told = parsedate_to_datetime(exchange.header("date") or "")
        return told if 0 < told.timestamp() < 1 << 35 else None
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return None
