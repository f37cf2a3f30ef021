"""Defects of dropTable: it removes too little or too much, or succeeds twice."""

import re
from collections.abc import Callable

import msgspec

from icecheck.mock_server.commits import publication
from icecheck.mock_server.core.context import Call, Outcome, Registries, RemoveFile
from icecheck.mock_server.core.state import TableEntry, WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.places import call_of
from icecheck.mock_server.defects.kit.requests import Json, Name, sent_name
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_answer,
    answer_status,
    forget_effect,
    refuse_as,
    wrap,
)
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.protocol.problem import Problem

declare_each(
    ("drop-200", "dropTable.204", "A drop is answered 200.",
     "Strict clients take the drop for failed.", by(answer_status, "dropTable", 200)),
    ("drop-missing-204", "dropTable.404", "Dropping what does not exist succeeds.",
     "DROP TABLE hides a misspelled name.", by(refuse_as, "dropTable", 404, 204)),
    ("drop-missing-500", "dropTable.404", "Dropping what does not exist fails inside the server.",
     "DROP TABLE IF EXISTS fails.", by(refuse_as, "dropTable", 404, 500, "InternalServerError")),
)  # fmt: skip


@defect(
    "drop-again-204",
    breaks="dropTable.404",
    suffering="Two jobs both believe that it was they who dropped the table.",
)
def _again_204(registries: Registries) -> None:
    """What was dropped can be dropped again."""
    dropped: set[Name] = set()

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        name = (call.namespace, call.name)
        if state.table(*name) is None and name in dropped:
            return Outcome(state, replies.NO_CONTENT)
        dropped.add(name)
        return faithful(state, call)

    wrap(registries, "dropTable", around)


# ------------------------------------------------------------------ purge


def _without_purge(call: Call) -> Call:
    query = {k: v for k, v in call.query.items() if k != "purgeRequested"}
    return msgspec.structs.replace(call, query=query)


@defect(
    "drop-any-purge-parameter",
    on=call_of("dropTable"),
    breaks="dropTable.400",
    suffering="A misspelled purge drops the table and keeps its files for ever.",
)
def _any_purge_parameter(call: Call) -> Call:
    """A purgeRequested that is not true counts as false."""
    true = call.query.get("purgeRequested", "").lower() == "true"
    return call if true else _without_purge(call)


@defect(
    "drop-small-letters-only",
    on=call_of("dropTable"),
    breaks="dropTable.capital-boolean",
    suffering="PyIceberg cannot drop a table.",
)
def _small_letters_only(call: Call) -> Call:
    """A boolean parameter is true or false in small letters, and nothing else."""
    if call.query.get("purgeRequested", "false") not in {"true", "false"}:
        raise problem.bad_request("purgeRequested must be true or false")
    return call


