"""Searches for an order of requests, one after another, that explains every answer.

The search is that of Wing and Gong with the memory of Lowe: it does one request after another to
the names and their objects, goes back where an answer does not fit, and never tries again what it
has tried. What it is given may be certain or only possible, and it finds an order if there is one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from icecheck.histories.history import (
    Deed,
    Release,
    Seen,
    Take,
    Transfer,
    Unconditional,
    Value,
    Write,
)

STEPS_MAX = 150_000
"""After so many steps a search is given up: one to two seconds on a slow machine."""

Fields: TypeAlias = tuple[tuple[str, Value], ...]
Object: TypeAlias = tuple[str, Fields]
"""The holder, and the fields that are not None, in the order of their names."""
Objects: TypeAlias = tuple[Object | None, ...]
"""The object of each name, None where the name is free."""


class Ending(StrEnum):
    """How a search ended: with an order, with the proof that there is none, or undecided."""

    ORDERED = "ordered"
    IMPOSSIBLE = "impossible"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Occurrence:
    """What one request did at one moment: after it was sent, and not after ``latest_ns``.

    One that is not ``certain`` may have happened or not.
    """

    process: str
    invoked_ns: int
    latest_ns: float
    deeds: tuple[Deed, ...]
    certain: bool

    @property
    def reads(self) -> bool:
        """Whether it changes nothing."""
        return all(isinstance(deed, Seen) for deed in self.deeds)


def order_of(occurrences: Sequence[Occurrence], steps_max: int = STEPS_MAX) -> Ending:
    """Return whether some order of the occurrences explains all of them.

    At the beginning no name is taken. What surely ended before another began comes before it, but
    for two reads of different processes: a reader does not know what another one was shown.
    """
    return _Search(occurrences, steps_max).ended()


class _Search:
    """One search: which occurrences there are, by number, and which must be done before which.

    Sets of occurrences are integers with a bit for each. States of the objects are numbered as they
    come up, and what an occurrence makes of a state is reckoned once.
    """

    def __init__(self, occurrences: Sequence[Occurrence], steps_max: int) -> None:
        self.ordered = sorted(occurrences, key=lambda each: (each.latest_ns, each.invoked_ns))
        self.steps_max = steps_max
        self.names = _names(self.ordered)
        before = [_bits(self._before(each)) for each in self.ordered]
        self.certain = _bits(n for n, each in enumerate(self.ordered) if each.certain)
        self.due = [mask & self.certain for mask in before]
        self.passed = [mask & ~self.certain for mask in before]
        self.readers = [n for n, each in enumerate(self.ordered) if each.reads and each.certain]
        # Those that may happen late come last: of what is pushed, the last is tried first.
        self.others = [n for n in range(len(self.ordered)) if n not in self.readers][::-1]
        self.states: list[Objects] = [(None,) * len(self.names)]
        self.numbers = {self.states[0]: 0}
        self.known: list[dict[int, int | None]] = [{} for _ in self.ordered]

    def _before(self, later: Occurrence) -> Iterator[int]:
        for number, each in enumerate(self.ordered):
            apart = each.reads and later.reads and each.process != later.process
            if each.latest_ns < later.invoked_ns and not apart:
                yield number

    def ended(self) -> Ending:
        """Search depth first, and return how that ended."""
        waiting = [(0, 0)]
        seen: set[tuple[int, int]] = set()
        while waiting:
            done, state = waiting.pop()
            done = self._with_reads(done, state)
            if not self.certain & ~done:
                return Ending.ORDERED
            if (done, state) in seen:
                continue
            if len(seen) >= self.steps_max:
                return Ending.UNDECIDED
            seen.add((done, state))
            waiting += self._next(done, state)
        return Ending.IMPOSSIBLE

    def _with_reads(self, done: int, state: int) -> int:
        """Return what is done when all reads that fit now are done too.

        A read that excludes something which has perhaps not happened yet has to wait for its turn.
        """
        for number in self.readers:
            bit = 1 << number
            waits = done & bit or (self.due[number] | self.passed[number]) & ~done
            if not waits and self._after(number, state) is not None:
                done |= bit
        return done

    def _next(self, done: int, state: int) -> Iterator[tuple[int, int]]:
        """Yield what each occurrence leads to that may come next, the most urgent one last.

        What only perhaps happened, and would have had to be before, has not happened.
        """
        for number in (*self.others, *self.readers):
            bit = 1 << number
            if not (done & bit or self.due[number] & ~done):
                changed = self._after(number, state)
                if changed is not None:
                    yield done | bit | self.passed[number], changed

    def _after(self, number: int, state: int) -> int | None:
        """Return the state after an occurrence; None if it is not possible."""
        known = self.known[number]
        if state not in known:
            objects = after(self.states[state], self.names, self.ordered[number].deeds)
            if objects is not None and objects not in self.numbers:
                self.numbers[objects] = len(self.states)
                self.states.append(objects)
            known[state] = None if objects is None else self.numbers[objects]
        return known[state]


def _names(occurrences: Sequence[Occurrence]) -> dict[str, int]:
    named = [deed for each in occurrences for deed in each.deeds]
    targets = [deed.target for deed in named if isinstance(deed, Transfer)]
    return {name: n for n, name in enumerate(dict.fromkeys([*(d.name for d in named), *targets]))}


def _bits(numbers: Iterator[int]) -> int:
    return sum(1 << number for number in numbers)


# ------------------------------------------------------------------- what a request does


def after(objects: Objects, names: Mapping[str, int], deeds: Sequence[Deed]) -> Objects | None:
    """Return the objects after the deeds of one request; None if it cannot have been accepted.

    A request that frees a free name may have been accepted: of two clients that drop one object,
    both may be told that they did.
    """
    held = [*objects]
    for deed in deeds:
        at = names[deed.name]
        now = held[at]
        match deed:
            case Seen():
                possible = _shows(deed, now)
            case Take(holder=holder):
                possible = now is None
                held[at] = (holder, ())
            case Release():
                possible = True
                held[at] = None
            case Transfer(target=target):
                possible = now is not None and held[names[target]] is None
                held[at], held[names[target]] = None, now
            case Write():
                possible = now is not None and _allows(deed, now)
                held[at] = None if now is None else _with_field(now, deed.field, deed.value)
        if not possible:
            return None
    return tuple(held)


def _shows(seen: Seen, now: Object | None) -> bool:
    """Return whether a reader is shown this where an object is, or none."""
    if now is None or not seen.present:
        return seen.present is (now is not None)
    holder, fields = now
    if seen.holder not in {None, holder}:
        return False
    if seen.fields is None:
        return True
    return {k: v for k, v in seen.fields.items() if v is not None} == dict(fields)


def _allows(write: Write, now: Object) -> bool:
    """Return whether a write meets its own conditions."""
    holder, fields = now
    if write.holder not in {None, holder}:
        return False
    return isinstance(write.base, Unconditional) or dict(fields).get(write.field) == write.base


def _with_field(now: Object, name: str, value: Value) -> Object:
    holder, fields = now
    changed = {**dict(fields), name: value}
    return holder, tuple(sorted((k, v) for k, v in changed.items() if v is not None))
