"""Checks of concurrent clients: one winner where only one is possible, and no lost update."""

from collections.abc import Iterator, Sequence
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import (
    given_commit,
    given_dropped,
    given_table,
    given_transaction,
    shared_namespace,
)
from icecheck.conformance.transactions.contenders import (
    CONTENDERS,
    Due,
    expect_fair,
    expect_told,
    rounds,
)
from icecheck.histories.anomalies import half_visible_transactions
from icecheck.histories.history import (
    Answer,
    Deed,
    Event,
    Release,
    Take,
    Write,
)
from icecheck.histories.racing import Move, race
from icecheck.judging.check import check, generated_check
from icecheck.judging.probes import has_capability
from icecheck.objects.committing import (
    creation_updates,
    given_snapshots,
    same_table,
    set_property,
)
from icecheck.objects.moves import (
    MARK,
    commit_to,
    expect_success,
    given,
    load,
    load_namespace,
    look,
    named,
    rename,
    violation_of,
)
from icecheck.objects.views import create_view_body, view_version
from icecheck.replies.expect import NotOffered
from icecheck.targets.target import Namespace

MovesOf = dict[str, Sequence[Move]]

READS = 7
"""The number of loads of a reader, table by table: they should outlast a transaction."""
ASSERT_CREATE = {"type": "assert-create"}


def expect_one_taker(
    catalog: Catalog, racers: MovesOf, looking: Move, due: Due | None = None
) -> tuple[Event, ...]:
    """Let clients take one name at once, read the object, and judge their answers."""
    history = race(catalog, racers) + look(catalog, looking)
    expect_fair(catalog, history, due)
    return history


# ---- one name


@check("race.create-namespace", proves="race.create-namespace")
def test_a_namespace_is_created_once(catalog: Catalog) -> None:
    """Of clients that create one namespace at the same time, at most one succeeds."""
    history: tuple[Event, ...] = ()
    for _ in rounds(catalog):
        namespace = catalog.new_namespace_name()
        body = {"namespace": [*namespace], "properties": {}}
        racers: MovesOf = {
            client: [Move("createNamespace", body=body, deeds=(Take(named(namespace), client),))]
            for client in CONTENDERS
        }
        history += expect_one_taker(catalog, racers, load_namespace(namespace))
    expect_success(history, "createNamespace.200")


@check("race.create-table", proves="race.create-table")
def test_a_table_is_created_once(catalog: Catalog) -> None:
    """Of clients that create one table at the same time, at most one succeeds."""
    namespace = shared_namespace(catalog)
    history: tuple[Event, ...] = ()
    for _ in rounds(catalog):
        name = catalog.new_name()
        racers: MovesOf = {
            client: [_create_table(namespace, name, client)] for client in CONTENDERS
        }
        history += expect_one_taker(catalog, racers, load(namespace, name))
    expect_success(history, "createTable.200")


def _create_table(namespace: Namespace, name: str, client: str) -> Move:
    body = bodies.create_table_body(name, properties={MARK: client})
    taken = Take(named(namespace, name), client)
    return Move("createTable", {"namespace": namespace}, body, deeds=(taken,))


@check("race.create-view", proves="race.create-view")
def test_a_view_is_created_once(catalog: Catalog) -> None:
    """Of clients that create one view at the same time, at most one succeeds."""
    namespace = shared_namespace(catalog)
    history: tuple[Event, ...] = ()
    # Views meet tables under one name in all rounds (race.table-or-view).
    for _ in rounds(catalog, few=True):
        name = catalog.new_name()
        racers: MovesOf = {}
        for client in CONTENDERS:
            version = view_version(namespace=namespace)
            body = create_view_body(name, namespace, version=version, properties={MARK: client})
            taken = Take(named(namespace, name), client)
            racers[client] = [Move("createView", {"namespace": namespace}, body, deeds=(taken,))]
        history += expect_one_taker(catalog, racers, load(namespace, name, "view"))
    expect_success(history, "createView.200")


