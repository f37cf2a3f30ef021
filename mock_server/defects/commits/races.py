"""Defects that only concurrent requests show: the server checks first and writes afterwards."""

from msgspec import structs

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.commits.late_sight import (
    LateSight,
    decide_late,
    mistell_losers,
    note_writes,
    publish_nothing,
    refuse_late,
)
from icecheck.mock_server.defects.kit.changing import put_back
from icecheck.mock_server.defects.kit.declaring import by, declare, declare_each, defect
from icecheck.mock_server.defects.kit.requests import sent_json, sent_name, with_members
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.protocol import problem

_TWO_OWNERS = "Two clients own one name; the work of the first one is gone."


# ---- one name


def _publish_namespace(
    present: WarehouseState, decided: WarehouseState, call: Call
) -> WarehouseState:
    namespace = tuple(sent_json(call)["namespace"])
    entry = decided.namespace(namespace)
    return present if entry is None else present.with_namespace(namespace, entry.properties)


def _publish(present: WarehouseState, decided: WarehouseState, call: Call) -> WarehouseState:
    """Put what a request names, in its path or in its body, into the present state."""
    name = (call.namespace, call.name or sent_name(call))
    return put_back(present, decided, name) if call.namespace in present.namespaces else present


def _insert(present: WarehouseState, decided: WarehouseState, call: Call) -> WarehouseState:
    """Put what is new into the present state, where the names of each kind are unique."""
    name = (call.namespace, sent_name(call))
    if present.kind_of(*name) is not None and present.kind_of(*name) == decided.kind_of(*name):
        raise problem.already_exists("duplicate key value violates unique constraint")
    return _publish(present, decided, call)


def _publish_rename(present: WarehouseState, decided: WarehouseState, call: Call) -> WarehouseState:
    source, target = (sent_json(call)[end] for end in ("source", "destination"))
    moved = decided.table(tuple(target["namespace"]), target["name"])
    if moved is None:
        return present
    if present.table(tuple(source["namespace"]), source["name"]) is not None:
        present = present.without_table(tuple(source["namespace"]), source["name"])
    return present.with_table(tuple(target["namespace"]), target["name"], moved)


@defect(
    "race-staged-table-over-another",
    breaks="race.create-and-commit",
    suffering="A CREATE TABLE AS SELECT replaces the table that somebody else has just created.",
)
def _staged_table_over_another(registries: Registries) -> None:
    """A creating commit checks that the table is missing on a replica that lags behind."""
    sight = LateSight()
    decide_late(registries, "createTable", _publish, sight)
    decide_late(registries, "updateTable", _publish, sight)


declare_each(
    ("race-namespace-created-twice", "race.create-namespace",
     "Whether a namespace exists is looked up before it is inserted, without a lock.",
     "Two clients take themselves for the owner of one namespace.",
     by(decide_late, "createNamespace", _publish_namespace)),
    ("race-table-created-twice", "race.create-table",
     "Whether a table exists is looked up before it is inserted, without a lock.", _TWO_OWNERS,
     by(decide_late, "createTable", _publish)),
    ("race-loser-replaces-table", "race.create-table",
     "A conflict is noticed after the row was written, and nothing takes it back.",
     "A client that was refused has replaced the table of the one that was not.",
     by(refuse_late, "createTable", _publish)),
    ("race-view-created-twice", "race.create-view",
     "Whether a view exists is looked up before it is inserted, without a lock.", _TWO_OWNERS,
     by(decide_late, "createView", _publish)),
    ("race-registered-twice", "race.register-table",
     "Whether a name is free is looked up before the metadata file is read.", _TWO_OWNERS,
     by(decide_late, "registerTable", _publish)),
    ("race-renamed-over-another", "race.rename-table",
     "A rename checks its target first, and then overwrites it.",
     "A table is gone: another one was renamed over it.",
     by(decide_late, "renameTable", _publish_rename)),
)  # fmt: skip


# ---- what losers are told

_UNCAUGHT = "Of two creations at the same time, one ends in an uncaught error of the database."
_A_FAILURE = "A client takes a name that is taken for a breakdown, and tries again or gives up."

