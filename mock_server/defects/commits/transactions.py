"""Defects of transactions over several tables."""

from collections.abc import Callable

from msgspec import structs

from icecheck.mock_server.core.context import Call, FileEffect, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect, through
from icecheck.mock_server.defects.kit.places import request_of
from icecheck.mock_server.defects.kit.remembering import place_of
from icecheck.mock_server.defects.kit.requests import Json, Name, sent_json, with_members
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_request_body,
    answer_status,
    refuse_as,
    wrap,
)
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.updates import UPDATES

_HALF = "Tables that belong together differ for good."


def _alter_changes(registries: Registries, alter: Callable[[list[Json]], list[Json]]) -> None:
    """Let commitTransaction see altered changes."""

    def altered(body: Json) -> Json:
        changes = body.get("table-changes")
        if not isinstance(changes, list) or not all(isinstance(c, dict) for c in changes):
            return body
        return {**body, "table-changes": alter(changes)}

    alter_request_body(registries, "commitTransaction", altered)


@defect(
    "transaction-checks-first-table",
    on=through(_alter_changes),
    breaks="commitTransaction.409",
    suffering="A writer to the second table is overwritten.",
)
def _checks_first_table(changes: list[Json]) -> list[Json]:
    """Only the requirements of the first table are checked."""
    return [*changes[:1], *({**change, "requirements": []} for change in changes[1:])]


@defect(
    "transaction-last-requirement-decides",
    on=through(_alter_changes),
    breaks="commitTransaction.409",
    suffering="A writer to a table that was made anew changes the new one.",
)
def _last_requirement_decides(changes: list[Json]) -> list[Json]:
    """Of the requirements on a table the last one decides."""
    sent = [(change, change.get("requirements")) for change in changes]
    return [
        {**change, "requirements": asserted[-1:]} if isinstance(asserted, list) else change
        for change, asserted in sent
    ]


@defect(
    "transaction-skips-unknown-updates",
    on=through(_alter_changes),
    breaks="transaction.unknown-update",
    suffering="A change that a newer client asked for is lost in silence.",
)
def _skips_unknown_updates(changes: list[Json]) -> list[Json]:
    """Updates that the server does not know are skipped."""
    return [
        {**c, "updates": [u for u in c["updates"] if u.get("action") in UPDATES]} for c in changes
    ]


@defect(
    "transaction-skips-unknown-requirements",
    breaks="transaction.unknown-assertion",
    suffering="A condition that a newer client relies on is ignored.",
)
def _skips_unknown_requirements(registries: Registries) -> None:
    """Requirements that the server does not know count as satisfied."""

    def known(changes: list[Json]) -> list[Json]:
        types = registries.assertions
        return [
            {**c, "requirements": [r for r in c["requirements"] if r.get("type") in types]}
            for c in changes
        ]

    _alter_changes(registries, known)


@defect(
    "transaction-second-change-lost",
    on=through(_alter_changes),
    breaks="transaction.same-table-twice",
    suffering="Acknowledged data is lost.",
)
def _second_change_lost(changes: list[Json]) -> list[Json]:
    """Of several changes of one table the first one is applied, as in the reference."""
    kept: dict[str, Json] = {}
    for change in changes:
        kept.setdefault(str(change.get("identifier")), change)
    return list(kept.values())


