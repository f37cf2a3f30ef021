"""A catalog that does one request at a time is never blamed, whatever its clients get to know."""

import random
from dataclasses import dataclass, field

from icecheck.histories.anomalies import anomalies_in
from icecheck.histories.history import (
    UNCONDITIONAL,
    AnomalyKind,
    Answer,
    Event,
    Release,
    Seen,
    Take,
    Write,
)

NAMES = ("t", "u", "v")
PROCESSES = ("a", "b", "c", "d")
REQUESTS = 7
HISTORIES = 400


@dataclass
class Objects:
    """What the catalog has: name -> (holder, fields). Each request is all or nothing."""

    held: dict = field(default_factory=dict)

    def apply(self, deeds):
        """Do what a request asks for, and return whether it was possible."""
        draft = {name: (holder, dict(fields)) for name, (holder, fields) in self.held.items()}
        moving = {}
        for deed in deeds:
            match deed:
                case Release(name):
                    if name not in draft:
                        return False
                    holder, fields = draft.pop(name)
                    moving[holder] = fields
                case Take(name, holder):
                    if name in draft:
                        return False
                    draft[name] = (holder, moving.get(holder, {}))
                case Write(name, of, value, base):
                    if name not in draft:
                        return False
                    if base is not UNCONDITIONAL and draft[name][1].get(of) != base:
                        return False
                    draft[name][1][of] = value
        self.held = draft
        return True

    def look(self, name):
        if name not in self.held:
            return Seen(name, present=False)
        holder, fields = self.held[name]
        return Seen(name, present=True, holder=holder, fields=dict(fields))


def asked(chance, number, objects):
    """A request that somebody might send: its deeds, or the name to look at."""
    name, other = chance.sample(NAMES, 2)
    value = f"value {number}"
    match chance.choice(("take", "release", "write", "move", "transaction", "rename", "look")):
        case "take":
            return (Take(name, f"object {number}"),)
        case "release":
            return (Release(name),)
        case "write":
            return (Write(name, "x", value),)
        case "move":
            known = objects.held.get(name, ("", {}))[1].get("x")
            return (Write(name, "x", value, base=known),)
        case "transaction":
            return (Write(name, "x", value), Write(other, "x", value))
        case "rename" if name in objects.held:
            return (Release(name), Take(other, objects.held[name][0]))
        case _:
            return name


def history_of(seed, broken=False):
    """A random history: requests overlap, take effect one by one, and some answers get lost."""
    chance = random.Random(seed)  # noqa: S311 - the same histories every time
    planned = []
    for process in PROCESSES:
        now = chance.random()
        for _ in range(REQUESTS):
            sent = now
            effect = sent + chance.expovariate(1)
            answered = effect + chance.expovariate(1)
            lost = chance.random() < 0.15
            if lost and chance.random() < 0.5:
                effect = sent + chance.expovariate(0.1)  # long after the client gave up
            now = answered + chance.expovariate(1)
            planned.append((effect, process, sent, answered, lost))
    objects, events = Objects(), []
    for number, (_, process, sent, answered, lost) in enumerate(sorted(planned)):
        wanted = asked(chance, number, objects)
        if isinstance(wanted, str):
            deeds, done = (objects.look(wanted),), True
        else:
            deeds = wanted
            before = objects.held
            done = objects.apply(deeds)
            if broken and done and chance.random() < 0.3:
                objects.held = before
        answer = Answer.OK if done else Answer.REFUSED
        if lost:
            answer = Answer.UNKNOWN
        sent_ns, answered_ns = int(sent * 1e9), int(answered * 1e9)
        events.append(Event(process, sent_ns, answered_ns, answer, deeds, exchange=number))
    return sorted(events, key=lambda e: (e.process, e.invoked_ns))


def test_a_catalog_that_does_one_thing_at_a_time_is_never_blamed():
    blamed = {
        seed: found[0] for seed in range(HISTORIES) if (found := anomalies_in(history_of(seed)))
    }
    assert blamed == {}


def test_a_catalog_that_forgets_what_it_acknowledged_is_blamed_again_and_again():
    found = [anomalies_in(history_of(seed, broken=True)) for seed in range(200)]
    assert sum(map(bool, found)) > 50
    kinds = {anomaly.kind for anomalies in found for anomaly in anomalies}
    assert kinds >= {AnomalyKind.LOST_UPDATE, AnomalyKind.DUPLICATE_SUCCESS}
