"""Defects of dropTable: it removes too little or too much, or succeeds twice."""

import re
from collections.abc import Callable

import msgspec
from msgspec import structs

from icecheck.mock_server.commits import publication
from icecheck.mock_server.core.context import Call, Outcome, Registries, RemoveFile
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.changing import change_and_refuse, refuse_where
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.places import call_of
from icecheck.mock_server.defects.kit.remembering import (
    by_body,
    by_path,
    keep_listed,
    refuse_later,
    remembering,
    revive,
)
from icecheck.mock_server.defects.kit.requests import Name
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    answer_status,
    forget_effect,
    refuse_as,
    wrap,
)
from icecheck.mock_server.protocol import problem, replies

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
    on=remembering(set, wrap, "dropTable"),
    breaks="dropTable.404",
    suffering="Two jobs both believe that it was they who dropped the table.",
)
def _again_204(
    dropped: set[Name], faithful: Faithful, state: WarehouseState, call: Call
) -> Outcome:
    """What was dropped can be dropped again."""
    name = (call.namespace, call.name)
    if state.table(*name) is None and name in dropped:
        return Outcome(state, replies.NO_CONTENT)
    dropped.add(name)
    return faithful(state, call)


# ------------------------------------------------------------------ purge


def _without_purge(call: Call) -> Call:
    query = {k: v for k, v in call.query.items() if k != "purgeRequested"}
    return msgspec.structs.replace(call, query=query)


def _ignore_drop(registries: Registries, *purge: str) -> None:
    """Answer a drop with these values of purgeRequested, and carry none of them out."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if call.query.get("purgeRequested") in purge:
            return Outcome(state, replies.NO_CONTENT)
        return faithful(state, call)

    wrap(registries, "dropTable", around)


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


declare_each(
    ("drop-small-letters-only", "dropTable.capital-boolean",
     "A boolean parameter is true or false in small letters, and nothing else.",
     "PyIceberg cannot drop a table.",
     by(refuse_where, "dropTable",
        lambda _, call: call.query.get("purgeRequested", "false") not in {"true", "false"})),
    ("drop-purge-refused", "dropTable.purge-accepted",
     "A drop with purge is refused: files are removed by an administrator only.",
     "DROP TABLE PURGE fails, and the table stays.",
     by(refuse_where, "dropTable",
        lambda _, call: call.query.get("purgeRequested", "").lower() == "true")),
    ("drop-then-validate", "dropTable.400",
     "A drop is carried out first and its parameters are looked at afterwards.",
     "A request that was refused has dropped the table.",
     by(change_and_refuse, "dropTable", 400,
        lambda faithful, state, call: faithful(state, _without_purge(call)).state)),
)  # fmt: skip


@defect(
    "drop-purge-queued",
    on="dropTable",
    breaks="dropTable.purge-drops",
    suffering="DROP TABLE PURGE succeeds, and the table can still be read.",
)
def _purge_queued(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A drop with purge is queued, and the table stays until the queue gets there."""
    outcome = faithful(state, call)
    return Outcome(state, outcome.reply) if "purgeRequested" in call.query else outcome


@defect(
    "drop-purge-refused-and-done",
    on="dropTable",
    breaks="dropTable.purge-drops",
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
    ("drop-still-listed", "dropTable.gone",
     "The listing comes from an index that nobody removes anything from.",
     "SHOW TABLES lists tables that cannot be read.", by(keep_listed, "dropTable", "listTables")),
    ("drop-keeps-the-name", "dropTable.gone",
     "A dropped table is only marked as deleted, and its name stays taken.",
     "DROP and CREATE of the same table fails until somebody cleans up.",
     by(refuse_later, ("dropTable", by_path), ("createTable", by_body))),
    ("drop-revived-by-create", "dropTable.gone",
     "Creating under the name of a dropped table undeletes it.",
     "A new table of an old name has the old table's rows.", by(revive, "table")),
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
    ("drop-capital-boolean-ignored", "dropTable.gone",
     "A drop whose purgeRequested cannot be read is put aside, and answered 204.",
     "PyIceberg drops a table, and it is still there.", by(_ignore_drop, "True", "False")),
    ("drop-false-drops-not", "dropTable.gone",
     "A drop that says that nothing shall be purged drops nothing.",
     "Spark's DROP TABLE does nothing: it sends purgeRequested=false.", by(_ignore_drop, "false")),
)  # fmt: skip


@defect(
    "drop-purges-when-told-not-to",
    on=call_of("dropTable"),
    breaks="dropTable.keeps-files-without-purge",
    suffering="A table that is only unregistered loses its data.",
)
def _purges_when_told_not_to(call: Call) -> Call:
    """The text "false" of purgeRequested is a true value."""
    if call.query.get("purgeRequested") != "false":
        return call
    return structs.replace(call, query={**call.query, "purgeRequested": "true"})