@check("race.create-and-commit", proves="race.create-and-commit", needs=("stage-create",))
def test_a_table_is_created_directly_or_by_a_commit(catalog: Catalog) -> None:
    """A staged table is not committed over one that another client creates at the same time."""
    namespace = shared_namespace(catalog)
    history: tuple[Event, ...] = ()
    for _ in rounds(catalog):
        staged = given_table(catalog, namespace, stage_create=True)
        label = named(namespace, staged.name)
        racers: MovesOf = {}
        for client in CONTENDERS[:-1]:
            updates = [*creation_updates(staged.metadata), set_property(client, MARK)]
            racers[client] = [
                commit_to(staged, updates, ASSERT_CREATE, deeds=[Take(label, client)])
            ]
        racers[CONTENDERS[-1]] = [_create_table(namespace, staged.name, CONTENDERS[-1])]
        # What creates a table cannot be applied to one: which is looked at first is left open.
        due = {"updateTable": (400,)}
        history += expect_one_taker(catalog, racers, load(namespace, staged.name), due)
    expect_success(history, "updateTable.200")


@check("race.register-table", proves="race.register-table")
def test_a_name_is_registered_once(catalog: Catalog) -> None:
    """Of clients that register tables under one name at the same time, at most one succeeds."""
    history = _registrations(catalog, dropped=True)
    if all(event.answer is Answer.REFUSED for event in history if event.process in CONTENDERS):
        # A catalog may delete the files of a dropped table; then existing tables are registered
        # again.
        history = _registrations(catalog, dropped=False)
    expect_success(history, "registerTable.200")


def _registrations(catalog: Catalog, *, dropped: bool) -> tuple[Event, ...]:
    namespace = shared_namespace(catalog)
    tables = [given_table(catalog, namespace, properties={MARK: mark}) for mark in ("0", "1")]
    files = [table.metadata_location for table in tables]
    if None in files:
        raise NotOffered("the catalog tells no metadata location")
    for table in tables if dropped else ():
        given_dropped(catalog, namespace, table.name)
    history: tuple[Event, ...] = ()
    for turn in rounds(catalog):
        name = catalog.new_name()
        racers: MovesOf = {}
        for number, client in enumerate(CONTENDERS):
            body = {"name": name, "metadata-location": files[number % 2]}
            taken = Take(named(namespace, name), str(number % 2))
            racers[client] = [Move("registerTable", {"namespace": namespace}, body, deeds=(taken,))]
        # Whose file has another table, or went with a dropped one, may be told that instead.
        due = {"registerTable": (400, 404)}
        history += expect_one_taker(catalog, racers, load(namespace, name), due)
        if turn == 0 and not any(event.answer is Answer.OK for event in history[: len(CONTENDERS)]):
            break
        # Each file has one table at a time, because catalogs may refuse a second one.
        catalog.drop_table(namespace, name)
    return history


@check("race.rename-table", proves="race.rename-table")
def test_tables_are_not_renamed_over_each_other(catalog: Catalog) -> None:
    """Of clients that rename tables to one name at the same time, at most one succeeds."""
    namespace = shared_namespace(catalog)
    tables = [given_table(catalog, namespace, properties={MARK: client}) for client in CONTENDERS]
    target = Table(namespace, catalog.new_name(), {}, None)
    label = named(namespace, target.name)
    owned = dict(zip(CONTENDERS, tables, strict=True))
    own = {client: named(namespace, table.name) for client, table in owned.items()}
    before = given(*(Take(own[client], client) for client in CONTENDERS))
    history: tuple[Event, ...] = (before,)
    for _ in rounds(catalog):
        racers: MovesOf = {
            client: [rename(table, target, (Release(own[client]), Take(label, client)))]
            for client, table in owned.items()
        }
        told = expect_one_taker(catalog, racers, load(namespace, target.name))
        history += told
        # Rename the table of each client that may have won back to its own name.
        refused = {event.process for event in told if event.answer is Answer.REFUSED}
        back = [
            rename(target, table, (Release(label), Take(own[client], client)))
            for client, table in owned.items()
            if client not in refused
        ]
        sent_back = race(catalog, {"referee": back})
        history += sent_back
        if not any(event.answer is Answer.OK for event in sent_back):
            break  # the table's name is unknown, and a next round could not be judged
    history += look(catalog, *(load(namespace, table.name) for table in tables))
    expect_fair(catalog, history)
    expect_success(history, "renameTable.204")


