"""Checks of concurrent requests about one namespace, and of drops: names, contents, properties."""

from collections.abc import Callable, Sequence

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace, given_table, shared_namespace
from icecheck.conformance.transactions.contenders import (
    CONTENDERS,
    expect_a_winner,
    expect_fair,
    rounds,
)
from icecheck.histories.history import Answer, Deed, Event, Release, Seen, Take, Write
from icecheck.histories.racing import Move, race
from icecheck.judging.check import check, generated_check
from icecheck.objects.moves import MARK, expect_success, load, load_namespace, look, named
from icecheck.objects.reading import not_applicable
from icecheck.objects.registering import file_of
from icecheck.objects.views import View, create_view_body, given_view, view_version
from icecheck.targets.target import Namespace

MovesOf = dict[str, Sequence[Move]]


def _create_table(namespace: Namespace, name: str, client: str, *deeds: Deed) -> Move:
    body = bodies.create_table_body(name, properties={MARK: client})
    return Move("createTable", {"namespace": namespace}, body, deeds=deeds)


@check("race.table-or-view", proves="race.table-or-view")
def test_a_name_becomes_a_table_or_a_view(catalog: Catalog) -> None:
    """Of clients that create a table and a view of one name at the same time, one succeeds."""
    namespace = given_namespace(catalog)
    history: tuple[Event, ...] = ()
    for _ in rounds(catalog):
        name = catalog.new_name()
        taken = [Take(named(namespace, name), client) for client in CONTENDERS]
        version = view_version(namespace=namespace)
        view = create_view_body(name, namespace, version=version, properties={MARK: CONTENDERS[1]})
        racers: MovesOf = {
            CONTENDERS[0]: [_create_table(namespace, name, CONTENDERS[0], taken[0])],
            CONTENDERS[1]: [Move("createView", {"namespace": namespace}, view, deeds=(taken[1],))],
            CONTENDERS[2]: [_create_table(namespace, name, CONTENDERS[2], taken[2])],
        }
        # The maker of an object is shown by its own kind only: a 404 for the other kind is no lost
        # update.
        told = race(catalog, racers)
        expect_fair(catalog, told)
        history += told
    expect_success(history, "createTable.200")


@check("race.registered-views", proves="registerView.409")
def test_a_name_becomes_one_registered_view(catalog: Catalog) -> None:
    """Of clients that register views under one name at the same time, one succeeds."""
    namespace = given_namespace(catalog)
    racing = CONTENDERS[:3]  # each needs a view of its own
    files = {each: file_of(_given_marked_view(catalog, namespace, each)) for each in racing}
    name = catalog.new_name()
    racers: MovesOf = {
        client: [
            Move(
                "registerView",
                {"namespace": namespace},
                {"name": name, "metadata-location": file},
                deeds=(Take(named(namespace, name), client),),
            )
        ]
        for client, file in files.items()
    }
    history = race(catalog, racers)
    if all(event.answer is Answer.REFUSED for event in history):
        raise not_applicable("the files of views that are there are not registered again")
    expect_fair(catalog, (*history, *look(catalog, load(namespace, name, "view"))))


def _given_marked_view(catalog: Catalog, namespace: Namespace, client: str) -> View:
    return given_view(catalog, namespace, properties={MARK: client})


@check(
    "race.namespace-properties",
    proves="race.namespace-properties",
    needs=("namespace-properties",),
)
def test_no_acknowledged_property_is_lost(catalog: Catalog) -> None:
    """Of changes at the same time to different properties, none that succeeded is lost."""
    namespace = given_namespace(catalog)

    def change(key: str) -> Move:
        body = {"removals": [], "updates": {key: "1"}}
        deeds = (Write(named(namespace), key, "1"),)
        return Move("updateProperties", {"namespace": namespace}, body, deeds=deeds)

    history = _set_at_once(catalog, change) + look(catalog, load_namespace(namespace))
    # No answer of the document says that there was a conflict: a server may call it a failure.
    expect_fair(catalog, history, {"updateProperties": (500,)})
    expect_success(history, "updateProperties.200")


