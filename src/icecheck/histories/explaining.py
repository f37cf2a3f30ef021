"""Says whether orders of the requests explain a history, and which answers contradict each other.

Three questions are asked, each harder than the one before. Every object by itself: is there an
order of the acknowledged changes that leads to what was shown when all was over? Then: does one
also explain what was shown meanwhile? Then, for each reader by itself: does one explain it if each
transaction happens at one moment? Two readers have no common order beyond that of an object.

The search decides whether there is an anomaly, the analysers tell which. A request is part of a
contradiction if it would end with nothing known of this request's outcome.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from icecheck.histories.anomalies import (
    anomalies_in,
    clearest,
    half_visible_transactions,
    phantom_successes,
)
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
    Write,
    is_read,
    latest,
)
from icecheck.histories.ordering import STEPS_MAX, Ending, Occurrence, order_of

_AT_THE_END = frozenset(
    {
        AnomalyKind.DUPLICATE_SUCCESS,
        AnomalyKind.PHANTOM_SUCCESS,
        AnomalyKind.LOST_UPDATE,
        AnomalyKind.RESURRECTED,
    }
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The contradiction in a history, or None; ``decided``: no search was given up.

    ``at_the_end``: what was shown when all was over is enough for it.
    """

    anomaly: Anomaly | None
    decided: bool = True
    at_the_end: bool = False

    @property
    def contradiction(self) -> Anomaly:
        """The anomaly that was found. Raises ValueError if there is none."""
        if self.anomaly is None:
            raise ValueError("nothing contradicts")
        return self.anomaly

    def in_passing(self) -> "Judgement":
        """Return the judgement where a second look has shown nothing that is wrong."""
        if self.anomaly is None:
            return self
        why = f"{self.anomaly.why}; a second look showed what is due"
        return Judgement(replace(self.anomaly, kind=AnomalyKind.STALE_READ, why=why))


@dataclass(frozen=True, slots=True)
class _Part:
    """What a request did to one object, or all that it did."""

    event: Event
    deeds: tuple[Deed, ...]


_Group = tuple[_Part, ...]
"""What has to have an order."""
_Name = Callable[[_Group, tuple[Event, ...]], Anomaly]
"""Names a contradiction: gets all that has no order, and the events that it needs."""


def judged(history: History, *, strictly: bool, steps_max: int = STEPS_MAX) -> Judgement:
    """Return what no order of the requests explains.

    Without ``strictly`` only the first question is asked: what was shown while others wrote, and
    whether transactions happen at one moment, is left to the catalog.
    """
    shown = _watched(history)
    at_the_end = _without_early_reads(shown)
    asked: list[tuple[tuple[_Group, ...], _Name]] = [(_by_object(at_the_end), _of_changes)]
    if strictly:
        asked.append((_by_object(shown), _of_reads))
        asked.append((_by_reader(shown, at_the_end), _of_transactions))
    decided = True
    for groups, named in asked:
        for group in groups:
            ending = _ending(group, frozenset(), steps_max)
            if ending is Ending.IMPOSSIBLE:
                found = named(group, _needed(group, steps_max))
                return Judgement(found, at_the_end=named is _of_changes)
            decided = decided and ending is Ending.ORDERED
    return Judgement(None, decided)


# ----------------------------------------------------------------------- what is asked


def _watched(history: History) -> tuple[Event, ...]:
    """Return a history in which reads show those fields only that some request wrote."""
    written = {d.field for event in history for d in event.deeds if isinstance(d, Write)}

    def trimmed(deed: Deed) -> Deed:
        if not isinstance(deed, Seen) or deed.fields is None:
            return deed
        return replace(deed, fields={k: v for k, v in deed.fields.items() if k in written})

    return tuple(replace(event, deeds=tuple(map(trimmed, event.deeds))) for event in history)


def _without_early_reads(history: History) -> tuple[Event, ...]:
    """Return a history with those reads only that were sent when all else had been answered."""
    changes = [event for event in history if not is_read(event)]
    end = max((e.answered_ns or e.invoked_ns for e in changes), default=0)
    return tuple(e for e in history if not is_read(e) or e.invoked_ns > end)