# ---- one table


@check(
    "race.commits-on-one-base",
    proves="race.commits-on-one-base",
    needs=("metadata-only-snapshots",),
)
def test_a_branch_is_moved_once(catalog: Catalog) -> None:
    """Of commits that assert the same snapshot of a branch at the same time, one succeeds."""
    for told in _races_for_main(catalog, [False] * len(rounds(catalog)), "updateTable.200"):
        expect_fair(catalog, told)


@generated_check("race.transactions-on-one-base", needs=("metadata-only-snapshots",))
def test_a_branch_is_moved_by_one_transaction(catalog: Catalog) -> None:
    """Of transactions that assert the same snapshot of a branch at the same time, one succeeds."""
    for told in _races_for_main(
        catalog, [True] * len(rounds(catalog, few=True)), "commitTransaction.204"
    ):
        expect_fair(catalog, told)


@generated_check("race.conflict-is-told", needs=("metadata-only-snapshots",))
def test_a_conflict_is_no_unknown_outcome(catalog: Catalog) -> None:
    """A commit that loses a race is refused with 409, not left with an unknown outcome."""
    ways = [False, True] if catalog.claims("commitTransaction") else [False]
    for told in _races_for_main(catalog, ways, "updateTable.200"):
        expect_told(catalog, told, unknown=False)


