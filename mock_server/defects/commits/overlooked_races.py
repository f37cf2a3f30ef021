"""Defects that only concurrent requests of different operations show, on any kind of object.

An operation overlooks what another one has just written, as a server does that reads without a
lock, or from a cache. Requests of one operation see each other: no race of equals shows these.
"""

from msgspec import structs

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.commits.late_sight import (
    CROSSING_MS,
    LateSight,
    overlook_each_other,
    publish_nothing,
)
from icecheck.mock_server.defects.kit.changing import put_back, without
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.requests import Name, rename_ends, sent_json, sent_name
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.protocol.problem import Problem


def _publish(present: WarehouseState, decided: WarehouseState, call: Call) -> WarehouseState:
    """Put what a request names, in its path or in its body, into the present state."""
    name = (call.namespace, call.name or sent_name(call))
    return put_back(present, decided, name) if call.namespace in present.namespaces else present


def _publish_tables(present: WarehouseState, decided: WarehouseState, call: Call) -> WarehouseState:
    """Put the tables of a transaction into the present state, where they are still there."""
    for change in sent_json(call)["table-changes"]:
        name: Name = (tuple(change["identifier"]["namespace"]), change["identifier"]["name"])
        present = put_back(present, decided, name) if present.table(*name) else present
    return present


def _publish_rename(present: WarehouseState, decided: WarehouseState, call: Call) -> WarehouseState:
    """Move what the rename has read, wherever it may be now."""
    source, target = rename_ends(call)
    kind = decided.kind_of(*target)
    if kind is not None and present.kind_of(*source) is not None:
        present = without(present, source, kind)
    return put_back(present, decided, target) if target[0] in present.namespaces else present


def _publish_copy(present: WarehouseState, decided: WarehouseState, call: Call) -> WarehouseState:
    """Give the new name to what the rename has read, and leave the old one to who wrote it."""
    return put_back(present, decided, rename_ends(call)[1])


def _publish_moved(present: WarehouseState, decided: WarehouseState, call: Call) -> WarehouseState:
    """Move what the rename has read, where the names are still as they were."""
    source, target = rename_ends(call)
    if present.kind_of(*source) is None or present.kind_of(*target) is not None:
        raise Problem(409, "CommitFailedException", "Somebody else has changed the names")
    return _publish_rename(present, decided, call)


def _publish_drop(present: WarehouseState, decided: WarehouseState, call: Call) -> WarehouseState:
    gone = call.namespace in present.namespaces and call.namespace not in decided.namespaces
    return present.without_namespace(call.namespace) if gone else present


def _publish_properties(
    present: WarehouseState, decided: WarehouseState, call: Call
) -> WarehouseState:
    entry = decided.namespace(call.namespace)
    return present if entry is None else present.with_namespace(call.namespace, entry.properties)


def _publish_row(present: WarehouseState, decided: WarehouseState, call: Call) -> WarehouseState:
    """Write back the whole namespace as it was read: its properties and what it holds."""
    entry = decided.namespace(call.namespace)
    if entry is None or call.namespace not in present.namespaces:
        return present
    return WarehouseState(present.namespaces.with_item(call.namespace, entry), present.keyed)


_DROPS = {"dropNamespace": _publish_drop}

declare_each(
    ("race-rename-loses-commits", "race.random-changes",
     "A rename writes the table that it has read, without the commits since, under the new name.",
     "Rows that were committed while a table was renamed are gone.",
     by(overlook_each_other, {"renameTable": _publish_moved}, {"updateTable": publish_nothing})),
    ("race-transaction-over-commits", "race.random-changes",
     "Transactions have a lock of their own, which plain commits do not take.",
     "A transaction takes back what other writers commit to its tables at the same time.",
     by(overlook_each_other, {"commitTransaction": _publish_tables},
        {"updateTable": publish_nothing})),
    ("race-registered-over-another", "race.random-changes",
     "Registrations do not take the lock under which tables are created and renamed.",
     "A table that was just created or renamed is replaced by another one.",
     by(overlook_each_other, {"registerTable": _publish},
        {"createTable": _publish, "renameTable": _publish_rename})),
    ("race-commit-undoes-rename", "race.random-changes",
     "A commit writes the table that it has loaded, under the name that it had then.",
     "A renamed table is there under both names, and their writers part ways.",
     by(overlook_each_other, {"updateTable": _publish}, {"renameTable": _publish_copy})),
    ("race-view-rename-loses-commits", "race.random-views",
     "A rename writes the view that it has read, without the commits since, under the new name.",
     "A view is what it was before it was altered.",
     by(overlook_each_other, {"renameView": _publish_moved},
        {"replaceView": publish_nothing})),
    ("race-view-commit-undoes-drop", "race.random-views",
     "A commit writes the view that it has loaded, whether or not it is still there.",
     "A dropped view is there again.",
     by(overlook_each_other, {"replaceView": _publish}, {"dropView": publish_nothing})),
    ("race-view-created-over-renamed", "race.random-views",
     "Creations do not take the lock under which views are renamed.",
     "A view is gone: another one was created over it.",
     by(overlook_each_other, {"createView": _publish}, {"renameView": _publish_rename})),
    ("race-properties-undo-drop", "race.random-namespaces",
     "A change of properties writes the namespace that it has loaded, whether or not it is there.",
     "A dropped namespace is there again.",
     by(overlook_each_other, {"updateProperties": _publish_properties},
        {"dropNamespace": publish_nothing})),
    ("race-properties-over-contents", "race.random-namespaces",
     "A namespace is one row, with what it holds: a change of properties writes all of it back.",
     "A table that was just created cannot be found any more.",
     by(overlook_each_other, {"updateProperties": _publish_row},
        {"createTable": publish_nothing, "createView": publish_nothing})),
    ("race-renamed-into-dropped-namespace", "race.random-namespaces",
     "A drop of a namespace does not take the lock under which tables are renamed into it.",
     "A table is gone: it was renamed into a namespace that somebody else dropped.",
     by(overlook_each_other, {"renameTable": _publish_rename}, _DROPS)),
    ("race-registered-in-dropped-namespace", "race.random-namespaces",
     "Of what a namespace holds, its drop does not see new views and registered tables.",
     "A table that was just registered is in no namespace any more.",
     by(overlook_each_other, {"registerTable": _publish, "createView": _publish}, _DROPS)),
)  # fmt: skip


@defect(
    "race-third-write-forgotten",
    breaks="race.random-changes",
    suffering="A change that was acknowledged while others wrote has never happened.",
)
def _third_write_forgotten(registries: Registries) -> None:
    """Of three writes at the same time, a transaction among them, the last one is forgotten."""
    first, second, transactions = (LateSight(CROSSING_MS) for _ in range(3))

    def is_new(sight: LateSight, faithful: Faithful, state: WarehouseState) -> bool:
        return sight.state(faithful.context, state) is not state

    def writing(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        together = call.operation_id == "commitTransaction"
        among = together or is_new(transactions, faithful, state)
        if among and is_new(second, faithful, state):
            return structs.replace(outcome, state=state)
        if together:
            transactions.wrote(faithful.context, state, outcome)
        waits = is_new(first, faithful, state)
        return (second if waits else first).wrote(faithful.context, state, outcome)

    for operation_id in ("updateTable", "createTable", "renameTable", "commitTransaction"):
        wrap(registries, operation_id, writing)