def _by_object(history: History) -> tuple[_Group, ...]:
    """Return what happened to each object by itself, or to several that exchanged their names."""
    home = _homes(history)
    groups: dict[str, list[_Part]] = {}
    for event in history:
        parts: dict[tuple[str, str], list[Deed]] = {}
        for deed in event.deeds:
            # A rename is one part with both its names; of what else a request does, each name has
            # its own, so that the tables of a transaction need not change at one moment.
            parts.setdefault((home[deed.name], deed.name), []).append(deed)
        for (name, _), deeds in parts.items():
            groups.setdefault(name, []).append(_Part(event, tuple(deeds)))
    return tuple(tuple(group) for group in groups.values())


def _homes(history: History) -> dict[str, str]:
    """Return for each name one name of all those that its object may have got."""
    home: dict[str, str] = {}
    for event in history:
        for deed in event.deeds:
            first = home.setdefault(deed.name, deed.name)
            if isinstance(deed, Transfer) and event.answer is not Answer.REFUSED:
                other = home.setdefault(deed.target, deed.target)
                home = {name: first if at == other else at for name, at in home.items()}
    return home


def _by_reader(history: History, at_the_end: History) -> tuple[_Group, ...]:
    """Return, for each reader, what all have done and what it was shown, with the end.

    Nothing if no request wrote to several objects: then each by itself says as much.
    """
    if not any(len({d.name for d in e.deeds if isinstance(d, Write)}) > 1 for e in history):
        return ()
    kept = {id(event) for event in at_the_end}
    readers = dict.fromkeys(e.process for e in history if is_read(e))
    return tuple(
        tuple(
            part
            for event in history
            if id(event) in kept or event.process == reader
            for part in _whole(event)
        )
        for reader in readers
    )


def _whole(event: Event) -> Iterator[_Part]:
    """Yield a request as one part.

    Of a list, each entry is read at a moment of its own. What an unknown outcome leaves need not be
    whole either.
    """
    if is_read(event) or event.answer is Answer.UNKNOWN:
        yield from (_Part(event, (deed,)) for deed in event.deeds)
    elif event.deeds:
        yield _Part(event, event.deeds)


# ---------------------------------------------------------------------- what is needed


def _ending(group: _Group, loose: frozenset[int], steps_max: int) -> Ending:
    occurrences = [
        each for part in group if (each := _occurrence(part, loose=id(part.event) in loose))
    ]
    return order_of(occurrences, steps_max)


def _occurrence(part: _Part, *, loose: bool) -> Occurrence | None:
    """Return what a part did; None if it did nothing, or if a read shows nothing.

    Of a request that is ``loose`` nothing is known but its time.
    """
    event, reads = part.event, all(isinstance(deed, Seen) for deed in part.deeds)
    certain = event.answer is Answer.OK and event.answered_ns is not None and not loose
    refused = event.answer is Answer.REFUSED and not loose
    if refused or (reads and not certain):
        return None
    return Occurrence(event.process, event.invoked_ns, latest(event), part.deeds, certain)


def _needed(group: _Group, steps_max: int) -> tuple[Event, ...]:
    """Return the events of a contradiction: without the answer to any of them it would end.

    Reads are left out before changes, because what was told to somebody who changed something says
    more, and the earliest first, so that what is left stands close together.
    """
    events = sorted(_events(group), key=lambda event: (not is_read(event), event.invoked_ns))
    loose: frozenset[int] = frozenset()
    for event in events:
        if _ending(group, loose | {id(event)}, steps_max) is Ending.IMPOSSIBLE:
            loose |= {id(event)}
    needed = [event for event in events if id(event) not in loose]
    return tuple(sorted(needed, key=lambda event: event.invoked_ns))


def _with_makers(group: _Group, needed: tuple[Event, ...]) -> tuple[Event, ...]:
    """Return the events that are needed, and those that made what is shown in them."""
    shown = [deed for e in needed if is_read(e) for deed in e.deeds if isinstance(deed, Seen)]
    kept = {id(event) for event in needed}
    return tuple(
        sorted(
            (
                event
                for event in _events(group)
                if id(event) in kept or any(_makes(d, seen) for d in event.deeds for seen in shown)
            ),
            key=lambda event: event.invoked_ns,
        )
    )


