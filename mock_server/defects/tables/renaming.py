"""Defects of renameTable."""

import msgspec

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.changing import (
    change_and_refuse,
    do_after,
    make_namespace,
    put_back,
    refuse_where,
    see_otherwise,
    without,
    write_and_refuse,
)
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.remembering import (
    by_body,
    by_source,
    list_under_old_name,
    refuse_later,
)
from icecheck.mock_server.defects.kit.requests import rename_end
from icecheck.mock_server.defects.kit.rewriting import (
    ANOTHER_UUID,
    Faithful,
    answer_status,
    forget_effect,
    refuse_as,
    wrap,
)
from icecheck.mock_server.defects.kit.storing import with_metadata
from icecheck.mock_server.metadata.model import TableMetadata
from icecheck.mock_server.protocol import problem, replies


def _target_free(state: WarehouseState, call: Call) -> WarehouseState:
    """Return a state in which no other table has the new name."""
    source, destination = rename_end(call, "source"), rename_end(call, "destination")
    return state if source == destination else without(state, destination, "table")


def _leaves_its_namespace(call: Call) -> bool:
    return rename_end(call, "source")[0] != rename_end(call, "destination")[0]


def _rename_as(registries: Registries, /, **members: object) -> None:
    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        destination = rename_end(call, "destination")
        entry = outcome.state.table(*destination)
        if entry is None:
            return outcome
        metadata: TableMetadata = msgspec.structs.replace(entry.metadata, **members)
        changed = with_metadata(faithful.context, entry, metadata)
        return Outcome(outcome.state.with_table(*destination, changed), outcome.reply)

    wrap(registries, "renameTable", around)


@defect(
    "rename-unsupported-and-done",
    on="renameTable",
    breaks="renameTable.406",
    suffering="A rename that was refused as not supported has moved the table.",
)
def _unsupported_and_done(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A rename into another namespace is carried out and then answered 406."""
    outcome = faithful(state, call)
    if not _leaves_its_namespace(call):
        return outcome
    refused = problem.unsupported("Cannot move tables between namespaces")
    return Outcome(outcome.state, replies.problem_reply(refused))


@defect(
    "rename-keeps-the-namespace",
    on="renameTable",
    breaks="renameTable.across-namespaces",
    suffering="A table that was moved to another database stays in its own, under another name.",
)
def _keeps_the_namespace(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Only the name of the destination is used."""
    source, (namespace, name) = rename_end(call, "source"), rename_end(call, "destination")
    outcome = faithful(state, call)
    entry = outcome.state.table(namespace, name)
    if entry is None:
        return outcome
    back = outcome.state.without_table(namespace, name).with_table(source[0], name, entry)
    return Outcome(back, outcome.reply)


declare_each(
    ("rename-makes-its-namespace", "renameTable.target-namespace-missing",
     "A target namespace that is missing is made along.",
     "A misspelled database name makes a new database.",
     by(make_namespace, "renameTable", lambda call: rename_end(call, "destination")[0])),
    ("rename-loses-the-table", "renameTable.target-namespace-missing",
     "The old name is removed before the new one is known to be possible.",
     "A refused rename loses the table.",
     by(change_and_refuse, "renameTable", 404,
        lambda _, state, call: without(state, rename_end(call, "source"), "table"))),
    ("rename-over-another", "renameTable.409", "A rename replaces the table that has the new name.",
     "A rename destroys the table that has the new name.",
     by(see_otherwise, "renameTable", _target_free)),
    ("rename-conflict-writes", "renameTable.conflict-changes-nothing",
     "A rename is written first and then refused because the new name is taken.",
     "A refused rename has replaced a table all the same.",
     by(write_and_refuse, "renameTable", _target_free)),
    ("rename-copies", "renameTable.moves", "The old name stays.",
     "Two names stand for one table, and each commits on its own.",
     by(do_after, "renameTable",
        lambda _, before, call, after: put_back(after, before, rename_end(call, "source")))),
    ("rename-listed-under-old-name", "renameTable.moves",
     "The listing comes from an index that a rename does not touch.",
     "SHOW TABLES lists a name that cannot be read, and not the one that can.",
     by(list_under_old_name, "renameTable", "listTables")),
    ("rename-200", "renameTable.204", "A rename is answered 200.",
     "Strict clients take the rename for failed.", by(answer_status, "renameTable", 200)),
    ("rename-malformed-500", "renameTable.400",
     "A body without source or destination is a null pointer.",
     "A client's mistake is reported as a failure of the server.",
     by(refuse_as, "renameTable", 400, 500, "InternalServerError")),
    ("rename-missing-204", "renameTable.404", "Renaming what does not exist succeeds.",
     "ALTER TABLE RENAME hides a misspelled name.", by(refuse_as, "renameTable", 404, 204)),
    ("rename-missing-409", "renameTable.source-missing",
     "An update that touches no row is answered 409.",
     "Clients look for a conflict where a table is missing.",
     by(refuse_as, "renameTable", 404, 409, "CommitFailedException")),
    ("rename-forgotten", "renameTable.moves",
     "A rename is answered before it is carried out, and then fails in the background.",
     "ALTER TABLE RENAME succeeds, and the table has its old name.",
     by(forget_effect, "renameTable")),
    ("rename-new-uuid", "renameTable.same-table", "A rename makes a new table of the old metadata.",
     "Writers that know the table refuse it as another one.",
     by(_rename_as, table_uuid=ANOTHER_UUID)),
    ("rename-loses-history", "renameTable.same-table",
     "A rename is done as a creation of the same schema under another name.",
     "A renamed table is empty.", by(_rename_as, snapshots=(), refs={}, current_snapshot_id=None)),
    ("rename-loses-properties", "renameTable.same-table",
     "A rename does not carry the properties along.", "A renamed table has lost its settings.",
     by(_rename_as, properties={})),
    ("rename-loses-statistics", "roundtrip.renameTable",
     "Statistics are kept by the table's name, and stay under the old one.",
     "Plans of a renamed table are made without its statistics.",
     by(_rename_as, statistics=(), partition_statistics=())),
    ("rename-across-400", "renameTable.406",
     "A rename into another namespace is refused as a bad request.",
     "Clients cannot tell that the catalog never moves tables between namespaces.",
     by(refuse_where, "renameTable", lambda _, call: _leaves_its_namespace(call))),
    ("rename-reserves-the-old-name", "renameTable.old-name-free",
     "The old name stays as a redirection, and nothing else can be created there.",
     "A table cannot be replaced by renaming it away and creating it anew.",
     by(refuse_later, ("renameTable", by_source), ("createTable", by_body))),
)  # fmt: skip
