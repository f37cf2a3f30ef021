"""Defects of createTable: its answers, its effects and its refusals."""

from icecheck.mock_server.core.context import Call, Registries
from icecheck.mock_server.defects.kit.changing import (
    change_and_refuse,
    make_namespace,
    refuse_where,
    see_otherwise,
    write_and_refuse,
)
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.places import request_of
from icecheck.mock_server.defects.kit.remembering import note_after
from icecheck.mock_server.defects.kit.requests import (
    Json,
    sent_json,
    sent_name,
    unlisted,
)
from icecheck.mock_server.defects.kit.rewriting import (
    alter_answer,
    alter_body,
    answer_status,
    as_another,
    forget_effect,
    refuse_as,
)
from icecheck.mock_server.defects.kit.storing import without_sent_table

# ------------------------------------------------------------------ answers and effects


@defect(
    "table-listed-later",
    breaks="createTable.immediate",
    suffering="SHOW TABLES leaves out the table that was just made.",
)
def _listed_later(registries: Registries) -> None:
    """The listing comes from an index that is only refreshed when somebody has listed."""
    fresh: set[str] = set()

    def indexed(_call: Call, body: Json) -> Json:
        shown = [i for i in body["identifiers"] if i["name"] not in fresh]
        fresh.clear()
        return body | {"identifiers": shown}

    note_after(registries, "createTable", lambda call: fresh.add(sent_name(call)))
    alter_answer(registries, "listTables", indexed)


@defect(
    "table-second-column-of-a-name-left-out",
    on=request_of("createTable"),
    breaks="createTable.kept-or-refused",
    suffering="A writer fills a column that the table does not have.",
)
def _columns_by_name(body: Json) -> Json:
    """Columns are kept by their name: of two with one name, the last."""
    schema = body.get("schema")
    if not isinstance(schema, dict) or not isinstance(schema.get("fields"), list):
        return body
    by_name = {each.get("name"): each for each in schema["fields"]}
    return body | {"schema": schema | {"fields": [*by_name.values()]}}


declare_each(
    ("table-created-201", "createTable.200", "A created table is answered 201.",
     "The Java client takes 201 for an error, and the table is there all the same.",
     by(answer_status, "createTable", 201)),
    ("table-not-created", "createTable.immediate",
     "A creation is answered before it is written, and the write is lost.",
     "CREATE TABLE succeeds, and the next statement finds no table.",
     by(forget_effect, "createTable")),
    ("table-answer-is-a-draft", "createTable.answer-is-the-table",
     "The answer to a creation is built apart from what is stored, with a uuid of its own.",
     "The first commit of the creating client fails: the uuid does not match.",
     by(alter_body, "createTable", as_another("table-uuid"))),
    ("table-answer-names-no-file", "createTable.answer-is-the-table",
     "The metadata location in the answer to a creation is guessed before the file is written.",
     "A client takes the table it has just made for changed by somebody else.",
     by(alter_body, "createTable",
        lambda body: body | {"metadata-location": f"{body.get('metadata-location')}.tmp"})),
)  # fmt: skip


# ------------------------------------------------------------------ requests


declare_each(
    ("table-needs-every-member", "createTable.minimal-body",
     "A creation without a partition spec is refused.",
     "Clients that leave out what they do not use cannot create tables.",
     by(refuse_where, "createTable", lambda _, call: "partition-spec" not in sent_json(call))),
    ("table-refuses-nulls", "createTable.explicit-nulls",
     "A body is validated by its schema to the letter, which knows no nulls.",
     "Spark cannot create a table: it sends null for what it does not use.",
     by(refuse_where, "createTable", lambda _, call: None in sent_json(call).values())),
    ("table-malformed-written", "createTable.400",
     "A list with one object in it is read as that object, and refused once it is written.",
     "A refused CREATE TABLE leaves a table behind.",
     by(change_and_refuse, "createTable", 400,
        lambda faithful, state, call: faithful(state, unlisted(call)).state)),
    ("table-makes-its-namespace", "createTable.404",
     "A namespace that is missing is made along with the table.",
     "A misspelled database name makes a new database.", by(make_namespace, "createTable")),
    ("table-malformed-500", "createTable.400", "The parser's error is caught by nobody.",
     "A client's mistake is reported as a failure of the server, and retried.",
     by(refuse_as, "createTable", 400, 500, "InternalServerError")),
    ("table-missing-namespace-400", "createTable.404",
     "A missing namespace is a foreign key that fails, and that is answered 400.",
     "Clients cannot tell a missing namespace from a malformed request.",
     by(refuse_as, "createTable", 404, 400, "BadRequestException")),
)  # fmt: skip


# ------------------------------------------------------------------ conflicts


declare_each(
    ("table-created-over-another", "createTable.409",
     "A creation replaces the table that has the name.",
     "CREATE TABLE destroys the table that another job writes to.",
     by(see_otherwise, "createTable", without_sent_table)),
    ("table-conflict-400", "createTable.409", "A name that is taken is answered 400.",
     "CREATE TABLE IF NOT EXISTS fails when another job was faster.",
     by(refuse_as, "createTable", 409, 400, "BadRequestException")),
    ("table-conflict-writes", "createTable.conflict-changes-nothing",
     "A creation is written first and then refused because the table exists.",
     "A failed CREATE TABLE empties the table that was there.",
     by(write_and_refuse, "createTable", without_sent_table)),
    ("table-refuses-two-delegations", "createTable.access-delegation-list",
     "The access delegation header is read as one word.",
     "Clients that offer both ways of access to files cannot work at all.",
     by(refuse_where, ("createTable", "loadTable"),
        lambda _, call: "," in call.request.headers.get("x-iceberg-access-delegation", ""))),
)  # fmt: skip
