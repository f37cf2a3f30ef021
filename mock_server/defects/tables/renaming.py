"""Defects of renameTable."""

import msgspec

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.requests import Json, Name, rename_end, sent_name
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_answer,
    answer_status,
    forget_effect,
    refuse_as,
    wrap,
)
from icecheck.mock_server.defects.kit.storing import with_metadata
from icecheck.mock_server.metadata.model import TableMetadata
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.protocol.problem import Problem


@defect(
    "rename-makes-its-namespace",
    on="renameTable",
    breaks="renameTable.target-namespace-missing",
    suffering="A misspelled database name makes a new database.",
)
def _makes_its_namespace(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A target namespace that is missing is made along."""
    namespace, _ = rename_end(call, "destination")
    if namespace and state.namespace(namespace) is None:
        state = state.with_namespace(namespace, {})
    return faithful(state, call)


@defect(
    "rename-loses-the-table",
    on="renameTable",
    breaks="renameTable.target-namespace-missing",
    suffering="A refused rename loses the table.",
)
def _loses_the_table(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """The old name is removed before the new one is known to be possible."""
    try:
        return faithful(state, call)
    except Problem as refused:
        source = rename_end(call, "source")
        if refused.status != 404 or state.table(*source) is None:
            raise
        return Outcome(state.without_table(*source), replies.problem_reply(refused))


def _without(state: WarehouseState, name: Name) -> WarehouseState:
    return state if state.table(*name) is None else state.without_table(*name)


@defect(
    "rename-over-another",
    on="renameTable",
    breaks="renameTable.409",
    suffering="A rename destroys the table that has the new name.",
)
def _over_another(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A rename replaces the table that has the new name."""
    source, destination = rename_end(call, "source"), rename_end(call, "destination")
    cleared = state if source == destination else _without(state, destination)
    return faithful(cleared, call)


@defect(
    "rename-conflict-writes",
    on="renameTable",
    breaks="renameTable.conflict-changes-nothing",
    suffering="A refused rename has replaced a table all the same.",
)
def _conflict_writes(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A rename is written first and then refused because the new name is taken."""
    try:
        return faithful(state, call)
    except Problem as refused:
        if refused.status != 409:
            raise
        written = faithful(_without(state, rename_end(call, "destination")), call)
        return Outcome(written.state, replies.problem_reply(refused))


@defect(
    "rename-copies",
    on="renameTable",
    breaks="renameTable.moves",
    suffering="Two names stand for one table, and each commits on its own.",
)
def _copies(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """The old name stays."""
    source = rename_end(call, "source")
    outcome = faithful(state, call)
    entry = state.table(*source)
    if entry is None:
        return outcome
    return Outcome(outcome.state.with_table(*source, entry), outcome.reply)


@defect(
    "rename-listed-under-old-name",
    breaks="renameTable.moves",
    suffering="SHOW TABLES lists a name that cannot be read, and not the one that can.",
)
def _listed_under_old_name(registries: Registries) -> None:
    """The listing comes from an index that a rename does not touch."""
    old_names: dict[Name, str] = {}

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        old_names[rename_end(call, "destination")] = rename_end(call, "source")[1]
        return outcome

    def listed(call: Call, body: Json) -> Json:
        shown = [
            i | {"name": old_names.get((call.namespace, i["name"]), i["name"])}
            for i in body["identifiers"]
        ]
        return body | {"identifiers": shown}

    wrap(registries, "renameTable", around)
    alter_answer(registries, "listTables", listed)


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


declare_each(
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
     by(_rename_as, table_uuid="00000000-0000-4000-8000-000000000000")),
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
)  # fmt: skip


@defect(
    "rename-across-400",
    on="renameTable",
    breaks="renameTable.406",
    suffering="Clients cannot tell that the catalog never moves tables between namespaces.",
)
def _across_400(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A rename into another namespace is refused as a bad request."""
    if rename_end(call, "source")[0] != rename_end(call, "destination")[0]:
        raise problem.bad_request("The namespaces must be the same")
    return faithful(state, call)


@defect(
    "rename-unsupported-and-done",
    on="renameTable",
    breaks="renameTable.406",
    suffering="A rename that was refused as not supported has moved the table.",
)
def _unsupported_and_done(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A rename into another namespace is carried out and then answered 406."""
    outcome = faithful(state, call)
    if rename_end(call, "source")[0] == rename_end(call, "destination")[0]:
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


@defect(
    "rename-reserves-the-old-name",
    breaks="renameTable.old-name-free",
    suffering="A table cannot be replaced by renaming it away and creating it anew.",
)
def _reserves_the_old_name(registries: Registries) -> None:
    """The old name stays as a redirection, and nothing else can be created there."""
    redirected: set[Name] = set()

    def renaming(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        redirected.add(rename_end(call, "source"))
        return outcome

    def creating(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if (call.namespace, sent_name(call)) in redirected:
            raise problem.already_exists(f"Table already exists: {sent_name(call)}")
        return faithful(state, call)

    wrap(registries, "renameTable", renaming)
    wrap(registries, "createTable", creating)