@defect(
    "drop-then-validate",
    on="dropTable",
    breaks="dropTable.400",
    suffering="A request that was refused has dropped the table.",
)
def _then_validate(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A drop is carried out first and its parameters are looked at afterwards."""
    try:
        return faithful(state, call)
    except Problem as refused:
        if refused.status != 400:
            raise
        outcome = faithful(state, _without_purge(call))
        return Outcome(outcome.state, replies.problem_reply(refused))


@defect(
    "drop-purge-queued",
    on="dropTable",
    breaks="dropTable.purge-accepted",
    suffering="DROP TABLE PURGE succeeds, and the table can still be read.",
)
def _purge_queued(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A drop with purge is queued, and the table stays until the queue gets there."""
    outcome = faithful(state, call)
    return Outcome(state, outcome.reply) if "purgeRequested" in call.query else outcome


@defect(
    "drop-purge-refused-and-done",
    on="dropTable",
    breaks="dropTable.purge-accepted",
    suffering="DROP TABLE PURGE fails, and the table is gone.",
)
def _purge_refused_and_done(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A drop with purge drops the table and then finds that it may not remove the files."""
    outcome = faithful(state, call)
    if "purgeRequested" not in call.query:
        return outcome
    refused = problem.bad_request("Not allowed to remove files")
    return Outcome(outcome.state, replies.problem_reply(refused))


@defect(
    "drop-always-purges",
    on="dropTable",
    breaks="dropTable.keeps-files-without-purge",
    suffering="Moving a table to another catalog destroys it.",
)
def _always_purges(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Every drop removes the table's files."""
    entry = state.table(call.namespace, call.name)
    outcome = faithful(state, call)
    if entry is None:
        return outcome
    files = publication.known_files(entry)
    return Outcome(outcome.state, outcome.reply, tuple(RemoveFile(f) for f in files))


# ------------------------------------------------------------------ dropped tables


@defect(
    "drop-still-listed",
    breaks="dropTable.gone",
    suffering="SHOW TABLES lists tables that cannot be read.",
)
def _still_listed(registries: Registries) -> None:
    """The listing comes from an index that nobody removes anything from."""
    dropped: list[Name] = []

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        dropped.append((call.namespace, call.name))
        return outcome

    def listed(call: Call, body: Json) -> Json:
        more = [{"namespace": [*ns], "name": n} for ns, n in dropped if ns == call.namespace]
        return body | {"identifiers": [*body["identifiers"], *more]}

    wrap(registries, "dropTable", around)
    alter_answer(registries, "listTables", listed)


@defect(
    "drop-keeps-the-name",
    breaks="dropTable.gone",
    suffering="DROP and CREATE of the same table fails until somebody cleans up.",
)
def _keeps_the_name(registries: Registries) -> None:
    """A dropped table is only marked as deleted, and its name stays taken."""
    dropped: set[Name] = set()

    def dropping(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        dropped.add((call.namespace, call.name))
        return outcome

    def creating(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if (call.namespace, sent_name(call)) in dropped:
            raise problem.already_exists(f"Table already exists: {sent_name(call)}")
        return faithful(state, call)

    wrap(registries, "dropTable", dropping)
    wrap(registries, "createTable", creating)


@defect(
    "drop-revived-by-create",
    breaks="dropTable.gone",
    suffering="A new table of an old name has the old table's rows.",
)
def _revived_by_create(registries: Registries) -> None:
    """Creating under the name of a dropped table undeletes it."""
    dropped: dict[Name, TableEntry] = {}

    def dropping(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        entry = state.table(call.namespace, call.name)
        if entry is not None:
            dropped[call.namespace, call.name] = entry
        return faithful(state, call)

    def creating(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        old = dropped.pop((call.namespace, sent_name(call)), None)
        if old is None:
            return outcome
        kept = state.with_table(call.namespace, sent_name(call), old)
        return Outcome(kept, publication.load_reply(old))

    wrap(registries, "dropTable", dropping)
    wrap(registries, "createTable", creating)


def _drop_matching(registries: Registries, pattern_of: Callable[[str], str]) -> None:
    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        kept = outcome.state
        entry = kept.namespace(call.namespace)
        names = [] if entry is None else [name for name, _ in entry.tables.after()]
        for name in names:
            if re.fullmatch(pattern_of(call.name), name):
                kept = kept.without_table(call.namespace, name)
        return msgspec.structs.replace(outcome, state=kept)

    wrap(registries, "dropTable", around)


declare_each(
    ("drop-forgotten", "dropTable.gone",
     "A drop is answered before it is carried out, and then fails in the background.",
     "DROP TABLE succeeds, and the table is still there.", by(forget_effect, "dropTable")),
    ("drop-by-prefix", "dropTable.only-that-table",
     "A drop removes every key that begins with the table's.",
     "Dropping orders also drops orders_archive.",
     by(_drop_matching, lambda name: f"{re.escape(name)}.*")),
    ("drop-by-pattern", "dropTable.only-that-table",
     "A drop compares names by SQL LIKE, where an underscore is any character.",
     "Dropping a_b also drops axb.",
     by(_drop_matching, lambda name: re.escape(name).replace("_", "."))),
)  # fmt: skip
