"""Ways in which servers answer and refuse creations of tables wrongly."""

import msgspec

from icecheck.mock_server import problem, replies
from icecheck.mock_server.context import Call, Context, Operation, Outcome, Registries
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import (
    alter_answer,
    alter_body,
    answer_status,
    forget_effect,
    refuse_as,
    sent_json,
    wrap,
)
from icecheck.mock_server.defects.storing import Body, sent_name, without_sent_table
from icecheck.mock_server.problem import Problem
from icecheck.mock_server.state import WarehouseState

ANOTHER_UUID = "00000000-0000-4000-8000-000000000000"


# ------------------------------------------------------------------ answers and effects


@defect(
    "table-created-201",
    breaks="createTable.200",
    suffering="The Java client takes 201 for an error, and the table is there all the same.",
)
def _created_201(registries: Registries) -> None:
    """A created table is answered 201."""
    answer_status(registries, "createTable", 201)


@defect(
    "table-not-created",
    breaks="createTable.immediate",
    suffering="CREATE TABLE succeeds, and the next statement finds no table.",
)
def _not_created(registries: Registries) -> None:
    """A creation is answered before it is written, and the write is lost."""
    forget_effect(registries, "createTable")


@defect(
    "table-listed-later",
    breaks="createTable.immediate",
    suffering="SHOW TABLES leaves out the table that was just made.",
)
def _listed_later(registries: Registries) -> None:
    """The listing comes from an index that is only refreshed when somebody has listed."""
    fresh: set[str] = set()

    def creating(
        faithful: Operation, context: Context, state: WarehouseState, call: Call
    ) -> Outcome:
        outcome = faithful(context, state, call)
        fresh.add(sent_name(call))
        return outcome

    def indexed(_call: Call, body: Body) -> Body:
        shown = [i for i in body["identifiers"] if i["name"] not in fresh]
        fresh.clear()
        return body | {"identifiers": shown}

    wrap(registries, "createTable", creating)
    alter_answer(registries, "listTables", indexed)


@defect(
    "table-answer-is-a-draft",
    breaks="createTable.answer-is-the-table",
    suffering="The first commit of the creating client fails: the uuid does not match.",
)
def _answer_is_a_draft(registries: Registries) -> None:
    """The answer to a creation is built apart from what is stored, with a uuid of its own."""
    alter_body(
        registries,
        "createTable",
        lambda body: body | {"metadata": body["metadata"] | {"table-uuid": ANOTHER_UUID}},
    )


@defect(
    "table-answer-names-no-file",
    breaks="createTable.answer-is-the-table",
    suffering="A client takes the table it has just made for changed by somebody else.",
)
def _answer_names_no_file(registries: Registries) -> None:
    """The metadata location in the answer to a creation is guessed before the file is written."""
    alter_body(
        registries,
        "createTable",
        lambda body: body | {"metadata-location": f"{body.get('metadata-location')}.tmp"},
    )


# ------------------------------------------------------------------ requests


@defect(
    "table-needs-every-member",
    breaks="createTable.minimal-body",
    suffering="Clients that leave out what they do not use cannot create tables.",
)
def _needs_every_member(registries: Registries) -> None:
    """A creation without a partition spec is refused."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        body = sent_json(call)
        if body and "partition-spec" not in body:
            raise problem.bad_request("partition-spec must be given")
        return faithful(context, state, call)

    wrap(registries, "createTable", around)


@defect(
    "table-refuses-nulls",
    breaks="createTable.explicit-nulls",
    suffering="Spark cannot create a table: it sends null for what it does not use.",
)
def _refuses_nulls(registries: Registries) -> None:
    """A body is validated by its schema to the letter, which knows no nulls."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        if None in sent_json(call).values():
            raise problem.bad_request("None is not of type 'object'")
        return faithful(context, state, call)

    wrap(registries, "createTable", around)


@defect(
    "table-malformed-500",
    breaks="createTable.400",
    suffering="A client's mistake is reported as a failure of the server, and retried.",
)
def _malformed_500(registries: Registries) -> None:
    """The parser's error is caught by nobody."""
    refuse_as(registries, "createTable", 400, 500, "InternalServerError")


@defect(
    "table-malformed-written",
    breaks="createTable.400",
    suffering="A refused CREATE TABLE leaves a table behind.",
)
def _malformed_written(registries: Registries) -> None:
    """A list with one object in it is read as that object, and refused once it is written."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(context, state, call)
        except Problem as refused:
            if not call.request.body.startswith(b"["):
                raise
            request = msgspec.structs.replace(call.request, body=call.request.body[1:-1])
            outcome = faithful(context, state, msgspec.structs.replace(call, request=request))
            return Outcome(outcome.state, replies.problem_reply(refused), outcome.effects)

    wrap(registries, "createTable", around)


@defect(
    "table-makes-its-namespace",
    breaks="createTable.404",
    suffering="A misspelled database name makes a new database.",
)
def _makes_its_namespace(registries: Registries) -> None:
    """A namespace that is missing is made along with the table."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        if state.namespace(call.namespace) is None:
            state = state.with_namespace(call.namespace, {})
        return faithful(context, state, call)

    wrap(registries, "createTable", around)


@defect(
    "table-missing-namespace-400",
    breaks="createTable.404",
    suffering="Clients cannot tell a missing namespace from a malformed request.",
)
def _missing_namespace_400(registries: Registries) -> None:
    """A missing namespace is a foreign key that fails, and that is answered 400."""
    refuse_as(registries, "createTable", 404, 400, "BadRequestException")


# ------------------------------------------------------------------ conflicts


@defect(
    "table-created-over-another",
    breaks="createTable.409",
    suffering="CREATE TABLE destroys the table that another job writes to.",
)
def _created_over_another(registries: Registries) -> None:
    """A creation replaces the table that has the name."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        return faithful(context, without_sent_table(state, call), call)

    wrap(registries, "createTable", around)


@defect(
    "table-conflict-400",
    breaks="createTable.409",
    suffering="CREATE TABLE IF NOT EXISTS fails when another job was faster.",
)
def _conflict_400(registries: Registries) -> None:
    """A name that is taken is answered 400."""
    refuse_as(registries, "createTable", 409, 400, "BadRequestException")


@defect(
    "table-conflict-writes",
    breaks="createTable.conflict-changes-nothing",
    suffering="A failed CREATE TABLE empties the table that was there.",
)
def _conflict_writes(registries: Registries) -> None:
    """A creation is written first and then refused because the table exists."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(context, state, call)
        except Problem as refused:
            if refused.status != 409:
                raise
            written = faithful(context, without_sent_table(state, call), call)
            return Outcome(written.state, replies.problem_reply(refused), written.effects)

    wrap(registries, "createTable", around)


@defect(
    "table-refuses-two-delegations",
    breaks="createTable.access-delegation-list",
    suffering="Clients that offer both ways of access to files cannot work at all.",
)
def _refuses_two_delegations(registries: Registries) -> None:
    """The access delegation header is read as one word."""
    for operation_id in ("createTable", "loadTable"):
        wrap(registries, operation_id, _one_delegation)


def _one_delegation(
    faithful: Operation, context: Context, state: WarehouseState, call: Call
) -> Outcome:
    asked = call.request.headers.get("x-iceberg-access-delegation", "")
    if asked not in {"", "vended-credentials", "remote-signing"}:
        raise problem.bad_request(f"Unknown access delegation: {asked}")
    return faithful(context, state, call)
