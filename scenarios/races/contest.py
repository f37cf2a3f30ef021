"""Races the clients of a program against a catalog, and records what each was told."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import given_commit, given_loaded, given_table
from icecheck.histories.explaining import Judgement, judged
from icecheck.histories.history import Answer, Event, Seen, is_read
from icecheck.histories.racing import race
from icecheck.judging.probes import has_capability
from icecheck.objects.committing import same_table
from icecheck.objects.moves import CLIENTS, MARK
from icecheck.ownership.ledger import Entry
from icecheck.scenarios.races.asking import Scene, mark_of
from icecheck.scenarios.races.programs import (
    GIVEN,
    READING,
    SNAPSHOTS,
    Program,
    Request,
    labels_of,
    requests_of,
)
from icecheck.targets.target import Namespace

_NEEDS = {
    "drop": "dropTable",
    "rename": "renameTable",
    "together": "commitTransaction",
    "move-main-together": "commitTransaction",
    "exists": "tableExists",
    "list": "listTables",
}
_OF_SNAPSHOTS = frozenset({"move-main", "move-main-together"})


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
    """

    raced: tuple[Event, ...]
    judgement: Judgement
    asked: Mapping[int, Place]


def contest(catalog: Catalog, namespace: Namespace, program: Program, *, strictly: bool) -> Contest:
    """Race the clients of a program in a namespace, under new names; then load each name once.

    What the catalog does not offer is left out. What was made is dropped again.
    """
    program = offered(catalog, program)
    scene = _scene(catalog, namespace, program)
    raced = _raced(catalog, scene, program)
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
    return Contest(raced, judgement, _asked(program, raced))


def _raced(catalog: Catalog, scene: Scene, program: Program) -> tuple[Event, ...]:
    """Return what happened, part by part and client by client.

    A client that only reads begins when the others have begun, and pauses between its requests.
    """
    events: tuple[Event, ...] = ()
    for part in program:
        scripts = {client: script for client, script in zip(CLIENTS, part, strict=False) if script}
        moves = {client: [*map(scene.move, script)] for client, script in scripts.items()}
        reading = {c for c, script in scripts.items() if all(e.name in READING for e in script)}
        if moves:
            events += race(catalog, moves, watching=reading if len(reading) < len(moves) else ())
    return events


def _look(catalog: Catalog, scene: Scene) -> tuple[Event, ...]:
    return race(catalog, {"reader": [scene.load(label) for label in scene.places]})


def _asked(program: Program, raced: Sequence[Event]) -> dict[int, Place]:
    """Return, by the ordinal of its exchange, each request that was sent, with its place."""
    waiting = {client: iter(_places(program, at)) for at, client in enumerate(CLIENTS)}
    sent = dict.fromkeys((event.process, event.exchange) for event in raced)
    return {ordinal: next(waiting[client]) for client, ordinal in sent if ordinal is not None}


def _places(program: Program, client: int) -> Iterator[Place]:
    for part, scripts in enumerate(program):
        for request in scripts[client] if client < len(scripts) else ():
            yield Place(part, client, request)


# ------------------------------------------------------------------------ what is offered


def offered(catalog: Catalog, program: Program) -> Program:
    """Return a program without what the catalog does not offer, or claims and does not serve."""
    named = {request.name for request in requests_of(program)}
    missing = {
        name for name, needed in _NEEDS.items() if name in named and not catalog.serves(needed)
    }
    if _asks(program, *_OF_SNAPSHOTS) and not has_capability(catalog, "metadata-only-snapshots"):
        missing |= _OF_SNAPSHOTS
    if _asks(program, "create-by-commit") and not has_capability(catalog, "stage-create"):
        missing.add("create-by-commit")
    return tuple(
        tuple(tuple(e for e in script if e.name not in missing) for script in part)
        for part in program
    )


def _asks(program: Program, *names: str) -> bool:
    return any(request.name in names for request in requests_of(program))


# -------------------------------------------------------------------------- what is given


def _scene(catalog: Catalog, namespace: Namespace, program: Program) -> Scene:
    """Arrange what a program needs: given tables, their snapshots, and staged tables."""
    labels = labels_of(program)
    requests = requests_of(program)
    asserted = {each.values[-1] for each in requests if each.name == "set"}
    tables: dict[str, Table] = {}
    for label in GIVEN:
        if label in labels or label in asserted:
            marked = {MARK: mark_of(label)}
            tables[label] = given_table(catalog, namespace, properties=marked)
            if label in {each.on[0] for each in requests if each.name in _OF_SNAPSHOTS}:
                tables[label] = _with_snapshots(catalog, tables[label])
    free = {
        label: Table(namespace, catalog.new_name(), {}, None)
        for label in labels
        if label not in tables
    }
    places = {**tables, **free}
    created = dict.fromkeys(each.on[0] for each in requests if each.name == "create-by-commit")
    return Scene(namespace, places, tables, {e: _staged(catalog, places[e]) for e in created})


def _with_snapshots(catalog: Catalog, table: Table) -> Table:
    """Return a table as a load shows it after its snapshots were added, main at the first."""
    added = [bodies.snapshot(table.metadata, n) for n in range(1, SNAPSHOTS + 1)]
    updates = [{"action": "add-snapshot", "snapshot": snapshot} for snapshot in added]
    first = bodies.snapshot_ref(added[0]["snapshot-id"])
    given_commit(catalog, table, [*updates, first], [same_table(table)])
    return given_loaded(catalog, table)


def _staged(catalog: Catalog, place: Table) -> Table:
    """Return a table that is staged under a name."""
    body = bodies.create_table_body(place.name, stage_create=True)
    with catalog.arranging():
        reply = catalog.create_table(place.namespace, body)
    metadata = reply.json().get("metadata") if reply.ok else None
    return replace(place, metadata=metadata if isinstance(metadata, dict) else {})


# ---------------------------------------------------------------------------- what is left


def _tidy(catalog: Catalog, scene: Scene, told: Sequence[Event]) -> None:
    """Drop all tables, whatever became of them: the requests of a run are always the same.

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
    for label, place in scene.places.items():
        gone = catalog.drop_table(scene.namespace, place.name).status == HTTPStatus.NOT_FOUND
        if gone and settled and label in free:
            entry = Entry("table", scene.namespace, place.name)
            catalog.ledger.forget(entry, deleted=True)
