"""Ways in which servers rename tables wrongly."""

import msgspec

from icecheck.mock_server import problem, replies
from icecheck.mock_server.context import Call, Context, Operation, Outcome, Registries
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import (
    alter_answer,
    answer_status,
    forget_effect,
    refuse_as,
    sent_json,
    wrap,
)
from icecheck.mock_server.defects.storing import Body, sent_name, with_metadata
from icecheck.mock_server.model import TableMetadata
from icecheck.mock_server.problem import Problem
from icecheck.mock_server.state import WarehouseState

TableName = tuple[tuple[str, ...], str]


def _end(call: Call, end: str) -> TableName:
    """The source or destination of a rename; empty where the body names none."""
    identifier = sent_json(call).get(end)
    if not isinstance(identifier, dict):
        return (), ""
    return tuple(identifier.get("namespace", ())), str(identifier.get("name", ""))


@defect(
    "rename-200",
    breaks="renameTable.204",
    suffering="Strict clients take the rename for failed.",
)
def _rename_200(registries: Registries) -> None:
    """A rename is answered 200."""
    answer_status(registries, "renameTable", 200)


@defect(
    "rename-malformed-500",
    breaks="renameTable.400",
    suffering="A client's mistake is reported as a failure of the server.",
)
def _malformed_500(registries: Registries) -> None:
    """A body without source or destination is a null pointer."""
    refuse_as(registries, "renameTable", 400, 500, "InternalServerError")


@defect(
    "rename-missing-204",
    breaks="renameTable.404",
    suffering="ALTER TABLE RENAME hides a misspelled name.",
)
def _missing_204(registries: Registries) -> None:
    """Renaming what does not exist succeeds."""
    refuse_as(registries, "renameTable", 404, 204)


@defect(
    "rename-missing-409",
    breaks="renameTable.source-missing",
    suffering="Clients look for a conflict where a table is missing.",
)
def _missing_409(registries: Registries) -> None:
    """An update that touches no row is answered 409."""
    refuse_as(registries, "renameTable", 404, 409, "CommitFailedException")


@defect(
    "rename-makes-its-namespace",
    breaks="renameTable.target-namespace-missing",
    suffering="A misspelled database name makes a new database.",
)
def _makes_its_namespace(registries: Registries) -> None:
    """A target namespace that is missing is made along."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        namespace, _ = _end(call, "destination")
        if namespace and state.namespace(namespace) is None:
            state = state.with_namespace(namespace, {})
        return faithful(context, state, call)

    wrap(registries, "renameTable", around)


@defect(
    "rename-loses-the-table",
    breaks="renameTable.target-namespace-missing",
    suffering="A refused rename loses the table.",
)
def _loses_the_table(registries: Registries) -> None:
    """The old name is removed before the new one is known to be possible."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(context, state, call)
        except Problem as refused:
            source = _end(call, "source")
            if refused.status != 404 or state.table(*source) is None:
                raise
            return Outcome(state.without_table(*source), replies.problem_reply(refused))

    wrap(registries, "renameTable", around)


def _without(state: WarehouseState, name: TableName) -> WarehouseState:
    return state if state.table(*name) is None else state.without_table(*name)


@defect(
    "rename-over-another",
    breaks="renameTable.409",
    suffering="A rename destroys the table that has the new name.",
)
def _over_another(registries: Registries) -> None:
    """A rename replaces the table that has the new name."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        source, destination = _end(call, "source"), _end(call, "destination")
        cleared = state if source == destination else _without(state, destination)
        return faithful(context, cleared, call)

    wrap(registries, "renameTable", around)


@defect(
    "rename-conflict-writes",
    breaks="renameTable.conflict-changes-nothing",
    suffering="A refused rename has replaced a table all the same.",
)
def _conflict_writes(registries: Registries) -> None:
    """A rename is written first and then refused because the new name is taken."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(context, state, call)
        except Problem as refused:
            if refused.status != 409:
                raise
            written = faithful(context, _without(state, _end(call, "destination")), call)
            return Outcome(written.state, replies.problem_reply(refused))

    wrap(registries, "renameTable", around)


@defect(
    "rename-forgotten",
    breaks="renameTable.moves",
    suffering="ALTER TABLE RENAME succeeds, and the table has its old name.",
)
def _forgotten(registries: Registries) -> None:
    """A rename is answered before it is carried out, and then fails in the background."""
    forget_effect(registries, "renameTable")


