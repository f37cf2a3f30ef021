"""Defects of tables that no plain creation has made, and of rows left by failed ones."""

import json
from collections.abc import Iterator

from msgspec.structs import replace

from icecheck.mock_server.core.context import Call, Context, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.remembering import (
    by_body,
    by_source,
    note_after,
    note_outcome,
    refuse_later,
    remembering,
)
from icecheck.mock_server.defects.kit.requests import (
    Levels,
    Name,
    rename_ends,
    sent_json,
    sent_name,
)
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.protocol import problem
from icecheck.mock_server.protocol.problem import Problem


def tables_in(state: WarehouseState) -> Iterator[Name]:
    """Yield every table there is."""
    for namespace, entry in state.namespaces.after(()):
        for name, _ in entry.tables.after(None):
            yield namespace, name


# ------------------------------------------------------------------ counted and remembered


def _uncounted(registries: Registries, *operations: str) -> None:
    """Let dropNamespace overlook the tables that these operations have made."""
    came: set[Name] = set()

    def arrive(_c: Context, before: WarehouseState, _call: Call, outcome: Outcome) -> None:
        came.update(set(tables_in(outcome.state)) - set(tables_in(before)))

    def drop(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        for namespace, name in came & set(tables_in(state)):
            if namespace == call.namespace:
                state = state.without_table(namespace, name)
        return faithful(state, call)

    for operation_id in operations:
        note_outcome(registries, operation_id, arrive)
    wrap(registries, "dropNamespace", drop)


declare_each(
    ("world-registered-tables-are-not-counted", "world.tables",
     "Whether a namespace is empty is told by a counter, which no registration raises.",
     "DROP NAMESPACE succeeds, and the tables that were registered in it are lost.",
     by(_uncounted, "registerTable")),
    ("world-committed-tables-are-not-counted", "world.tables",
     "Whether a namespace is empty is told by a counter, which no commit raises.",
     "DROP NAMESPACE succeeds, and tables made by CREATE TABLE AS SELECT are lost.",
     by(_uncounted, "updateTable", "commitTransaction")),
    ("world-moved-tables-are-not-counted", "world.tables",
     "Whether a namespace is empty is told by a counter, which no rename raises.",
     "DROP NAMESPACE succeeds, and tables that were moved into it are lost.",
     by(_uncounted, "renameTable")),
)  # fmt: skip


@defect(
    "world-registration-leaves-the-list-as-it-was",
    breaks="world.tables",
    suffering="SHOW TABLES does not know tables that were registered.",
)
def _stale_list(registries: Registries) -> None:
    """A list of tables is remembered until something is made or dropped, registrations aside."""
    seen: dict[Levels, WarehouseState] = {}

    def listing(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(seen.get(call.namespace, state), call)
        seen.setdefault(call.namespace, state)
        return replace(outcome, state=state)

    wrap(registries, "listTables", listing)
    for operation_id in registries.operations:
        if operation_id.startswith(("create", "update", "drop", "rename", "commit")):
            note_after(registries, operation_id, lambda _: seen.clear())


@defect(
    "world-moved-table-has-no-credentials",
    breaks="world.tables",
    suffering="After ALTER TABLE RENAME clients get no access to the table's files.",
)
def _no_credentials(registries: Registries) -> None:
    """What may be vended is kept by name, and a rename does not move it."""
    moved: set[Name] = set()

    def move(call: Call) -> None:
        source, target = rename_ends(call)
        moved.discard(source)
        moved.add(target)

    def vend(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        if (call.namespace, call.name) in moved:
            raise problem.no_such_table(call.namespace, call.name)
        return outcome

    note_after(registries, "renameTable", move)
    wrap(registries, "loadCredentials", vend)


# -------------------------------------------------------------------- rows that remain


def _left_rows(registries: Registries, operation_id: str, *then: str) -> None:
    """Let a refused operation take the name, so that the operations `then` find it taken."""
    taken: set[Name] = set()

    def fail(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(state, call)
        except Problem as refused:
            name = (call.namespace, sent_name(call))
            if refused.status == 400 and state.kind_of(*name) is None:
                taken.add(name)
            raise

    def make(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        if (call.namespace, sent_name(call)) in taken:
            raise problem.already_exists(f"Table already exists: {sent_name(call)}")
        return outcome

    wrap(registries, operation_id, fail)
    for each in then:
        wrap(registries, each, make)


@defect(
    "world-failed-namespace-keeps-the-name",
    on=remembering(list, wrap, "createNamespace"),
    breaks="world.namespaces",
    suffering="After a CREATE NAMESPACE with a mistake, the right one fails too.",
)
def _failed_namespace(
    taken: list[object], faithful: Faithful, state: WarehouseState, call: Call
) -> Outcome:
    """A creation writes the namespace's row before it reads its properties, and leaves it."""
    namespace = sent_json(call).get("namespace")
    try:
        outcome = faithful(state, call)
    except Problem as refused:
        if refused.status == 400:
            taken.append(namespace)
        raise
    if namespace in taken:
        raise problem.already_exists("Namespace already exists")
    return outcome


@defect(
    "world-last-staging-counts",
    breaks="world.tables",
    suffering="Of two clients that create one table, neither does where the second one gives up.",
)
def _last_staging(registries: Registries) -> None:
    """Of what is staged under a name only the last can be committed."""
    staged: dict[Name, str] = {}

    def stage(_c: Context, _state: WarehouseState, call: Call, outcome: Outcome) -> None:
        if sent_json(call).get("stage-create"):
            metadata = json.loads(outcome.reply.body)["metadata"]
            staged[call.namespace, sent_name(call)] = metadata["table-uuid"]

    def commit(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        name = (call.namespace, call.name)
        made = outcome.state.table(*name)
        if made is None or state.table(*name) is not None or name not in staged:
            return outcome
        if made.metadata.table_uuid != staged[name]:
            raise problem.commit_failed("Staged again by another client")
        return outcome

    note_outcome(registries, "createTable", stage)
    wrap(registries, "updateTable", commit)


declare_each(
    ("world-failed-registration-keeps-the-name", "world.tables",
     "A registration writes its row before it reads the file, and leaves it when that fails.",
     "After a registration with a misspelled path the name cannot be used any more.",
     by(_left_rows, "registerTable", "createTable", "registerTable")),
    ("world-failed-creation-keeps-the-name", "world.tables",
     "A creation writes its row before it reads the partition spec, and leaves it.",
     "After a CREATE TABLE with a mistake, the right one fails too.",
     by(_left_rows, "createTable", "createTable")),
    ("world-failed-view-keeps-the-name", "world.views",
     "A creation writes the view's row before it reads its version, and leaves it.",
     "After a CREATE VIEW with a mistake, the right one fails too.",
     by(_left_rows, "createView", "createView")),
    ("world-registered-table-cannot-move", "world.tables",
     "A rename asks the store of created tables alone.",
     "ALTER TABLE RENAME does not find tables that were registered.",
     by(refuse_later, ("registerTable", by_body), ("renameTable", by_source), 404,
        "NoSuchTableException")),
)  # fmt: skip
