"""Recorded concurrent histories: what clients asked for, and what they were told.

A history is what clients know: who asked for what, when, and what was answered. Between those two
moments a request may have taken effect at any time, an unanswered one even later.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

Value = str | int | None


class Answer(StrEnum):
    """The answer as the client may rely on it: done, not done, or unknown."""

    OK = "ok"
    REFUSED = "refused"
    UNKNOWN = "unknown"


class Unconditional:
    """The base of a write that is not conditional."""

    def __repr__(self) -> str:
        return "UNCONDITIONAL"


UNCONDITIONAL: Final = Unconditional()


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
class Transfer:
    """Give the object of a name, whichever it is, a name that is free; its own becomes free."""

    name: str
    target: str


@dataclass(frozen=True, slots=True)
class Write:
    """Set a field of an object; with ``base``, only if the field still has that value.

    With ``holder``, only if the name is still that object's.
    """

    name: str
    field: str
    value: Value
    base: Value | Unconditional = UNCONDITIONAL
    holder: str | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """What a reader was shown: whether the name is taken, by which object, and the fields.

    A field that the mapping leaves out was not there. A ``holder`` or ``fields`` of None was not
    shown.
    """

    name: str
    present: bool
    holder: str | None = None
    fields: Mapping[str, Value] | None = None


Deed = Take | Release | Transfer | Write | Seen


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
    """What was lost: a single winner, an update, a refusal, a drop, an order, or atomicity."""

    DUPLICATE_SUCCESS = "duplicate-success"
    PHANTOM_SUCCESS = "phantom-success"
    LOST_UPDATE = "lost-update"
    RESURRECTED = "resurrected"
    STALE_READ = "stale-read"
    HALF_VISIBLE = "half-visible"
    CYCLIC = "cyclic"
    UNEXPLAINED = "no-order-explains-it"


@dataclass(frozen=True, slots=True)
class Anomaly:
    """A contradiction: the events that cannot all be true, and why, in one clause."""

    kind: AnomalyKind
    name: str
    witness: tuple[Event, ...]
    why: str


def is_read(event: Event) -> bool:
    """Return whether all that a request did is to show something."""
    return bool(event.deeds) and all(isinstance(deed, Seen) for deed in event.deeds)


# --------------------------------------------------------------------------- in time


def latest(event: Event) -> float:
    """Return the last moment at which a request may have taken effect."""
    if event.answer is Answer.UNKNOWN or event.answered_ns is None:
        return float("inf")
    return event.answered_ns


def surely_before(first: Event, second: Event) -> bool:
    """Return whether a request took effect, if it did, before the second one was sent."""
    return latest(first) < second.invoked_ns


# -------------------------------------------------------------------------- in words


LINES_MAX = 6
"""The number of lines in which an anomaly is told."""


def tell(anomaly: Anomaly) -> str:
    """Return at most six lines that show the contradiction, events in order of sending.

    ``while`` marks a request that was sent before the one above it was answered. Of many events the
    last ones are told.
    """
    lines = []
    before: Event | None = None
    witness = sorted(anomaly.witness, key=lambda e: e.invoked_ns)
    for event in witness[1 - LINES_MAX :]:
        overlaps = before is not None and not surely_before(before, event)
        where = "" if event.exchange is None else f" (exchange {event.exchange})"
        start = "while: " if overlaps else ""
        lines.append(f"{start}{event.process}: {event.label or 'request'} → {_told(event)}{where}")
        before = event
    more = len(witness) - len(lines)
    others = f", after {more} more requests" if more else ""
    return "\n".join([*lines, f"contradiction: {anomaly.why}{others}"])


def _told(event: Event) -> str:
    """Return what the client was told: the answer, or what it was shown."""
    shown = [deed for deed in event.deeds if isinstance(deed, Seen)]
    if event.answer is not Answer.OK or not shown or len(shown) < len(event.deeds):
        return event.answer
    return ", ".join(map(_shown, shown))


def _shown(seen: Seen) -> str:
    if not seen.present:
        return f"{seen.name} is not there"
    held = {"made by": seen.holder} if seen.holder is not None else {}
    facts = [f"{key} {value}" for key, value in {**held, **(seen.fields or {})}.items()]
    return f"{seen.name} is there" + (f" ({', '.join(facts)})" if facts else "")