declare_each(
    ("race-loser-breaks-namespaces", "race.losers-told", _UNCAUGHT, _A_FAILURE,
     by(mistell_losers, "createNamespace", status=500)),
    ("race-loser-breaks-tables", "race.losers-told", _UNCAUGHT, _A_FAILURE,
     by(mistell_losers, "createTable", status=500)),
    ("race-loser-breaks-views", "race.losers-told", _UNCAUGHT, _A_FAILURE,
     by(mistell_losers, "createView", status=500)),
    ("race-loser-breaks-registering", "race.losers-told", _UNCAUGHT, _A_FAILURE,
     by(mistell_losers, "registerTable", status=500)),
    ("race-loser-breaks-renaming", "race.losers-told", _UNCAUGHT, _A_FAILURE,
     by(mistell_losers, "renameTable", status=500)),
    ("race-loser-breaks-creating-commits", "race.create-and-commit",
     "A commit that creates a table is told that there is none if another client was faster.",
     "Spark and Flink give up a CREATE TABLE AS SELECT with an error that tells nothing.",
     by(mistell_losers, "updateTable", "createTable", status=404)),
    ("race-loser-is-a-bad-request", "race.commits-on-one-base",
     "A commit that loses a race is refused as a bad request.",
     "Writers do not retry: one of two streams stops.",
     by(mistell_losers, "updateTable", status=400)),
    ("race-loser-of-transactions-is-a-bad-request", "race.transactions-on-one-base",
     "A transaction that loses a race is refused as a bad request.",
     "Writers do not retry: one of two streams stops.",
     by(mistell_losers, "commitTransaction", status=400)),
    ("race-loser-is-told-nothing", "race.conflict-is-told",
     "A commit that loses a race ends in an uncaught error of the database.",
     "Spark reports an unknown outcome instead of trying again, and its files are kept for ever.",
     by(mistell_losers, "updateTable", status=500)),
    ("race-drop-breaks-dropping", "race.losers-told",
     "Of two drops at the same time, one ends in an uncaught error of the database.",
     "A script that cleans up stops, although the table is gone.",
     by(mistell_losers, "dropTable", status=500)),
    ("race-drop-is-a-bad-request", "race.drop",
     "Of two drops at the same time, one is refused as a bad request.",
     "A script that cleans up stops, although the table is gone.",
     by(mistell_losers, "dropTable", status=400)),
    ("race-drop-of-views-is-a-bad-request", "race.drop-view",
     "Of two drops at the same time, one is refused as a bad request.",
     "A script that cleans up stops, although the view is gone.",
     by(mistell_losers, "dropView", status=400)),
    ("race-drop-breaks-dropping-namespaces", "race.losers-told",
     "Of two drops at the same time, one ends in an uncaught error of the database.",
     "A script that cleans up stops, although the namespace is gone.",
     by(mistell_losers, "dropNamespace", status=500)),
    ("race-drop-breaks-dropping-views", "race.losers-told",
     "Of two drops at the same time, one ends in an uncaught error of the database.",
     "A script that cleans up stops, although the view is gone.",
     by(mistell_losers, "dropView", status=500)),
)  # fmt: skip


# ---- one table


def _checked_before_lock(registries: Registries, operation_id: str) -> None:
    """Check requirements first, and apply the updates later to whatever is there then."""
    sight = LateSight()

    def unchecked(call: Call) -> Call:
        sent = sent_json(call)
        changes = [{**each, "requirements": []} for each in sent.get("table-changes", ())]
        return with_members(
            call, **({"table-changes": changes} if changes else {"requirements": []})
        )

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        faithful(sight.state(faithful.context, state), call)
        return sight.wrote(faithful.context, state, faithful(state, unchecked(call)))

    wrap(registries, operation_id, around)


_SLOWER_WINS = "Of two writers, the slower one wins and the other one's rows are gone."

declare_each(
    ("race-requirements-before-lock", "race.commits-on-one-base",
     "Requirements are checked before the lock is taken under which updates are applied.",
     _SLOWER_WINS, by(_checked_before_lock, "updateTable")),
    ("race-requirements-before-transaction", "race.transactions-on-one-base",
     "Requirements are checked before the transaction of the database begins.",
     _SLOWER_WINS, by(_checked_before_lock, "commitTransaction")),
)  # fmt: skip