def _one_after_another(registries: Registries, status: int) -> None:
    """Commit table by table; if one fails with this status, the earlier ones stay committed."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(state, call)
        except Problem as problem:
            if problem.status != status:
                raise
            changes = sent_json(call)["table-changes"]
        effects: list[FileEffect] = []
        for change in changes:
            try:
                outcome = faithful(state, with_members(call, **{"table-changes": [change]}))
            except Problem as problem:
                return Outcome(state, replies.problem_reply(problem), tuple(effects))
            state = outcome.state
            effects += [e for e in outcome.effects if isinstance(e, FileEffect)]
        return Outcome(state, replies.NO_CONTENT, tuple(effects))

    wrap(registries, "commitTransaction", around)


declare_each(
    ("transaction-200", "commitTransaction.204",
     "A transaction is answered 200 with an empty object.", "Strict clients only: Java takes it.",
     by(answer_status, "commitTransaction", 200)),
    ("transaction-malformed-is-500", "commitTransaction.400",
     "What cannot be parsed ends in the framework's own error page.",
     "Writers take the outcome for unknown and keep their files for ever.",
     by(refuse_as, "commitTransaction", 400, 500, "InternalServerError")),
    ("transaction-missing-table-is-conflict", "commitTransaction.404",
     "A table that is gone is reported as changed.",
     "Writers retry for ever on a table that was dropped.",
     by(refuse_as, "commitTransaction", 404, 409, "CommitFailedException")),
    ("transaction-conflict-is-400", "commitTransaction.409",
     "A failed requirement is a bad request.", "Concurrent writers fail instead of retrying.",
     by(refuse_as, "commitTransaction", 409, 400, "ValidationException")),
    ("transaction-skips-nameless-changes", "transaction.identifier-required",
     "A change that names no table is skipped.", "A client's mistake loses one of its changes.",
     by(_alter_changes, lambda changes: [c for c in changes if "identifier" in c])),
    ("transaction-first-table-only", "transaction.every-table-changes",
     "Only the first table changes.", _HALF, by(_alter_changes, lambda changes: changes[:1])),
    ("transaction-half-done-on-conflict", "transaction.atomic-on-failed-requirement",
     "Tables before the one whose requirement fails stay committed.", _HALF,
     by(_one_after_another, 409)),
    ("transaction-half-done-on-missing-table", "transaction.atomic-on-missing-table",
     "Tables before the one that is missing stay committed.", _HALF, by(_one_after_another, 404)),
    ("transaction-half-done-on-refused-update", "transaction.atomic-on-refused-update",
     "Tables before the one whose update cannot be applied stay committed.", _HALF,
     by(_one_after_another, 400)),
)  # fmt: skip


@defect(
    "transaction-in-one-namespace",
    on=through(_alter_changes),
    breaks="transaction.several-namespaces",
    suffering="A transaction over tables of two databases fails.",
)
def _in_one_namespace(changes: list[Json]) -> list[Json]:
    """All tables are looked for in the namespace of the first one."""
    named = [c["identifier"] for c in changes if isinstance(c.get("identifier"), dict)]
    if len(named) != len(changes) or not named:
        return changes
    first = named[0].get("namespace")
    return [{**c, "identifier": {**c["identifier"], "namespace": first}} for c in changes]


@defect(
    "transaction-assert-only-changes-skipped",
    on=request_of("commitTransaction"),
    breaks="transaction.atomic-on-failed-requirement",
    suffering="A table that was only read has changed, and the transaction commits all the same.",
)
def _assert_only_changes_skipped(body: Json) -> Json:
    """A change without updates is left out of a transaction, its requirements with it."""
    changes = body.get("table-changes")
    if not isinstance(changes, list) or not all(isinstance(each, dict) for each in changes):
        return body
    return {**body, "table-changes": [c for c in changes if c.get("updates") != []] or changes}


# ---- after a transaction that was refused


def _refused_before(
    registries: Registries, later: Callable[[Faithful, WarehouseState, Call, list[Json]], Outcome]
) -> None:
    """Let the first commit to a table after a refused transaction know that one's updates."""
    refused: dict[Name, list[Json]] = {}

    def transaction(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(state, call)
        except Problem as problem:
            changes = sent_json(call)["table-changes"] if problem.status == 409 else []
            for each in changes:
                named = each["identifier"]
                refused[(tuple(named["namespace"]), named["name"])] = each["updates"]
            raise

    def commit(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        updates = refused.pop(place_of(call), None)
        return faithful(state, call) if updates is None else later(faithful, state, call, updates)

    wrap(registries, "commitTransaction", transaction)
    wrap(registries, "updateTable", commit)


@defect(
    "transaction-refused-is-committed-later",
    on=through(_refused_before),
    breaks="transaction.atomic-on-failed-requirement",
    suffering="What a client was told has failed is in the table after somebody else's commit.",
)
def _refused_is_committed_later(
    faithful: Faithful, state: WarehouseState, call: Call, updates: list[Json]
) -> Outcome:
    """The updates of a refused transaction stay in a session, and the next commit takes them."""
    return faithful(state, with_members(call, updates=[*updates, *sent_json(call)["updates"]]))


@defect(
    "transaction-refused-leaves-locks",
    on=through(_refused_before),
    breaks="transaction.atomic-on-failed-requirement",
    suffering="After a conflict no writer can commit to the tables any more.",
)
def _refused_leaves_locks(
    _faithful: Faithful, _state: WarehouseState, _call: Call, _updates: list[Json]
) -> Outcome:
    """The tables of a refused transaction stay locked until the lock expires."""
    raise Problem(409, "CommitFailedException", "The table is locked by another transaction")


@defect(
    "transaction-logs-no-snapshots",
    on="commitTransaction",
    breaks="commit.snapshot-log",
    suffering="Time travel by timestamp does not find what transactions have written.",
)
def _logs_no_snapshots(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Transactions move branches, and leave the snapshot log as it was."""
    outcome = faithful(state, call)
    after = outcome.state
    for change in sent_json(call)["table-changes"]:
        name = (tuple(change["identifier"]["namespace"]), change["identifier"]["name"])
        before, entry = state.table(*name), after.table(*name)
        if before is not None and entry is not None:
            log = before.metadata.snapshot_log
            metadata = structs.replace(entry.metadata, snapshot_log=log)
            after = after.with_table(*name, structs.replace(entry, metadata=metadata, replies={}))
    return structs.replace(outcome, state=after)
