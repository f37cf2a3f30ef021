"""Races the clients of a program against a catalog, and records what each was told."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from icecheck.client.catalog import Catalog
from icecheck.histories.explaining import Judgement, judged
from icecheck.histories.history import Answer, Event, Seen, is_read
from icecheck.histories.racing import race
from icecheck.objects.moves import CLIENTS
from icecheck.scenarios.races.arranging import arranged
from icecheck.scenarios.races.asking import load_of, move_of
from icecheck.scenarios.races.programs import READING, Program, Request, kind_of
from icecheck.scenarios.races.scene import Scene
from icecheck.targets.target import Namespace
from icecheck.wire.unreachable import begun_anew

ATTEMPTS_MAX = 3


@dataclass(frozen=True, slots=True)
class Place:
    """A request of a program, with the numbers of its part and of its client."""

    part: int
    client: int
    request: Request


@dataclass(frozen=True, slots=True)
class Contest:
    """What was recorded of a program: the events of the clients, and the judgement of all.

    ``asked`` has, by the ordinal of its exchange, each request that was sent, with its place.
    ``since`` is the ordinal of the first exchange that arranged it.
    """

    raced: tuple[Event, ...]
    judgement: Judgement
    asked: Mapping[int, Place]
    since: int


def contest(catalog: Catalog, namespace: Namespace, program: Program, *, strictly: bool) -> Contest:
    """Race the clients of a program in a namespace, under new names; then load each name once.

    What the catalog does not offer is left out. What was made is dropped again. A program is begun
    anew, with other names, where an answer is lost without which it cannot go on; raises
    Unreachable if that happens again and again.
    """
    return begun_anew(
        lambda: _contest(catalog, namespace, program, strictly=strictly), ATTEMPTS_MAX
    )


def _contest(
    catalog: Catalog, namespace: Namespace, program: Program, *, strictly: bool
) -> Contest:
    since = catalog.sender.ordinal
    scene, offered = arranged(catalog, namespace, program)
    raced = _raced(catalog, scene, offered)
    seen = _look(catalog, scene)
    judgement = judged((scene.before, *raced, *seen), strictly=strictly)
    if judgement.at_the_end:
        # What a second look shows was not lost: the first one was shown an earlier state.
        seen = _look(catalog, scene)
        changes = [event for event in raced if not is_read(event)]
        again = judged((scene.before, *changes, *seen), strictly=False)
        if again.anomaly is None:
            judgement = judgement.in_passing() if strictly else again
    _tidy(catalog, scene, [*raced, *seen])
    return Contest(raced, judgement, _asked(offered, raced), since)


def _raced(catalog: Catalog, scene: Scene, program: Program) -> tuple[Event, ...]:
    """Return what happened, part by part and client by client.

    A client that only reads begins when the others have begun, and pauses between its requests.
    """
    events: tuple[Event, ...] = ()
    for part in program:
        scripts = {client: script for client, script in zip(CLIENTS, part, strict=False) if script}
        moves = {
            client: [move_of(scene, each) for each in script] for client, script in scripts.items()
        }
        reading = {c for c, script in scripts.items() if all(e.name in READING for e in script)}
        if moves:
            events += race(catalog, moves, watching=reading if len(reading) < len(moves) else ())
    return events


def _look(catalog: Catalog, scene: Scene) -> tuple[Event, ...]:
    return race(catalog, {"reader": [load_of(scene, label) for label in scene.labels]})


def _asked(program: Program, raced: Sequence[Event]) -> dict[int, Place]:
    """Return, by the ordinal of its exchange, each request that was sent, with its place."""
    waiting = {client: iter(_places(program, at)) for at, client in enumerate(CLIENTS)}
    sent = dict.fromkeys((event.process, event.exchange) for event in raced)
    return {ordinal: next(waiting[client]) for client, ordinal in sent if ordinal is not None}


def _places(program: Program, client: int) -> Iterator[Place]:
    for part, scripts in enumerate(program):
        for request in scripts[client] if client < len(scripts) else ():
            yield Place(part, client, request)


# ---------------------------------------------------------------------------- what is left


def _tidy(catalog: Catalog, scene: Scene, told: Sequence[Event]) -> None:
    """Drop everything, whatever became of them: the requests of a run are always the same.

    A name that was shown to be free is so for good if all requests were answered; ``undo`` looks
    for what may be left.
    """
    settled = all(event.answer is not Answer.UNKNOWN for event in told)
    free = {
        deed.name
        for event in told
        for deed in event.deeds
        if event.process == "reader" and isinstance(deed, Seen) and not deed.present
    }
    # A namespace comes after what it holds.
    for label in sorted(scene.labels, key=lambda each: kind_of(each) == "namespace"):
        if _dropped(catalog, scene, label) and settled and label in free:
            catalog.ledger.forget(scene.entry(label), deleted=True)


def _dropped(catalog: Catalog, scene: Scene, label: str) -> bool:
    """Drop what has the name of a label; return whether nothing has."""
    match kind_of(label):
        case "namespace":
            reply = catalog.drop_namespace(scene.namespaces[label])
        case "view":
            reply = catalog.drop_view(scene.places[label].namespace, scene.places[label].name)
        case _:
            reply = catalog.drop_table(scene.places[label].namespace, scene.places[label].name)
    return reply.status == HTTPStatus.NOT_FOUND
