"""Page tokens: the last key of a page, and a signature that binds it to one listing."""

import base64
import hashlib
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TypeVar

from icecheck.mock_server.protocol import problem

T = TypeVar("T")

_SIGNATURE_BYTES = 12


def make_token(key: bytes, listing: tuple[str, ...], last: str) -> str:
    """Return an opaque token that continues after `last` in this listing and in no other."""
    name = last.encode()
    return base64.urlsafe_b64encode(_signature(key, listing, name) + name).decode()


def read_token(key: bytes, listing: tuple[str, ...], token: str) -> str:
    """Return the key in a token; Problem 400 for a token that this listing did not give."""
    try:
        raw = base64.b64decode(token.encode("ascii"), altchars=b"-_", validate=True)
        last = raw[_SIGNATURE_BYTES:].decode()
    except ValueError:
        last = ""
    # To make the token again also refuses the other base64 spellings of the same bytes.
    if make_token(key, listing, last) != token:
        raise problem.bad_request("pageToken was not given by this listing")
    return last


class PageRequest:
    """The `pageToken` and `pageSize` of one request for a listing.

    `after` is the key to continue after (None for the first page); `size` is None when the client
    did not ask for pages, and then gets everything in one answer.
    """

    __slots__ = ("_key", "_listing", "after", "size")

    def __init__(
        self, query: Mapping[str, str], key: bytes, listing: tuple[str, ...], size_max: int
    ) -> None:
        size = _page_size(query.get("pageSize"), size_max)
        token = query.get("pageToken")
        self._key = key
        self._listing = listing
        self.size = None if token is None else size
        self.after = read_token(key, listing, token) if token else None

    def cut(self, items: Iterator[T]) -> tuple[list[T], bool]:
        """Return the items of this page, and whether more follow."""
        if self.size is None:
            return list(items), False
        page = list(islice(items, self.size + 1))
        return page[: self.size], len(page) > self.size

    def next_token(self, last: str) -> str:
        """Return the token of the page after `last`."""
        return make_token(self._key, self._listing, last)


def _page_size(text: str | None, size_max: int) -> int:
    if text is None:
        return size_max
    digits = text.lstrip("0") if text.isascii() and text.isdigit() else ""
    if not digits:
        raise problem.malformed(f"pageSize must be a positive integer: {text[:40]!r}")
    # A number with more digits than the limit is above it; parsing it could take long.
    return size_max if len(digits) > len(str(size_max)) else min(int(digits), size_max)


def _signature(key: bytes, listing: tuple[str, ...], name: bytes) -> bytes:
    # The lengths in front keep ("a", "bc") and ("ab", "c") apart.
    parts = [part.encode() for part in listing]
    framed = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return hashlib.blake2b(framed + name, key=key, digest_size=_SIGNATURE_BYTES).digest()
