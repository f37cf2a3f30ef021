"""Ways in which servers get transactions over several tables wrong."""

from collections.abc import Callable
from typing import Any

from icecheck.mock_server import replies
from icecheck.mock_server.context import Call, Context, FileEffect, Operation, Outcome, Registries
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import (
    alter_request_body,
    answer_status,
    refuse_as,
    wrap,
)
from icecheck.mock_server.defects.versions import body_of, with_body
from icecheck.mock_server.problem import Problem
from icecheck.mock_server.state import WarehouseState
from icecheck.mock_server.updates import UPDATES

Json = dict[str, Any]

_HALF = "Tables that belong together differ for good."


def _alter_changes(registries: Registries, alter: Callable[[list[Json]], list[Json]]) -> None:
    """Let commitTransaction see other changes than were sent."""

    def altered(body: Json) -> Json:
        changes = body.get("table-changes")
        if not isinstance(changes, list) or not all(isinstance(c, dict) for c in changes):
            return body
        return {**body, "table-changes": alter(changes)}

    alter_request_body(registries, "commitTransaction", altered)


@defect(
    "transaction-200",
    breaks="commitTransaction.204",
    suffering="Strict clients only: Java takes it.",
)
def _transaction_200(registries: Registries) -> None:
    """A transaction is answered 200 with an empty object."""
    answer_status(registries, "commitTransaction", 200)


@defect(
    "transaction-malformed-is-500",
    breaks="commitTransaction.400",
    suffering="Writers take the outcome for unknown and keep their files for ever.",
)
def _malformed_is_500(registries: Registries) -> None:
    """What cannot be parsed ends in the framework's own error page."""
    refuse_as(registries, "commitTransaction", 400, 500, "InternalServerError")


@defect(
    "transaction-missing-table-is-conflict",
    breaks="commitTransaction.404",
    suffering="Writers retry for ever on a table that was dropped.",
)
def _missing_table_is_conflict(registries: Registries) -> None:
    """A table that is gone is reported as changed."""
    refuse_as(registries, "commitTransaction", 404, 409, "CommitFailedException")


@defect(
    "transaction-conflict-is-400",
    breaks="commitTransaction.409",
    suffering="Concurrent writers fail instead of retrying.",
)
def _conflict_is_400(registries: Registries) -> None:
    """A failed requirement is a bad request."""
    refuse_as(registries, "commitTransaction", 409, 400, "ValidationException")


@defect(
    "transaction-checks-first-table",
    breaks="commitTransaction.409",
    suffering="A writer to the second table is overwritten.",
)
def _checks_first_table(registries: Registries) -> None:
    """Only the requirements of the first table are checked."""

    def first_only(changes: list[Json]) -> list[Json]:
        return [*changes[:1], *({**change, "requirements": []} for change in changes[1:])]

    _alter_changes(registries, first_only)


@defect(
    "transaction-last-requirement-decides",
    breaks="commitTransaction.409",
    suffering="A writer to a table that was made anew changes the new one.",
)
def _last_requirement_decides(registries: Registries) -> None:
    """Of the requirements on a table the last one decides."""

    def last_only(changes: list[Json]) -> list[Json]:
        sent = [(change, change.get("requirements")) for change in changes]
        return [
            {**change, "requirements": asserted[-1:]} if isinstance(asserted, list) else change
            for change, asserted in sent
        ]

    _alter_changes(registries, last_only)


@defect(
    "transaction-skips-unknown-updates",
    breaks="transaction.unknown-update",
    suffering="A change that a newer client asked for is lost in silence.",
)
def _skips_unknown_updates(registries: Registries) -> None:
    """Updates that the server does not know are skipped."""

    def known(changes: list[Json]) -> list[Json]:
        return [
            {**c, "updates": [u for u in c["updates"] if u.get("action") in UPDATES]}
            for c in changes
        ]

    _alter_changes(registries, known)


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
    "transaction-skips-nameless-changes",
    breaks="transaction.identifier-required",
    suffering="A client's mistake loses one of its changes.",
)
def _skips_nameless_changes(registries: Registries) -> None:
    """A change that names no table is skipped."""
    _alter_changes(registries, lambda changes: [c for c in changes if "identifier" in c])


@defect("transaction-first-table-only", breaks="transaction.every-table-changes", suffering=_HALF)
def _first_table_only(registries: Registries) -> None:
    """Only the first table changes."""
    _alter_changes(registries, lambda changes: changes[:1])


@defect(
    "transaction-second-change-lost",
    breaks="transaction.same-table-twice",
    suffering="Acknowledged data is lost.",
)
def _second_change_lost(registries: Registries) -> None:
    """Of several changes of one table the first one is applied, as in the reference."""

    def first_of_each(changes: list[Json]) -> list[Json]:
        kept: dict[str, Json] = {}
        for change in changes:
            kept.setdefault(str(change.get("identifier")), change)
        return list(kept.values())

    _alter_changes(registries, first_of_each)


def _one_after_another(registries: Registries, status: int) -> None:
    """Commit table by table; where one fails with the status, those before it stay."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(context, state, call)
        except Problem as problem:
            if problem.status != status:
                raise
            changes = body_of(call)["table-changes"]
        effects: list[FileEffect] = []
        for change in changes:
            try:
                outcome = faithful(context, state, with_body(call, **{"table-changes": [change]}))
            except Problem as problem:
                return Outcome(state, replies.problem_reply(problem), tuple(effects))
            state = outcome.state
            effects += [e for e in outcome.effects if isinstance(e, FileEffect)]
        return Outcome(state, replies.NO_CONTENT, tuple(effects))

    wrap(registries, "commitTransaction", around)


@defect(
    "transaction-half-done-on-conflict",
    breaks="transaction.atomic-on-failed-requirement",
    suffering=_HALF,
)
def _half_done_on_conflict(registries: Registries) -> None:
    """Tables before the one whose requirement fails stay committed."""
    _one_after_another(registries, 409)


@defect(
    "transaction-half-done-on-missing-table",
    breaks="transaction.atomic-on-missing-table",
    suffering=_HALF,
)
def _half_done_on_missing_table(registries: Registries) -> None:
    """Tables before the one that is missing stay committed."""
    _one_after_another(registries, 404)


@defect(
    "transaction-half-done-on-refused-update",
    breaks="transaction.atomic-on-refused-update",
    suffering=_HALF,
)
def _half_done_on_refused_update(registries: Registries) -> None:
    """Tables before the one whose update cannot be applied stay committed."""
    _one_after_another(registries, 400)


@defect(
    "transaction-in-one-namespace",
    breaks="transaction.several-namespaces",
    suffering="A transaction over tables of two databases fails.",
)
def _in_one_namespace(registries: Registries) -> None:
    """All tables are looked for in the namespace of the first one."""

    def moved(changes: list[Json]) -> list[Json]:
        named = [c["identifier"] for c in changes if isinstance(c.get("identifier"), dict)]
        if len(named) != len(changes) or not named:
            return changes
        first = named[0].get("namespace")
        return [{**c, "identifier": {**c["identifier"], "namespace": first}} for c in changes]

    _alter_changes(registries, moved)
