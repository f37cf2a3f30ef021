"""A persistent map in key order, so that a new version of a big namespace shares almost everything.

Two levels of tuples, each chunk at most `CHUNK_KEYS_MAX` keys: a change copies one chunk and the
outer tuple (microseconds at 100 000 keys), a look-up is two bisections, and a listing can start
after any key, which is what stable page tokens need.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

import msgspec

CHUNK_KEYS_MAX = 256
_FILLED = CHUNK_KEYS_MAX // 2

K = TypeVar("K", str, tuple[str, ...])
V = TypeVar("V")


class SortedMap(msgspec.Struct, Generic[K, V], frozen=True):
    """An immutable mapping sorted by key; `with_item` and `without` return new maps.

    `heads[i]` is the smallest key of `chunks[i]`; a chunk is (keys, values), never empty.
    """

    heads: tuple[K, ...] = ()
    chunks: tuple[tuple[tuple[K, ...], tuple[V, ...]], ...] = ()
    length: int = 0

    @classmethod
    def of(cls, items: Iterable[tuple[K, V]]) -> "SortedMap[K, V]":
        """Return a map of items with different keys, in whatever order they come."""
        ordered = sorted(items, key=_key)
        parts = [ordered[n : n + _FILLED] for n in range(0, len(ordered), _FILLED)]
        chunks: list[tuple[tuple[K, ...], tuple[V, ...]]] = [
            (tuple(key for key, _ in part), tuple(value for _, value in part)) for part in parts
        ]
        return SortedMap(tuple(keys[0] for keys, _ in chunks), tuple(chunks), len(ordered))

    def __len__(self) -> int:
        return self.length

    def __contains__(self, key: K) -> bool:
        return self._find(key) is not None

    def get(self, key: K) -> V | None:
        """Return the value of a key, or None."""
        found = self._find(key)
        if found is None:
            return None
        chunk, position = found
        return self.chunks[chunk][1][position]

    def with_item(self, key: K, value: V) -> "SortedMap[K, V]":
        """Return a map in which the key has this value."""
        if not self.chunks:
            return SortedMap((key,), (((key,), (value,)),), 1)
        index = max(0, bisect_right(self.heads, key) - 1)
        keys: tuple[K, ...] = self.chunks[index][0]
        values: tuple[V, ...] = self.chunks[index][1]
        position: int = bisect_left(keys, key)
        if position < len(keys) and keys[position] == key:
            changed = (keys, (*values[:position], value, *values[position + 1 :]))
            return self._replaced(index, (changed,), self.length)
        more_keys = keys[:position] + (key,) + keys[position:]  # noqa: RUF005 - keeps the type
        more_values = (*values[:position], value, *values[position:])
        if len(more_keys) <= CHUNK_KEYS_MAX:
            return self._replaced(index, ((more_keys, more_values),), self.length + 1)
        half = len(more_keys) // 2
        left = (more_keys[:half], more_values[:half])
        right = (more_keys[half:], more_values[half:])
        return self._replaced(index, (left, right), self.length + 1)

    def without(self, key: K) -> "SortedMap[K, V]":
        """Return a map without the key; KeyError if it is not there."""
        found = self._find(key)
        if found is None:
            raise KeyError(key)
        index, position = found
        keys, values = self.chunks[index]
        keys = keys[:position] + keys[position + 1 :]
        values = values[:position] + values[position + 1 :]
        if not keys:
            return self._replaced(index, (), self.length - 1)
        if index and len(keys) + len(self.chunks[index - 1][0]) <= CHUNK_KEYS_MAX // 2:
            # Small neighbours are joined: otherwise many removals would leave a long outer tuple.
            left_keys, left_values = self.chunks[index - 1]
            joined = (left_keys + keys, left_values + values)
            return self._replaced(index - 1, (joined,), self.length - 1, width=2)
        return self._replaced(index, ((keys, values),), self.length - 1)

    def key_chunks(self) -> Iterator[tuple[K, ...]]:
        """Yield all keys in order, in pieces that neighbouring versions of a map share."""
        for keys, _ in self.chunks:
            yield keys

    def after(self, key: K | None = None) -> Iterator[tuple[K, V]]:
        """Return the items in key order: all of them, or those after the given key."""
        index, position = 0, 0
        if key is not None and self.chunks:
            index = max(0, bisect_right(self.heads, key) - 1)
            position = bisect_right(self.chunks[index][0], key)
        for chunk in range(index, len(self.chunks)):
            keys, values = self.chunks[chunk]
            for item in range(position if chunk == index else 0, len(keys)):
                yield keys[item], values[item]

    def changes_since(self, earlier: "SortedMap[K, V]") -> Iterator[tuple[K, V | None]]:
        """Yield each key whose value is another object than in an earlier map; None: it is gone.

        Chunks that both maps share are passed over, so that this costs as much as the change did.
        """
        shared = {id(chunk) for chunk in earlier.chunks} & {id(chunk) for chunk in self.chunks}
        before = dict(_items(earlier.chunks, shared))
        for key, value in _items(self.chunks, shared):
            if before.pop(key, None) is not value:
                yield key, value
        for key in before:
            yield key, None

    def _find(self, key: K) -> tuple[int, int] | None:
        index = bisect_right(self.heads, key) - 1
        if index < 0:
            return None
        keys = self.chunks[index][0]
        position = bisect_left(keys, key)
        if position < len(keys) and keys[position] == key:
            return index, position
        return None

    def _replaced(
        self,
        index: int,
        chunks: tuple[tuple[tuple[K, ...], tuple[V, ...]], ...],
        length: int,
        width: int = 1,
    ) -> "SortedMap[K, V]":
        heads = tuple(chunk[0][0] for chunk in chunks)
        return SortedMap(
            self.heads[:index] + heads + self.heads[index + width :],
            self.chunks[:index] + chunks + self.chunks[index + width :],
            length,
        )


def _key(item: tuple[K, V]) -> K:
    return item[0]


def _items(
    chunks: tuple[tuple[tuple[K, ...], tuple[V, ...]], ...], shared: set[int]
) -> Iterator[tuple[K, V]]:
    """Return the items of those chunks that are not shared."""
    for chunk in chunks:
        if id(chunk) not in shared:
            yield from zip(*chunk, strict=True)
