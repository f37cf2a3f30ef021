"""Recorded concurrent histories, and pure functions that find anomalies in them.

A history is what clients know: who asked for what, when, and what was answered. Between those two
moments a request may have taken effect at any time, an unanswered one even later. An analyser
reports an anomaly only if no order of the requests explains the answers: it may miss an anomaly,
and never reports one that is not there. Anything that a request with an unknown outcome could
explain is no anomaly.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

Value = str | int | None


class Answer(StrEnum):
    """The answer as the client may rely on it: done, not done, or unknown."""

    OK = "ok"
    REFUSED = "refused"
    UNKNOWN = "unknown"


class _Unconditional:
    """The base of a write that is not conditional."""

    def __repr__(self) -> str:
        return "UNCONDITIONAL"


UNCONDITIONAL: Final = _Unconditional()


@dataclass(frozen=True, slots=True)
class Take:
    """Take a free name for an object; ``holder`` identifies the object of a competing client."""

    name: str
    holder: str


@dataclass(frozen=True, slots=True)
class Release:
    """Make a name free again: a drop, or the source of a rename."""

    name: str


@dataclass(frozen=True, slots=True)
class Write:
    """Set a field of an object; with ``base``, only if the field still has that value."""

    name: str
    field: str
    value: Value
    base: Value | _Unconditional = UNCONDITIONAL


@dataclass(frozen=True, slots=True)
class Seen:
    """What a reader was shown: whether the name is taken, by which object, and the fields.

    A field that the mapping leaves out was not there; ``holder`` None: it was not shown.
    """

    name: str
    present: bool
    holder: str | None = None
    fields: Mapping[str, Value] = field(default_factory=dict)


Deed = Take | Release | Write | Seen


@dataclass(frozen=True, slots=True)
class Event:
    """One request of one process: when it was sent and answered, what it did or showed.

    Times are nanoseconds of one clock; ``answered_ns`` None means never. ``label`` and ``exchange``
    are for the reader of a witness.
    """

    process: str
    invoked_ns: int
    answered_ns: int | None
    answer: Answer
    deeds: tuple[Deed, ...]
    label: str = ""
    exchange: int | None = None


History = Sequence[Event]


class AnomalyKind(StrEnum):
    """What was lost: a single winner, an update, atomicity, a drop, or a refusal."""

    DUPLICATE_SUCCESS = "duplicate-success"
    LOST_UPDATE = "lost-update"
    HALF_VISIBLE = "half-visible"
    RESURRECTED = "resurrected"
    PHANTOM_SUCCESS = "phantom-success"


@dataclass(frozen=True, slots=True)
class Anomaly:
    """A contradiction: the events that cannot all be true, and why, in one clause."""

    kind: AnomalyKind
    name: str
    witness: tuple[Event, ...]
    why: str


# --------------------------------------------------------------------------- in time


def _latest(event: Event) -> float:
    """Return the last moment at which a request may have taken effect."""
    if event.answer is Answer.UNKNOWN or event.answered_ns is None:
        return float("inf")
    return event.answered_ns


def _surely_before(first: Event, second: Event) -> bool:
    return _latest(first) < second.invoked_ns


def _may_fall_between(event: Event, first: Event, last: Event) -> bool:
    """Return whether a request may have taken effect between two others."""
    start = min(first.invoked_ns, last.invoked_ns)
    return event.invoked_ns <= max(_latest(first), _latest(last)) and _latest(event) >= start


# ------------------------------------------------------------------------- what happened


def _told(history: History, *kinds: type[Deed]) -> Iterator[tuple[Event, Deed]]:
    """Yield the deeds that were acknowledged, or shown to a reader."""
    for event in history:
        if event.answer is Answer.OK:
            for deed in event.deeds:
                if isinstance(deed, kinds):
                    yield event, deed


def _possible(history: History, holds: Callable[[Deed], bool]) -> list[Event]:
    """Return the requests that did such a deed or may have done it: those not refused."""
    return [
        event
        for event in history
        if event.answer is not Answer.REFUSED and any(holds(deed) for deed in event.deeds)
    ]


def _excused(excuses: Sequence[Event], first: Event, last: Event) -> bool:
    return any(
        _may_fall_between(event, first, last)
        for event in excuses
        if event is not first and event is not last
    )


def _equals(wanted: Deed) -> Callable[[Deed], bool]:
    return lambda deed: deed == wanted


def _takes(name: str) -> Callable[[Deed], bool]:
    return lambda deed: isinstance(deed, Take) and deed.name == name


def _releases(name: str) -> Callable[[Deed], bool]:
    return lambda deed: isinstance(deed, Release) and deed.name == name


def _replaces(name: str) -> Callable[[Deed], bool]:
    return lambda deed: isinstance(deed, Take | Release) and deed.name == name


def _touches(name: str, field_name: str) -> Callable[[Deed], bool]:
    replaces = _replaces(name)
    return lambda deed: (
        replaces(deed)
        or (isinstance(deed, Write) and (deed.name, deed.field) == (name, field_name))
    )


def _sets(name: str, field_name: str, value: Value) -> Callable[[Deed], bool]:
    return lambda deed: (
        isinstance(deed, Write)
        and (deed.name, deed.field) == (name, field_name)
        and deed.value == value
    )


# ----------------------------------------------------------------------------- analysers


def duplicate_successes(history: History) -> tuple[Anomaly, ...]:
    """Find names that two requests took successfully, with nothing between that freed them."""
    found = []
    takes = [(e, d.name) for e, d in _told(history, Take) if isinstance(d, Take)]
    for (first, name), (second, other) in itertools.combinations(takes, 2):
        excuses = _possible(history, _releases(name))
        if name == other and first is not second and not _excused(excuses, first, second):
            why = f"both were told that they took {name}, and nothing freed it between"
            found.append(Anomaly(AnomalyKind.DUPLICATE_SUCCESS, name, (first, second), why))
    return tuple(found)


def lost_updates(history: History) -> tuple[Anomaly, ...]:
    """Find acknowledged changes that were overwritten unseen, or that no later state has."""
    return (*_same_base(history), *_gone_writes(history), *_gone_objects(history))


def _same_base(history: History) -> Iterator[Anomaly]:
    writes = [(e, d) for e, d in _told(history, Write) if isinstance(d, Write)]
    conditional = [(e, d) for e, d in writes if d.base is not UNCONDITIONAL and d.base != d.value]
    for (first, one), (second, two) in itertools.combinations(conditional, 2):
        if first is second or (one.name, one.field, one.base) != (two.name, two.field, two.base):
            continue
        back = _possible(history, _replaces(one.name))
        if not isinstance(one.base, _Unconditional):
            back += _possible(history, _sets(one.name, one.field, one.base))
        if not _excused(back, first, second):
            why = (
                f"both changed {one.field} of {one.name} from {one.base!r}, "
                "and nothing set it back between"
            )
            yield Anomaly(AnomalyKind.LOST_UPDATE, one.name, (first, second), why)


def _gone_writes(history: History) -> Iterator[Anomaly]:
    for (done, write), (read, seen) in itertools.product(
        _told(history, Write), _told(history, Seen)
    ):
        if not isinstance(write, Write) or not isinstance(seen, Seen):
            continue
        if seen.name != write.name or not seen.present or not _surely_before(done, read):
            continue
        shown = seen.fields.get(write.field)
        excuses = _possible(history, _touches(write.name, write.field))
        if shown != write.value and not _excused(excuses, done, read):
            why = (
                f"{write.field} of {write.name} was set to {write.value!r}, "
                f"nothing changed it since, and a later reader was shown {shown!r}"
            )
            yield Anomaly(AnomalyKind.LOST_UPDATE, write.name, (done, read), why)


def _gone_objects(history: History) -> Iterator[Anomaly]:
    for (made, take), (read, seen) in itertools.product(_told(history, Take), _told(history, Seen)):
        if not isinstance(take, Take) or not isinstance(seen, Seen):
            continue
        if seen.name != take.name or not _surely_before(made, read):
            continue
        if not seen.present:
            found = "it was not there"
        elif seen.holder not in {None, take.holder}:
            found = f"it was {seen.holder}"
        else:
            continue
        if not _excused(_possible(history, _replaces(take.name)), made, read):
            why = (
                f"{take.name} became {take.holder}, nothing took or freed it since, "
                f"and for a later reader {found}"
            )
            yield Anomaly(AnomalyKind.LOST_UPDATE, take.name, (made, read), why)


def half_visible_transactions(history: History) -> tuple[Anomaly, ...]:
    """Find readers who saw one part of a transaction and, after that, not another part.

    Only reads of one process, one after the other, count: two readers have no common order.
    """
    found: list[Anomaly] = []
    for event in history:
        writes = [deed for deed in event.deeds if isinstance(deed, Write)]
        if event.answer is Answer.OK:
            for one, other in itertools.permutations(writes, 2):
                if one.name != other.name:
                    found += _half_seen(history, event, one, other)
    return tuple(found)


def _half_seen(history: History, done: Event, one: Write, other: Write) -> Iterator[Anomaly]:
    if _possible(history, _sets(one.name, one.field, one.value)) != [done]:
        return  # another request may have written the same values
    if any(not _surely_before(e, done) for e in _possible(history, _replaces(other.name))):
        return
    reads = [(e, d) for e, d in _told(history, Seen) if isinstance(d, Seen) and d.present]
    for (first, new), (second, old) in itertools.permutations(reads, 2):
        if first.process != second.process or not _surely_before(first, second):
            continue
        if (new.name, old.name) != (one.name, other.name):
            continue
        shown = old.fields.get(other.field)
        if new.fields.get(one.field) != one.value or shown == other.value:
            continue
        writers = _possible(history, _sets(other.name, other.field, shown))
        if writers and all(_surely_before(writer, done) for writer in writers):
            why = (
                f"the reader was shown {one.name} with the transaction's {one.value!r}, and then "
                f"{other.name} with {shown!r}, which the transaction replaced"
            )
            witness = (writers[-1], done, first, second)
            yield Anomaly(AnomalyKind.HALF_VISIBLE, other.name, witness, why)


def resurrections(history: History) -> tuple[Anomaly, ...]:
    """Find objects that were dropped and are shown or changed later without being made again."""
    found = []
    for (dropped, end), (later, deed) in itertools.product(
        _told(history, Release), _told(history, Seen, Write)
    ):
        if not isinstance(end, Release) or deed.name != end.name:
            continue
        if (isinstance(deed, Seen) and not deed.present) or any(map(_takes(end.name), later.deeds)):
            continue
        excuses = _possible(history, _takes(end.name))
        if _surely_before(dropped, later) and not _excused(excuses, dropped, later):
            why = f"{end.name} was removed, nobody took the name since, and it is there"
            found.append(Anomaly(AnomalyKind.RESURRECTED, end.name, (dropped, later), why))
    return tuple(found)


def phantom_successes(history: History) -> tuple[Anomaly, ...]:
    """Find refused requests whose effect a reader saw, though no other can have had it."""
    found = []
    refused = [(e, d) for e in history if e.answer is Answer.REFUSED for d in e.deeds]
    for (request, deed), (read, seen) in itertools.product(refused, _told(history, Seen)):
        if not isinstance(seen, Seen) or not seen.present or deed.name != seen.name:
            continue
        match deed:
            case Take(name, holder) if seen.holder == holder:
                others = _possible(history, _equals(deed))
                what = f"{name} is {holder}"
            case Write(name, field_name, value) if seen.fields.get(field_name) == value:
                others = _possible(history, _sets(name, field_name, value))
                what = f"{field_name} of {name} is {value!r}"
            case _:
                continue
        if not others:
            why = f"{what}, which only a refused request asked for"
            found.append(Anomaly(AnomalyKind.PHANTOM_SUCCESS, name, (request, read), why))
    return tuple(found)


_ANALYSERS = (
    duplicate_successes,
    phantom_successes,
    lost_updates,
    resurrections,
    half_visible_transactions,
)


def anomalies_in(history: History) -> tuple[Anomaly, ...]:
    """Find every kind of anomaly; if one explains another, it comes first."""
    return tuple(itertools.chain.from_iterable(analyse(history) for analyse in _ANALYSERS))


def tell(anomaly: Anomaly) -> str:
    """Return at most six lines that show the contradiction, events in order of sending.

    ``while`` marks a request that was sent before the one above it was answered.
    """
    lines = []
    before: Event | None = None
    for event in sorted(anomaly.witness, key=lambda e: e.invoked_ns):
        overlaps = before is not None and not _surely_before(before, event)
        where = "" if event.exchange is None else f" (exchange {event.exchange})"
        start = "while: " if overlaps else ""
        lines.append(f"{start}{event.process}: {event.label or 'request'} → {event.answer}{where}")
        before = event
    return "\n".join([*lines, f"contradiction: {anomaly.why}"])