declare(
    "race-last-writer-wins",
    "The new metadata replaces whatever is there, not only what it was made from.",
    by(decide_late, "updateTable", _publish),
    breaks="race.independent-commits",
    suffering="Acknowledged commits are lost.",
)


def _publish_refs(present: WarehouseState, decided: WarehouseState, call: Call) -> WarehouseState:
    """Put a commit into the present state, with all refs as they were when it was decided on."""
    name = (call.namespace, call.name)
    entry, late = present.table(*name), decided.table(*name)
    if entry is None or late is None:
        return present
    properties = {**entry.metadata.properties, **late.metadata.properties}
    metadata = structs.replace(late.metadata, properties=properties)
    return present.with_table(*name, structs.replace(late, metadata=metadata, replies={}))


declare(
    "race-last-view-wins",
    "The new metadata of a view replaces whatever is there, not only what it was made from.",
    by(decide_late, "replaceView", _publish),
    breaks="race.view-commits",
    suffering="Acknowledged commits to a view are lost.",
)


declare(
    "race-refs-replaced-whole",
    "A commit writes back all branches of a table as it has read them.",
    by(decide_late, "updateTable", _publish_refs),
    breaks="race.independent-commits",
    suffering="Of commits to two branches, one is acknowledged and gone.",
)


@defect(
    "race-commit-undoes-drop",
    breaks="race.drop-and-commit",
    suffering="A dropped table is there again, without its files if they were purged.",
)
def _commit_undoes_drop(registries: Registries) -> None:
    """A commit writes the table that it has loaded, whether or not it is still there."""
    sight = LateSight()
    note_writes(registries, "dropTable", sight)
    decide_late(registries, "updateTable", _publish, sight)


# ---- several tables


def _first_only(before: WarehouseState, after: WarehouseState, call: Call) -> WarehouseState:
    """Return the state in which a transaction changed its first table only."""
    changes = sent_json(call)["table-changes"]
    first = changes[0]["identifier"]
    entry = after.table(tuple(first["namespace"]), first["name"])
    if entry is None:
        return before
    return before.with_table(tuple(first["namespace"]), first["name"], entry)


@defect(
    "race-transaction-table-by-table",
    breaks="race.half-visible-transaction",
    suffering="A query joins a table from after a transaction with one from before it.",
)
def _transaction_table_by_table(registries: Registries) -> None:
    """The tables of a transaction are published one after another."""
    sight = LateSight()

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        half = _first_only(state, outcome.state, call)
        noted = sight.wrote(faithful.context, half, outcome)
        return structs.replace(noted, state=outcome.state)

    wrap(registries, "commitTransaction", around)
    decide_late(registries, "loadTable", publish_nothing, sight)


# ---- one namespace


def _publish_properties(
    present: WarehouseState, decided: WarehouseState, call: Call
) -> WarehouseState:
    entry = decided.namespace(call.namespace)
    return present if entry is None else present.with_namespace(call.namespace, entry.properties)


def _publish_drop(present: WarehouseState, decided: WarehouseState, call: Call) -> WarehouseState:
    gone = call.namespace in present.namespaces and call.namespace not in decided.namespaces
    return present.without_namespace(call.namespace) if gone else present


@defect(
    "race-table-and-view-of-one-name",
    breaks="race.table-or-view",
    suffering="One name is a table and a view: which one a query gets depends on who asks.",
)
def _table_and_view_of_one_name(registries: Registries) -> None:
    """Tables and views are two tables of a database, and each is looked up before the insert."""
    sight = LateSight()
    decide_late(registries, "createTable", _insert, sight)
    decide_late(registries, "createView", _insert, sight)


declare(
    "race-properties-replaced-whole",
    "A change reads all properties of a namespace, and writes all of them back.",
    by(decide_late, "updateProperties", _publish_properties),
    breaks="race.namespace-properties",
    suffering="Acknowledged changes of a namespace's properties are lost.",
)


@defect(
    "race-table-in-dropped-namespace",
    breaks="race.create-in-dropped-namespace",
    suffering="A table that was just created is in no namespace any more.",
)
def _table_in_dropped_namespace(registries: Registries) -> None:
    """Whether a namespace is empty is looked up before it is deleted, without a lock."""
    sight = LateSight()
    decide_late(registries, "dropNamespace", _publish_drop, sight)
    decide_late(registries, "createTable", _publish, sight)