def _races_for_main(
    catalog: Catalog, by_transaction: Sequence[bool], due: str
) -> Iterator[tuple[Event, ...]]:
    """Let clients move main from one snapshot at once; yield what is known of each round."""
    table, (base, *others) = _given_snapshots_on_main(catalog)
    label = named(table.namespace, table.name)
    unmoved = {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": base}
    before = given(Take(label, ""), Write(label, "main", base))
    history: tuple[Event, ...] = ()
    for turn, together in enumerate(by_transaction):
        if turn:
            given_commit(catalog, table, [bodies.snapshot_ref(base)], [same_table(table)])
        # The clients add no snapshots: sequence numbers that must grow would decide the race.
        racers: MovesOf = {
            client: [
                commit_to(
                    table,
                    [bodies.snapshot_ref(chosen)],
                    same_table(table),
                    unmoved,
                    deeds=[Write(label, "main", chosen, base)],
                    by_transaction=together,
                )
            ]
            for client, chosen in zip(CONTENDERS, others, strict=True)
        }
        told = race(catalog, racers) + look(catalog, load(table.namespace, table.name))
        yield (before, *told)
        history += told
    expect_success(history, due)


def _given_snapshots_on_main(catalog: Catalog) -> tuple[Table, list[int]]:
    """Return a table and its snapshot ids: the first one is main's, the others are the clients'."""
    table = given_table(catalog)
    added = [bodies.snapshot(table.metadata, n) for n in range(1, len(CONTENDERS) + 2)]
    snapshot_ids = [int(snapshot["snapshot-id"]) for snapshot in added]
    updates = [
        *({"action": "add-snapshot", "snapshot": snapshot} for snapshot in added),
        bodies.snapshot_ref(snapshot_ids[0]),
    ]
    return given_commit(catalog, table, updates), snapshot_ids


@check("race.independent-commits", proves="race.independent-commits")
def test_no_acknowledged_commit_is_lost(catalog: Catalog) -> None:
    """Of commits at the same time to different properties and branches, none is lost."""
    # Of snapshots that no ref names, it is another check that says whether they are kept.
    heads: list[int] = []
    if all(has_capability(catalog, each) for each in ("branches", "metadata-only-snapshots")):
        table, heads = given_snapshots(catalog, 1)
    else:
        table = given_table(catalog)
    label = named(table.namespace, table.name)
    history: tuple[Event, ...] = ()
    for turn in rounds(catalog):
        racers: MovesOf = {}
        for number, client in enumerate(CONTENDERS):
            key = f"icecheck.{turn}.{number}"
            value: str | int = "1"
            updates, holds = [set_property("1", key)], [same_table(table)]
            if heads and number < len(CONTENDERS) // 2:
                key, value = f"branch_{turn}_{number}", heads[0]
                updates = [bodies.snapshot_ref(value, key)]
                holds += [{"type": "assert-ref-snapshot-id", "ref": key, "snapshot-id": None}]
            deeds = [Write(label, key, value)]
            racers[client] = [commit_to(table, updates, *holds, deeds=deeds)]
        history += race(catalog, racers)
    history += look(catalog, load(table.namespace, table.name))
    expect_fair(catalog, history)
    expect_success(history, "updateTable.200")


@check("race.drop-and-commit", proves="race.drop-and-commit")
def test_a_dropped_table_stays_dropped(catalog: Catalog) -> None:
    """A commit that is under way while its table is dropped does not bring the table back."""
    namespace = shared_namespace(catalog)
    history: tuple[Event, ...] = ()
    *writers, dropper = CONTENDERS
    for turn in rounds(catalog):
        table = given_table(catalog, namespace)
        label = named(namespace, table.name)
        racers: MovesOf = {}
        for writer in writers:
            updates = [set_property(str(turn), writer)]
            deeds = [Write(label, writer, str(turn))]
            racers[writer] = [commit_to(table, updates, same_table(table), deeds=deeds)]
        names: dict[str, str | Namespace] = {"namespace": namespace, "table": table.name}
        # The client that reaches the starting barrier last runs first, at least within one process.
        racers[dropper] = [Move("dropTable", names, deeds=(Release(label),))]
        told = race(catalog, racers) + look(catalog, load(namespace, table.name))
        expect_fair(catalog, (given(Take(label, "")), *told), {"updateTable": (404,)})
        history += told
    drops = [event for event in history if event.process == dropper]
    expect_success(drops, "dropTable.204")


# ---- several tables


@generated_check("race.half-visible-transaction")
def test_a_transaction_is_seen_whole(catalog: Catalog) -> None:
    """A reader that saw one table of a transaction is shown no older state of the others."""
    namespace = shared_namespace(catalog)
    tables = [given_table(catalog, namespace) for _ in range(2)]
    writes, change = _transaction(tables, "0")
    given_transaction(catalog, change["table-changes"])
    history: tuple[Event, ...] = (given(*writes),)
    for turn in rounds(catalog):
        deeds, body = _transaction(tables, str(turn + 1))
        transaction = Move("commitTransaction", body=body, deeds=deeds)
        reading = [load(namespace, tables[number % 2].name) for number in range(READS)]
        racers: MovesOf = {"reader": reading, CONTENDERS[0]: [transaction]}
        history += race(catalog, racers, watching=["reader"])
        for anomaly in half_visible_transactions(history):
            raise violation_of(anomaly)
    expect_success(history, "commitTransaction.204")


def _transaction(tables: Sequence[Table], value: str) -> tuple[tuple[Deed, ...], dict[str, Any]]:
    """Return the writes of a transaction that sets one property of all tables, and its body."""
    changes = [
        {
            "identifier": table.identifier,
            "requirements": [same_table(table)],
            "updates": [set_property(value, MARK)],
        }
        for table in tables
    ]
    writes = tuple(Write(named(t.namespace, t.name), MARK, value) for t in tables)
    return writes, {"table-changes": changes}