@defect(
    "rename-copies",
    breaks="renameTable.moves",
    suffering="Two names stand for one table, and each commits on its own.",
)
def _copies(registries: Registries) -> None:
    """The old name stays."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        source = _end(call, "source")
        outcome = faithful(context, state, call)
        entry = state.table(*source)
        if entry is None:
            return outcome
        return Outcome(outcome.state.with_table(*source, entry), outcome.reply)

    wrap(registries, "renameTable", around)


@defect(
    "rename-listed-under-old-name",
    breaks="renameTable.moves",
    suffering="SHOW TABLES lists a name that cannot be read, and not the one that can.",
)
def _listed_under_old_name(registries: Registries) -> None:
    """The listing comes from an index that a rename does not touch."""
    old_names: dict[TableName, str] = {}

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        old_names[_end(call, "destination")] = _end(call, "source")[1]
        return outcome

    def listed(call: Call, body: Body) -> Body:
        shown = [
            i | {"name": old_names.get((call.namespace, i["name"]), i["name"])}
            for i in body["identifiers"]
        ]
        return body | {"identifiers": shown}

    wrap(registries, "renameTable", around)
    alter_answer(registries, "listTables", listed)


def _rename_as(registries: Registries, **members: object) -> None:
    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        destination = _end(call, "destination")
        entry = outcome.state.table(*destination)
        if entry is None:
            return outcome
        metadata: TableMetadata = msgspec.structs.replace(entry.metadata, **members)
        changed = with_metadata(context, entry, metadata)
        return Outcome(outcome.state.with_table(*destination, changed), outcome.reply)

    wrap(registries, "renameTable", around)


@defect(
    "rename-new-uuid",
    breaks="renameTable.same-table",
    suffering="Writers that know the table refuse it as another one.",
)
def _new_uuid(registries: Registries) -> None:
    """A rename makes a new table of the old metadata."""
    _rename_as(registries, table_uuid="00000000-0000-4000-8000-000000000000")


@defect(
    "rename-loses-history",
    breaks="renameTable.same-table",
    suffering="A renamed table is empty.",
)
def _loses_history(registries: Registries) -> None:
    """A rename is done as a creation of the same schema under another name."""
    _rename_as(registries, snapshots=(), refs={}, current_snapshot_id=None)


@defect(
    "rename-loses-properties",
    breaks="renameTable.same-table",
    suffering="A renamed table has lost its settings.",
)
def _loses_properties(registries: Registries) -> None:
    """A rename does not carry the properties along."""
    _rename_as(registries, properties={})


@defect(
    "rename-loses-statistics",
    breaks="roundtrip.renameTable",
    suffering="Plans of a renamed table are made without its statistics.",
)
def _loses_statistics(registries: Registries) -> None:
    """Statistics are kept by the table's name, and stay under the old one."""
    _rename_as(registries, statistics=(), partition_statistics=())


@defect(
    "rename-across-400",
    breaks="renameTable.406",
    suffering="Clients cannot tell that the catalog never moves tables between namespaces.",
)
def _across_400(registries: Registries) -> None:
    """A rename into another namespace is refused as a bad request."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        if _end(call, "source")[0] != _end(call, "destination")[0]:
            raise problem.bad_request("The namespaces must be the same")
        return faithful(context, state, call)

    wrap(registries, "renameTable", around)


@defect(
    "rename-unsupported-and-done",
    breaks="renameTable.406",
    suffering="A rename that was refused as not supported has moved the table.",
)
def _unsupported_and_done(registries: Registries) -> None:
    """A rename into another namespace is carried out and then answered 406."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        if _end(call, "source")[0] == _end(call, "destination")[0]:
            return outcome
        refused = problem.unsupported("Cannot move tables between namespaces")
        return Outcome(outcome.state, replies.problem_reply(refused))

    wrap(registries, "renameTable", around)


@defect(
    "rename-keeps-the-namespace",
    breaks="renameTable.across-namespaces",
    suffering="A table that was moved to another database stays in its own, under another name.",
)
def _keeps_the_namespace(registries: Registries) -> None:
    """Only the name of the destination is used."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        source, (namespace, name) = _end(call, "source"), _end(call, "destination")
        outcome = faithful(context, state, call)
        entry = outcome.state.table(namespace, name)
        if entry is None:
            return outcome
        back = outcome.state.without_table(namespace, name).with_table(source[0], name, entry)
        return Outcome(back, outcome.reply)

    wrap(registries, "renameTable", around)


@defect(
    "rename-reserves-the-old-name",
    breaks="renameTable.old-name-free",
    suffering="A table cannot be replaced by renaming it away and creating it anew.",
)
def _reserves_the_old_name(registries: Registries) -> None:
    """The old name stays as a redirection, and nothing else can be created there."""
    redirected: set[TableName] = set()

    def renaming(
        faithful: Operation, context: Context, state: WarehouseState, call: Call
    ) -> Outcome:
        outcome = faithful(context, state, call)
        redirected.add(_end(call, "source"))
        return outcome

    def creating(
        faithful: Operation, context: Context, state: WarehouseState, call: Call
    ) -> Outcome:
        if (call.namespace, sent_name(call)) in redirected:
            raise problem.already_exists(f"Table already exists: {sent_name(call)}")
        return faithful(context, state, call)

    wrap(registries, "renameTable", renaming)
    wrap(registries, "createTable", creating)
