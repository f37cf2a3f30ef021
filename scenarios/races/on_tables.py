"""The requests of a program that change tables, as they are sent, and what they do."""

from dataclasses import replace

from icecheck.client import bodies
from icecheck.client.catalog import Table
from icecheck.histories.history import Deed, Seen, Take, Transfer, Write
from icecheck.histories.racing import Move
from icecheck.objects.committing import creation_updates, same_table, set_property
from icecheck.objects.moves import MARK, commit_to, rename
from icecheck.scenarios.races.programs import ANY, Request, home_of
from icecheck.scenarios.races.scene import Json, Scene, mark_of, snapshot_id
from icecheck.targets.target import Namespace

_ASSERT_CREATE = {"type": "assert-create"}
# The property that a transaction sets beside a move of main.
_BESIDE = "p"


def change_of_table(scene: Scene, request: Request) -> Move:
    """Return a request that changes tables as it is sent."""
    match request.name, request.on, request.values:
        case "create", (label,), (mark,):
            body = bodies.create_table_body(scene.places[label].name, properties={MARK: mark})
            return _making(scene, "createTable", label, body, mark)
        case "register", (label,), (file,):
            body = {"name": scene.places[label].name, "metadata-location": scene.files[file]}
            return _making(scene, "registerTable", label, body, mark_of_file(file))
        case "create-by-commit", (label,), (mark,):
            updates = [*creation_updates(scene.staged[label].metadata), set_property(mark, MARK)]
            deeds = [Take(label, mark)]
            return commit_to(scene.places[label], updates, _ASSERT_CREATE, deeds=deeds)
        case "rename", (source, target), _:
            return rename_to(scene, source, target, "table")
        case "set", (label,), (key, value, asserted):
            write, change = _set(scene, label, key, value, "" if asserted == ANY else asserted)
            # To a commit for another table than the one that is there, it may be missing.
            missed = missing(label) if asserted == ANY else ()
            return _commit(scene, write, change, missed)
        case "move-main", (label,), (snapshot, base):
            return _commit(scene, *_main(scene, label, snapshot, base))
        case "together", (one, other), (key, value):
            return _transaction(*(_set(scene, each, key, value, each) for each in (one, other)))
        case "move-main-together", (one, other), (snapshot, base, value):
            moved_main = _main(scene, one, snapshot, base)
            return _transaction(moved_main, _set(scene, other, _BESIDE, value, other))
    raise ValueError(f"{request.name} changes no table")


def rename_to(scene: Scene, source: str, target: str, kind: str) -> Move:
    """Return the rename of a table or view, perhaps into a namespace of the program.

    A 404 to the latter may be for want of that namespace.
    """
    deeds = [Transfer(source, target)]
    moved = rename(scene.places[source], scene.places[target], deeds, kind)
    missed = () if home_of(target) else missing(source)
    return replace(moved, missed=missed, besides=scene.made_besides(target))


def missing(label: str) -> tuple[Deed, ...]:
    """Return what a request shows that is answered 404."""
    return (Seen(label, present=False),)


def mark_of_file(number: str) -> str:
    """Return the mark of the table in a metadata file."""
    return f"file.{number}"


def _making(scene: Scene, operation_id: str, label: str, body: Json, mark: str) -> Move:
    names: dict[str, str | Namespace] = {"namespace": scene.places[label].namespace}
    deeds, besides = (Take(label, mark),), scene.made_besides(label)
    return Move(operation_id, names, body, deeds=deeds, besides=besides)


def _commit(scene: Scene, write: Write, change: Json, missed: tuple[Deed, ...] = ()) -> Move:
    names = scene.names(write.name, "table")
    return Move("updateTable", names, change, deeds=(write,), missed=missed)


def _transaction(*parts: tuple[Write, Json]) -> Move:
    body = {"table-changes": [change for _, change in parts]}
    return Move("commitTransaction", body=body, deeds=tuple(write for write, _ in parts))


def _set(scene: Scene, label: str, key: str, value: str, asserted: str) -> tuple[Write, Json]:
    """Return what setting a property does, and the commit that does it.

    The commit asserts the uuid of a given table, if there is one of that label.
    """
    key = f"icecheck.{key}"
    holder = mark_of(asserted) if asserted in scene.tables else None
    holds = _same(scene, asserted)
    change = _change(scene.places[label], [set_property(value, key)], holds)
    return Write(label, key, value, holder=holder), change


def _main(scene: Scene, label: str, snapshot: str, base: str) -> tuple[Write, Json]:
    """Return what moving main does, and the commit that does it."""
    holds, target = _same(scene, label), snapshot_id(int(snapshot))
    holder = mark_of(label) if label in scene.tables else None
    write = Write(label, "main", target, holder=holder)
    if base != ANY:
        write = replace(write, base=snapshot_id(int(base)))
        unmoved = {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": write.base}
        holds.append(unmoved)
    return write, _change(scene.places[label], [bodies.snapshot_ref(target)], holds)


def _same(scene: Scene, label: str) -> list[Json]:
    return [same_table(scene.tables[label])] if label in scene.tables else []


def _change(table: Table, updates: list[Json], holds: list[Json]) -> Json:
    return {"identifier": table.identifier, "requirements": holds, "updates": updates}
