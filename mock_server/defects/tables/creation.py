"""Defects of createTable: its answers, its effects and its refusals."""

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare, declare_each, defect
from icecheck.mock_server.defects.kit.requests import Json, sent_json, sent_name, with_content
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_answer,
    alter_body,
    answer_status,
    forget_effect,
    refuse_as,
    wrap,
)
from icecheck.mock_server.defects.kit.storing import without_sent_table
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.protocol.problem import Problem

ANOTHER_UUID = "00000000-0000-4000-8000-000000000000"


# ------------------------------------------------------------------ answers and effects


declare_each(
    ("table-created-201", "createTable.200", "A created table is answered 201.",
     "The Java client takes 201 for an error, and the table is there all the same.",
     by(answer_status, "createTable", 201)),
    ("table-not-created", "createTable.immediate",
     "A creation is answered before it is written, and the write is lost.",
     "CREATE TABLE succeeds, and the next statement finds no table.",
     by(forget_effect, "createTable")),
)  # fmt: skip


@defect(
    "table-listed-later",
    breaks="createTable.immediate",
    suffering="SHOW TABLES leaves out the table that was just made.",
)
def _listed_later(registries: Registries) -> None:
    """The listing comes from an index that is only refreshed when somebody has listed."""
    fresh: set[str] = set()

    def creating(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        fresh.add(sent_name(call))
        return outcome

    def indexed(_call: Call, body: Json) -> Json:
        shown = [i for i in body["identifiers"] if i["name"] not in fresh]
        fresh.clear()
        return body | {"identifiers": shown}

    wrap(registries, "createTable", creating)
    alter_answer(registries, "listTables", indexed)


declare(
    "table-answer-is-a-draft",
    "The answer to a creation is built apart from what is stored, with a uuid of its own.",
    by(
        alter_body,
        "createTable",
        lambda body: body | {"metadata": body["metadata"] | {"table-uuid": ANOTHER_UUID}},
    ),
    breaks="createTable.answer-is-the-table",
    suffering="The first commit of the creating client fails: the uuid does not match.",
)

declare(
    "table-answer-names-no-file",
    "The metadata location in the answer to a creation is guessed before the file is written.",
    by(
        alter_body,
        "createTable",
        lambda body: body | {"metadata-location": f"{body.get('metadata-location')}.tmp"},
    ),
    breaks="createTable.answer-is-the-table",
    suffering="A client takes the table it has just made for changed by somebody else.",
)


# ------------------------------------------------------------------ requests


@defect(
    "table-needs-every-member",
    on="createTable",
    breaks="createTable.minimal-body",
    suffering="Clients that leave out what they do not use cannot create tables.",
)
def _needs_every_member(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A creation without a partition spec is refused."""
    body = sent_json(call)
    if body and "partition-spec" not in body:
        raise problem.bad_request("partition-spec must be given")
    return faithful(state, call)


@defect(
    "table-refuses-nulls",
    on="createTable",
    breaks="createTable.explicit-nulls",
    suffering="Spark cannot create a table: it sends null for what it does not use.",
)
def _refuses_nulls(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A body is validated by its schema to the letter, which knows no nulls."""
    if None in sent_json(call).values():
        raise problem.bad_request("None is not of type 'object'")
    return faithful(state, call)


@defect(
    "table-malformed-written",
    on="createTable",
    breaks="createTable.400",
    suffering="A refused CREATE TABLE leaves a table behind.",
)
def _malformed_written(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A list with one object in it is read as that object, and refused once it is written."""
    try:
        return faithful(state, call)
    except Problem as refused:
        if not call.request.body.startswith(b"["):
            raise
        outcome = faithful(state, with_content(call, call.request.body[1:-1]))
        return Outcome(outcome.state, replies.problem_reply(refused), outcome.effects)


@defect(
    "table-makes-its-namespace",
    on="createTable",
    breaks="createTable.404",
    suffering="A misspelled database name makes a new database.",
)
def _makes_its_namespace(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A namespace that is missing is made along with the table."""
    if state.namespace(call.namespace) is None:
        state = state.with_namespace(call.namespace, {})
    return faithful(state, call)


declare_each(
    ("table-malformed-500", "createTable.400", "The parser's error is caught by nobody.",
     "A client's mistake is reported as a failure of the server, and retried.",
     by(refuse_as, "createTable", 400, 500, "InternalServerError")),
    ("table-missing-namespace-400", "createTable.404",
     "A missing namespace is a foreign key that fails, and that is answered 400.",
     "Clients cannot tell a missing namespace from a malformed request.",
     by(refuse_as, "createTable", 404, 400, "BadRequestException")),
)  # fmt: skip


# ------------------------------------------------------------------ conflicts


@defect(
    "table-created-over-another",
    on="createTable",
    breaks="createTable.409",
    suffering="CREATE TABLE destroys the table that another job writes to.",
)
def _created_over_another(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A creation replaces the table that has the name."""
    return faithful(without_sent_table(state, call), call)


declare(
    "table-conflict-400",
    "A name that is taken is answered 400.",
    by(refuse_as, "createTable", 409, 400, "BadRequestException"),
    breaks="createTable.409",
    suffering="CREATE TABLE IF NOT EXISTS fails when another job was faster.",
)


@defect(
    "table-conflict-writes",
    on="createTable",
    breaks="createTable.conflict-changes-nothing",
    suffering="A failed CREATE TABLE empties the table that was there.",
)
def _conflict_writes(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A creation is written first and then refused because the table exists."""
    try:
        return faithful(state, call)
    except Problem as refused:
        if refused.status != 409:
            raise
        written = faithful(without_sent_table(state, call), call)
        return Outcome(written.state, replies.problem_reply(refused), written.effects)


@defect(
    "table-refuses-two-delegations",
    breaks="createTable.access-delegation-list",
    suffering="Clients that offer both ways of access to files cannot work at all.",
)
def _refuses_two_delegations(registries: Registries) -> None:
    """The access delegation header is read as one word."""
    for operation_id in ("createTable", "loadTable"):
        wrap(registries, operation_id, _one_delegation)


def _one_delegation(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    asked = call.request.headers.get("x-iceberg-access-delegation", "")
    if asked not in {"", "vended-credentials", "remote-signing"}:
        raise problem.bad_request(f"Unknown access delegation: {asked}")
    return faithful(state, call)
