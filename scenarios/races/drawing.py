"""Draws programs with Hypothesis as data: the same seed draws the same programs everywhere.

A program begins with a few requests that collide, one client's beside another's, so that every seed
has all of these collisions, and goes on with whatever is drawn.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from icecheck.judging.generating import drawing, generating
from icecheck.scenarios.races.programs import (
    Program,
    Request,
    from_words,
)

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_OWN = "?"
"""Stands for a value that no other request of the program has."""
_GIVEN = (("tu", "x"), ("ab", "v"), ("mn", "n"))
_FREE = {"f": "x2", "g": "x3", "c": "v2", "d": "v3"}
_NUMBERS = ("0", "1")
_CLIENTS = 4


@dataclass(frozen=True, slots=True)
class Sort:
    """A sort of programs: what they begin with, in turn, and what else is drawn for each client.

    A collision has a script for each of four clients, apart by ``|``, over two given tables ``t``
    and ``u`` and free names ``f`` and ``g``, two given views ``a`` and ``b`` and free names ``c``
    and ``d``, and two given namespaces ``m`` and ``n``. Each part of a program is a collision of
    one of the lists in ``beginnings``; what else is drawn is in the last part.
    """

    beginnings: tuple[tuple[str, ...], ...]
    further: tuple[str, ...]
    further_max: int

    @property
    def variety(self) -> int:
        """The number of programs that have all collisions."""
        return max(map(len, self.beginnings))


CHANGES = Sort(
    (
        (
            (
                "move-main {t} 1 0 | move-main {t} 2 0 | move-main-together {t} {u} 3 0 ? | "
                "set {u} q ? {u}"
            ),
            (
                "move-main-together {t} {u} 1 0 ? | move-main-together {u} {t} 2 0 ? | "
                "move-main {t} 3 0 | move-main {u} 4 0"
            ),
        ),
        (
            (
                "set {u} p ? {u} | load {u}; together {t} {u} p ? | "
                "rename {u} {g}; rename {g} {u} | set {t} q ? any"
            ),
            "create {g} ? | register {g} 0 | rename {u} {g} | set {u} p ? {u}; set {u} q ? {u}",
        ),
        (
            (
                "together {t} {u} p ?; rename {t} {f} | set {t} p ? {t} | "
                "set {t} q ? {t}; create {g} ? | create-by-commit {g} ?; set {g} q ? any"
            ),
            (
                "rename {t} {f}; create {t} ? | set {t} p ? {t}; set {f} q ? {t} | "
                "rename {u} {f} | together {u} {t} q ?; drop {t}"
            ),
        ),
    ),
    (
        "set {t} p ? {t}", "set {f} q ? any", "move-main {t} 1 0", "move-main {t} 2 1",
        "together {t} {u} p ?", "create {t} ?", "create {f} ?", "drop {f}", "drop {t}",
        "rename {t} {f}", "rename {f} {t}", "rename {u} {t}",
    ),
    1,
)  # fmt: skip
"""Programs of clients that all change tables: main, then anything, then names."""

VIEWS = Sort(
    (
        (
            "set {a} p ? {a} | define {a} ? {a} | set {a} q ? {a} | rename {a} {c}",
            "rename {a} {c} | create {c} ? | rename {b} {c} | define {a} ? {a}",
        ),
        (
            "drop {b} | set {b} p ? {b} | define {b} ? any | create {d} ?",
            "drop {c} | set {c} p ? any | create {d} ? | rename {a} {d}",
        ),
    ),
    ("set {a} q ? any", "define {c} ? any", "rename {c} {a}", "create {c} ?", "drop {a}"),
    1,
)
"""Programs of clients that change views: what they hold, then names and what is dropped."""

NAMESPACES = Sort(
    (
        (
            "set {m} p ? any | create {m}.x2 ? | create {m}.v2 ? | set {m} q ? any",
            "rename {t} {m}.x2 | drop {m} | register {n}.x3 0 | drop {n}",
        ),
        (
            "drop {n} | set {n} p ? any | create n2 ? | create n2 ?; drop n2",
            "create n2 ? | create n2 ?; set n2 p ? any | create n2 ?; drop n2 | create n2.x2 ?",
        ),
    ),
    ("create {m}.x2 ?", "drop {m}.x2", "drop {m}", "set {m} p ? any", "create {n} ?"),
    1,
)
"""Programs of clients that change namespaces and what they hold, and that drop them."""

READS = Sort(
    (
        (
            (
                "together {t} {u} p ?; together {u} {t} p ? | "
                "set {t} q ? {t}; load {t}; set {t} q ? {t}; load {t} | "
                "load {t}; load {u}; load {t}; load {u} | load {u}; load {t}; load {u}"
            ),
            (
                "set {t} p ? {t}; load {t}; set {t} p ? {t}; load {t} | "
                "define {a} ? {a}; load {a}; define {a} ? {a}; load {a} | "
                "load {t}; load {a}; load {t} | set {t} q ? {t}; load {t}; list"
            ),
        ),
        (
            (
                "rename {t} {f}; rename {f} {t} | set {u} p ? {u}; load {u} | "
                "load {t}; load {f}; exists {t}; list | load {f}; load {t}; load {u}"
            ),
            (
                "create {f} ?; load {f}; drop {f} | rename {a} {c}; create n2 ?; load n2 | "
                "exists {f}; load {c}; list-namespaces; load {f} | load {a}; list-views; load n2"
            ),
        ),
    ),
    (),
    0,
)
"""Programs of two clients that change something, and two that only read."""


def draw_programs(seed: int, sort: Sort, *, programs_max: int) -> tuple[Program, ...]:
    """Return up to ``programs_max`` different programs of four clients.

    Only small choices are drawn: into larger ones Hypothesis mixes constants of the modules that
    happen to be loaded, and the same seed would draw other programs elsewhere.
    """
    from hypothesis import given
    from hypothesis import strategies as st

    drawn: dict[Program, None] = {}
    # For each beginning which of what is given it is about, and which client has which part of it.
    about = st.tuples(st.permutations(_NUMBERS), st.permutations(range(_CLIENTS)))
    begun = st.tuples(*(about for _ in sort.beginnings))

    # The first example is always the simplest one and is left out; more examples are drawn than
    # wanted, because some repeat.
    @drawing(seed, 2 * programs_max + 2)
    @given(begun, st.tuples(*(_further(sort) for _ in range(_CLIENTS))))
    def collect(
        chosen: Sequence[tuple[Sequence[str], Sequence[int]]], more: Sequence[Sequence[Request]]
    ) -> None:
        parts = []
        for beginnings, (tables, clients) in zip(sort.beginnings, chosen, strict=True):
            collision = beginnings[len(drawn) % len(beginnings)].split(" | ")
            parts.append([_filled(collision[client], tables) for client in clients])
        parts[-1] = [[*mine, *rest] for mine, rest in zip(parts[-1], more, strict=True)]
        drawn[_numbered(parts)] = None

    with generating():
        collect()
    return tuple(drawn)[1 : programs_max + 1]


def _further(sort: Sort) -> "SearchStrategy[list[Request]]":
    from hypothesis import strategies as st

    one = st.builds(
        lambda template, numbers: _filled(template, numbers)[0],
        st.sampled_from(sort.further),
        st.permutations(_NUMBERS),
    )
    return st.lists(one, max_size=sort.further_max) if sort.further else st.just([])


def _filled(part: str, numbers: Sequence[str]) -> list[Request]:
    """Return the requests of a script over what is given, in the order of these numbers."""
    given = {
        letter: f"{kind}{n}"
        for letters, kind in _GIVEN
        for letter, n in zip(letters, numbers, strict=True)
    }
    return [from_words(each) for each in part.format(**given, **_FREE).split("; ")]


def _numbered(parts: Sequence[Sequence[Sequence[Request]]]) -> Program:
    """Return a program with numbers for values, so that no two values are alike."""
    numbers = itertools.count(1)
    return tuple(
        tuple(
            tuple(
                replace(
                    each, values=tuple(str(next(numbers)) if v == _OWN else v for v in each.values)
                )
                for each in script
            )
            for script in part
        )
        for part in parts
    )
