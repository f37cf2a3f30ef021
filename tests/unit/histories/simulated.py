"""Histories of a simulated catalog: one request after another, or with one sort of mistake."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from icecheck.histories.history import (
    Answer,
    Deed,
    Event,
    Release,
    Seen,
    Take,
    Transfer,
    Unconditional,
    Write,
)

NAMES = ("t", "u", "v")
PROCESSES = ("a", "b", "c", "d")
REQUESTS = 7
FIELDS = ("x", "y")


@dataclass(frozen=True)
class Objects:
    """What the catalog has: name -> (holder, fields). Each request is all or nothing."""

    held: dict[str, tuple[str, dict]] = field(default_factory=dict)

    def after(self, deeds: Sequence[Deed]) -> "Objects | None":
        """Return what there is after a request; None if it is not possible."""
        draft = {name: (holder, dict(fields)) for name, (holder, fields) in self.held.items()}
        for deed in deeds:
            taken = deed.target if isinstance(deed, Transfer) else deed.name
            free = isinstance(deed, Take | Transfer)
            if (taken in draft) is free or (isinstance(deed, Transfer) and deed.name not in draft):
                return None
            match deed:
                case Release(name):
                    del draft[name]
                case Take(name, holder):
                    draft[name] = (holder, {})
                case Transfer(name, target):
                    draft[target] = draft.pop(name)
                case Write(name, of, value, base, holder):
                    kept = isinstance(base, Unconditional) or draft[name][1].get(of) == base
                    if not kept or holder not in {None, draft[name][0]}:
                        return None
                    draft[name][1][of] = value
        return Objects(draft)

    def look(self, name: str, *, whole: bool = True) -> Seen:
        """Return what a load shows, or, of an object that is not shown ``whole``, a list."""
        if name not in self.held:
            return Seen(name, present=False)
        holder, fields = self.held[name]
        return Seen(name, True, holder, dict(fields)) if whole else Seen(name, present=True)


@dataclass(frozen=True)
class Planned:
    """A request: when it takes effect, who sent it, when, and when it is answered, if it is."""

    effect: float
    process: str
    sent: float
    answered: float
    lost: bool


def planned(chance: random.Random, share_lost: float) -> list[Planned]:
    """Return requests that overlap, in the order of their effects; some answers get lost."""
    found = []
    for process in PROCESSES:
        now = chance.random()
        for _ in range(REQUESTS):
            sent = now
            effect = sent + chance.expovariate(1)
            answered = effect + chance.expovariate(1)
            lost = chance.random() < share_lost
            if lost and chance.random() < 0.5:
                effect = sent + chance.expovariate(0.1)  # long after the client gave up
            now = answered + chance.expovariate(1)
            found.append(Planned(effect, process, sent, answered, lost))
    return sorted(found, key=lambda each: (each.effect, each.process))


def asked(chance: random.Random, number: int, objects: Objects) -> tuple[Deed, ...] | str:
    """Return a request that somebody might send: its deeds, or the name to look at, or a list."""
    name, other = chance.sample(NAMES, 2)
    value, of = f"value {number}", chance.choice(FIELDS)
    holder, fields = objects.held.get(name, ("", {}))
    sorts = ("take", "release", "write", "move", "own", "together", "rename")
    match chance.choice((*sorts, "look", "look", "list")):
        case "take":
            return (Take(name, f"object {number}"),)
        case "release":
            return (Release(name),)
        case "write":
            return (Write(name, of, value),)
        case "move":
            return (Write(name, of, value, base=fields.get(of)),)
        case "own":
            return (Write(name, of, value, holder=holder or None),)
        case "together":
            return (Write(name, of, value), Write(other, of, value))
        case "rename":
            return (Transfer(name, other),)
        case "list":
            return "*"
        case _:
            return name


class Catalog:
    """A catalog that does one request after another, and makes a mistake now and then."""

    def __init__(self, mistake: str, chance: random.Random) -> None:
        self.mistake, self.chance = mistake, chance
        self.objects = Objects()
        self.before: list[Objects] = []
        self.half: list[tuple[int, tuple[Deed, ...]]] = []

    def ask(self, deeds: tuple[Deed, ...]) -> bool:
        """Take a request, and return whether it is acknowledged."""
        wrong = self.mistake if self.chance.random() < 0.3 else ""
        self.settle(3)
        after = self.objects.after(deeds)
        done = after is not None and self.chance.random() > 0.05  # any conflict may be refused
        if wrong == "half" and done and len(deeds) > 1:
            self.half.append((len(self.before), deeds[1:]))
            after = self.objects.after(deeds[:1])
        if wrong == "duplicate" and not done and isinstance(deeds[0], Take):
            taken = {deeds[0].name: (deeds[0].holder, {})}
            done, after = True, Objects({**self.objects.held, **taken})
        if wrong == "resurrected":
            older = [e for e in self.before if e.held.keys() - self.objects.held.keys()]
            after = Objects({**older[-1].held, **self.objects.held}) if older else after
        kept = after if (done and wrong != "lost") or wrong in {"phantom", "resurrected"} else None
        self.before.append(self.objects)
        self.objects = kept or self.objects
        return done and wrong != "phantom"

    def settle(self, patience: int) -> None:
        """Do the rest of what was done by half so many requests ago."""
        for since, deeds in self.half[:]:
            if len(self.before) >= since + patience:
                self.objects = self.objects.after(deeds) or self.objects
                self.half.remove((since, deeds))

    def show(self, names: Sequence[str], *, whole: bool) -> tuple[Seen, ...]:
        """Return what a load of a name shows, or a list."""
        wrong = self.mistake == "stale" and self.chance.random() < 0.3
        objects = self.before[-2] if wrong and len(self.before) > 1 else self.objects
        return tuple(objects.look(name, whole=whole) for name in names)


def history_of(seed: int, mistake: str = "", *, lost: float = 0.15) -> list[Event]:
    """Return a random history; with a ``mistake`` the catalog makes that one now and then.

    The mistakes are "stale", "lost", "half", "resurrected", "duplicate" and "phantom". ``lost`` is
    the share of the answers that get lost.
    """
    chance = random.Random(seed)  # noqa: S311 - the same histories every time
    catalog, events, plan = Catalog(mistake, chance), [], planned(chance, lost)
    for number, each in enumerate(plan):
        deeds = asked(chance, number, catalog.objects)
        done = True
        if isinstance(deeds, str):
            names = NAMES if deeds == "*" else (deeds,)
            deeds = catalog.show(names, whole=deeds != "*")
        else:
            done = catalog.ask(deeds)
        answer = Answer.OK if done else Answer.REFUSED
        if each.lost:
            answer = Answer.UNKNOWN
        sent_ns, answered_ns = int(each.sent * 1e9), int(each.answered * 1e9)
        events.append(Event(each.process, sent_ns, answered_ns, answer, deeds, exchange=number))
    events.sort(key=lambda e: (e.process, e.invoked_ns))
    catalog.settle(0)
    end = int(max(max(each.answered, each.effect) for each in plan) * 1e9)
    for number, name in enumerate(NAMES):
        sent_ns = end + 10 * number + 1
        shown = (catalog.objects.look(name),)
        events.append(Event("reader", sent_ns, sent_ns + 5, Answer.OK, shown))
    return events