def _makes(deed: Deed, seen: Seen) -> bool:
    """Return whether what is shown may be so because of a deed."""
    match deed:
        case Take(name, holder):
            return seen.present and (seen.name, seen.holder) == (name, holder)
        case Write(name, key, value):
            shown = seen.fields
            return seen.name == name and shown is not None and shown.get(key) == value
        case Release(name) | Transfer(name):
            return seen.name == name and not seen.present
    return False


# ---------------------------------------------------------------------- what it is called


def _of_changes(group: _Group, needed: tuple[Event, ...]) -> Anomaly:
    """Name what changes and the state at the end contradict."""
    names = _names(group)
    found = [a for a in anomalies_in(_events(group)) if a.kind in _AT_THE_END and a.name in names]
    if found:
        return _clearest(found, needed)
    why = "no order of these requests explains what they were told and what is there at the end"
    return _unnamed(AnomalyKind.UNEXPLAINED, group, needed, why)


def _of_reads(group: _Group, needed: tuple[Event, ...]) -> Anomaly:
    """Name what was shown, or told, of an object while others changed it."""
    names = _names(group)
    phantoms = [a for a in phantom_successes(_events(group)) if a.name in names]
    if phantoms:
        return _clearest(phantoms, needed)
    name = _name(needed, names)
    if len(needed) == 1:
        why = f"nobody has made {name} what it was shown as"
        return _unnamed(AnomalyKind.UNEXPLAINED, group, needed, why)
    readers = sorted({event.process for event in needed if is_read(event)})
    why = f"no order of the changes explains what {' and '.join(readers)} was told of {name}"
    return _unnamed(AnomalyKind.STALE_READ, group, needed, why)


def _of_transactions(group: _Group, needed: tuple[Event, ...]) -> Anomaly:
    """Name what only whole transactions contradict."""
    halves = half_visible_transactions(_events(group))
    if halves:
        return _clearest(halves, needed)
    reads = [event for event in needed if is_read(event)]
    if any(_is_sent_during(read, event) for read in reads for event in _events(group)):
        why = f"no order of whole transactions explains what {reads[-1].process} was shown"
        return _unnamed(AnomalyKind.HALF_VISIBLE, group, needed, why)
    why = "each changed several objects, no order of them explains what is there at the end"
    return _unnamed(AnomalyKind.CYCLIC, group, needed, why)


def _unnamed(kind: AnomalyKind, group: _Group, needed: tuple[Event, ...], why: str) -> Anomaly:
    """Return an anomaly that only the search has found, with what made what is shown in it."""
    name = _name(needed, _names(group))
    return Anomaly(kind, name, _with_makers(group, needed), why)


def _is_sent_during(read: Event, event: Event) -> bool:
    """Return whether a read was sent before a change was answered."""
    answered = event.answered_ns
    return not is_read(event) and answered is not None and read.invoked_ns <= answered


def _clearest(found: Sequence[Anomaly], needed: tuple[Event, ...]) -> Anomaly:
    """Return the clearest anomaly, of those about what is needed if there are any."""
    about = [a for a in found if set(map(id, a.witness)) <= set(map(id, needed))]
    return clearest(about or found)


def _events(group: _Group) -> tuple[Event, ...]:
    """Return the events of a group, each once."""
    return tuple({id(part.event): part.event for part in group}.values())


def _names(group: _Group) -> frozenset[str]:
    deeds = [deed for part in group for deed in part.deeds]
    return frozenset(name for deed in deeds for name in _names_of(deed))


def _names_of(deed: Deed) -> tuple[str, ...]:
    match deed:
        case Transfer(name, target):
            return name, target
        case Take(name) | Release(name) | Write(name) | Seen(name):
            return (name,)


def _name(needed: Sequence[Event], names: frozenset[str]) -> str:
    """Return the name that the last of the events is about."""
    said = [name for e in needed for deed in e.deeds for name in _names_of(deed) if name in names]
    return said[-1]
