"""Pure functions that find anomalies in histories, and name them.

An analyser reports an anomaly only if no order of the requests explains the answers: it may miss an
anomaly, and never reports one that is not there. Anything that a request with an unknown outcome
could explain is no anomaly.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from icecheck.histories.history import (
    Anomaly,
    AnomalyKind,
    Answer,
    Deed,
    Event,
    History,
    Release,
    Seen,
    Take,
    Transfer,
    Unconditional,
    Value,
    Write,
    latest,
    surely_before,
)

_D = TypeVar("_D", bound=Deed)

# --------------------------------------------------------------------------- in time


def _may_fall_between(event: Event, first: Event, last: Event) -> bool:
    """Return whether a request may have taken effect between two others."""
    start = min(first.invoked_ns, last.invoked_ns)
    return event.invoked_ns <= max(latest(first), latest(last)) and latest(event) >= start


# ------------------------------------------------------------------------- what happened


def _told(history: History, *kinds: type[_D]) -> Iterator[tuple[Event, _D]]:
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


def _taken(deed: Deed) -> str | None:
    """Return the name that a deed takes."""
    match deed:
        case Take(name) | Transfer(_, name):
            return name
    return None


def _freed(deed: Deed) -> str | None:
    """Return the name that a deed makes free."""
    return deed.name if isinstance(deed, Release | Transfer) else None


def _takes(name: str) -> Callable[[Deed], bool]:
    return lambda deed: _taken(deed) == name


def _releases(name: str) -> Callable[[Deed], bool]:
    return lambda deed: _freed(deed) == name


def _replaces(name: str) -> Callable[[Deed], bool]:
    return lambda deed: name in {_taken(deed), _freed(deed)}


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
    takes = [(e, name) for e, d in _told(history, Take, Transfer) if (name := _taken(d))]
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
    conditional = [
        (e, d, d.base)
        for e, d in _told(history, Write)
        if not isinstance(d.base, Unconditional) and d.base != d.value
    ]
    for (first, one, base), (second, two, other) in itertools.combinations(conditional, 2):
        if first is second or (one.name, one.field, base) != (two.name, two.field, other):
            continue
        back = [
            *_possible(history, _replaces(one.name)),
            *_possible(history, _sets(one.name, one.field, base)),
        ]
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
        if seen.name != write.name or seen.fields is None or not surely_before(done, read):
            continue
        if not seen.present:
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
        if seen.name != take.name or not surely_before(made, read):
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
    if any(not surely_before(e, done) for e in _possible(history, _replaces(other.name))):
        return
    reads = [(e, d) for e, d in _told(history, Seen) if d.present]
    for (first, new), (second, old) in itertools.permutations(reads, 2):
        if first.process != second.process or not surely_before(first, second):
            continue
        if (new.name, old.name) != (one.name, other.name):
            continue
        if new.fields is None or old.fields is None:
            continue
        shown = old.fields.get(other.field)
        if new.fields.get(one.field) != one.value or shown == other.value:
            continue
        writers = _possible(history, _sets(other.name, other.field, shown))
        if writers and all(surely_before(writer, done) for writer in writers):
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
        if deed.name != end.name:
            continue
        if (isinstance(deed, Seen) and not deed.present) or any(map(_takes(end.name), later.deeds)):
            continue
        excuses = _possible(history, _takes(end.name))
        if surely_before(dropped, later) and not _excused(excuses, dropped, later):
            why = f"{end.name} was removed, nobody took the name since, and it is there"
            found.append(Anomaly(AnomalyKind.RESURRECTED, end.name, (dropped, later), why))
    return tuple(found)


def phantom_successes(history: History) -> tuple[Anomaly, ...]:
    """Find refused requests whose effect a reader saw, though no other can have had it."""
    found = []
    refused = [(e, d) for e in history if e.answer is Answer.REFUSED for d in e.deeds]
    for (request, deed), (read, seen) in itertools.product(refused, _told(history, Seen)):
        if not seen.present or deed.name != seen.name:
            continue
        match deed:
            case Take(name, holder) if seen.holder == holder:
                others = _possible(history, _equals(deed))
                what = f"{name} is {holder}"
            case Write(name, field_name, value) if (seen.fields or {}).get(field_name) == value:
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


def clearest(found: Sequence[Anomaly]) -> Anomaly:
    """Return, of the anomalies that are like the first, the one that starts last.

    Its events are the closest together and show it best.
    """
    alike = (anomaly for anomaly in found if anomaly.kind is found[0].kind)
    return max(alike, key=lambda anomaly: min(e.invoked_ns for e in anomaly.witness))
