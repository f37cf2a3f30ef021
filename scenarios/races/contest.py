"""Races the clients of a program against a catalog, and records what each was told."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import given_commit, given_loaded, given_table
from icecheck.histories.history import Answer, Event, Seen
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
    labels_of,
)
from icecheck.targets.target import Namespace

_NEEDS = {
    "rename": "renameTable",
    "together": "commitTransaction",
    "move-main-together": "commitTransaction",
    "exists": "tableExists",
    "list": "listTables",
}
_OF_SNAPSHOTS = frozenset({"move-main", "move-main-together"})


@dataclass(frozen=True, slots=True)
class Contest:
    """What was recorded of a program: all events, and those of the clients alone."""

    history: tuple[Event, ...]
    raced: tuple[Event, ...]


def contest(catalog: Catalog, namespace: Namespace, program: Program) -> Contest:
    """Race the clients of a program in a namespace, under new names; then load each name once.

    What the catalog does not offer is left out. A client that only reads begins when the others
    have begun, and pauses between its requests. What was made is dropped again.
    """
    offered = _offered(catalog, program)
    scene = _scene(catalog, namespace, offered)
    scripts = {client: s for client, s in zip(CLIENTS, offered, strict=False) if s}
    racers = {client: [*map(scene.move, script)] for client, script in scripts.items()}
    watching = [c for c, script in scripts.items() if all(e.name in READING for e in script)]
    if len(watching) == len(racers):
        watching = []
    raced = race(catalog, racers, watching=watching) if racers else ()
    seen = race(catalog, {"reader": [scene.load(label) for label in scene.places]})
    _tidy(catalog, scene, [*raced, *seen])
    return Contest((scene.before, *raced, *seen), raced)


# ------------------------------------------------------------------------ what is offered


def _offered(catalog: Catalog, program: Program) -> Program:
    """Return a program without what the catalog does not offer."""
    missing = {name for name, needed in _NEEDS.items() if not catalog.claims(needed)}
    if _asks(program, *_OF_SNAPSHOTS) and not has_capability(catalog, "metadata-only-snapshots"):
        missing |= _OF_SNAPSHOTS
    if _asks(program, "create-by-commit") and not has_capability(catalog, "stage-create"):
        missing.add("create-by-commit")
    return tuple(tuple(e for e in script if e.name not in missing) for script in program)


def _asks(program: Program, *names: str) -> bool:
    return any(request.name in names for script in program for request in script)


# -------------------------------------------------------------------------- what is given


def _scene(catalog: Catalog, namespace: Namespace, program: Program) -> Scene:
    """Arrange what a program needs: given tables, their snapshots, and staged tables."""
    labels = labels_of(program)
    requests = [request for script in program for request in script]
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
    """Drop the tables that were shown at the end; ``undo`` removes what is left.

    A name that was shown to be free is so for good if all requests were answered.
    """
    settled = all(event.answer is not Answer.UNKNOWN for event in told)
    for deed in [d for event in told if event.process == "reader" for d in event.deeds]:
        if isinstance(deed, Seen):
            name = scene.places[deed.name].name
            if deed.present:
                catalog.drop_table(scene.namespace, name)
            elif settled:
                catalog.ledger.forget(Entry("table", scene.namespace, name), deleted=True)
