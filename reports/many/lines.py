"""The lines of tables that put several runs side by side."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """One field of the matrix: what it says, and in which tone; ``odd`` if it alone differs."""

    value: str
    words: str
    tone: str
    odd: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the matrix: an id, its title and level, and an entry for each run."""

    id: str
    title: str
    level: str
    entries: tuple[Entry, ...]


def in_order(names: Iterable[Iterable[str]]) -> list[str]:
    """Return all names, each once, in the order in which they are met."""
    return list(dict.fromkeys(name for some in names for name in some))


def odd_one_marked(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Return the entries, one marked if all others say the same and it alone does not."""
    counts = Counter(each.value for each in entries)
    if len(entries) < 3 or sorted(counts.values()) != [1, len(entries) - 1]:
        return entries
    return tuple(
        Entry(each.value, each.words, each.tone, odd=counts[each.value] == 1) for each in entries
    )