@generated_check("race.view-commits")
def test_no_acknowledged_commit_to_a_view_is_lost(catalog: Catalog) -> None:
    """Of commits to one view at the same time, none that succeeded is lost."""
    view = given_view(catalog)
    names: dict[str, str | Namespace] = {"namespace": view.namespace, "view": view.name}

    def change(key: str) -> Move:
        updates = [bodies.set_properties({key: "1"})]
        body = {"identifier": view.identifier, "requirements": [view.same], "updates": updates}
        deeds = (Write(named(view.namespace, view.name), key, "1"),)
        return Move("replaceView", names, body, deeds=deeds)

    looking = load(view.namespace, view.name, "view")
    history = _set_at_once(catalog, change) + look(catalog, looking)
    expect_fair(catalog, history)
    expect_success(history, "replaceView.200")


def _set_at_once(catalog: Catalog, change: Callable[[str], Move]) -> tuple[Event, ...]:
    """Let clients set properties of one object at once, each client other ones."""
    history: tuple[Event, ...] = ()
    for turn in rounds(catalog):
        racers: MovesOf = {
            client: [change(f"icecheck.{turn}.{number}")]
            for number, client in enumerate(CONTENDERS)
        }
        history += race(catalog, racers)
    return history


@check("race.create-in-dropped-namespace", proves="race.create-in-dropped-namespace")
def test_a_table_is_not_created_in_a_namespace_that_is_gone(catalog: Catalog) -> None:
    """A table that was created is not lost with a namespace that is dropped at the same time."""
    creator, dropper = CONTENDERS[:2]
    history: tuple[Event, ...] = ()
    for _ in rounds(catalog):
        namespace = given_namespace(catalog)
        name = catalog.new_name()
        taken = Take(named(namespace, name), creator)
        racers: MovesOf = {
            creator: [_create_table(namespace, name, creator, taken)],
            dropper: [Move("dropNamespace", {"namespace": namespace})],
        }
        # A catalog that creates missing namespaces may let both succeed: then the table must exist.
        told = race(catalog, racers) + look(catalog, load(namespace, name))
        # Before 1.9 no status was named for a namespace that holds something.
        expect_fair(catalog, told, {"createTable": (404,), "dropNamespace": (400,)})
        history += told
    expect_success(history, "createTable.200")


# ---- drops


@generated_check("race.drop")
def test_who_drops_something_is_told_so(catalog: Catalog) -> None:
    """Of clients that drop one table or namespace at the same time, one is told that it did."""
    home = shared_namespace(catalog)
    tables: tuple[Event, ...] = ()
    namespaces: tuple[Event, ...] = ()
    for _ in rounds(catalog, few=True):
        table, namespace = given_table(catalog, home), given_namespace(catalog)
        dropped = (Release(named(home, table.name)),)
        drop = Move("dropTable", {"namespace": home, "table": table.name}, deeds=dropped)
        tables += _race_to_drop(catalog, drop, load(home, table.name))
        dropped = (Release(named(namespace)),)
        drop = Move("dropNamespace", {"namespace": namespace}, deeds=dropped)
        namespaces += _race_to_drop(catalog, drop, load_namespace(namespace))
    expect_success(tables, "dropTable.204")
    expect_success(namespaces, "dropNamespace.204")


@generated_check("race.drop-view")
def test_who_drops_a_view_is_told_so(catalog: Catalog) -> None:
    """Of clients that drop one view at the same time, one is told that it did."""
    history: tuple[Event, ...] = ()
    for _ in rounds(catalog, few=True):
        view = given_view(catalog)
        dropped = (Release(named(view.namespace, view.name)),)
        names: dict[str, str | Namespace] = {"namespace": view.namespace, "view": view.name}
        drop = Move("dropView", names, deeds=dropped)
        history += _race_to_drop(catalog, drop, load(view.namespace, view.name, "view"))
    expect_success(history, "dropView.204")


def _race_to_drop(catalog: Catalog, drop: Move, looking: Move) -> tuple[Event, ...]:
    """Let two clients drop one object at once, look for it, and judge their answers."""
    told = race(catalog, {client: [drop] for client in CONTENDERS[:2]})
    seen = look(catalog, looking)
    expect_fair(catalog, told + seen, {drop.operation_id: (404,)})
    gone = any(isinstance(deed, Seen) and not deed.present for e in seen for deed in e.deeds)
    expect_a_winner(catalog, told, gone=gone)
    return told
