"""Defects of commits that do not depend on the updates."""

from collections.abc import Callable
from typing import Any

from msgspec import structs

from icecheck.mock_server.commits import publication
from icecheck.mock_server.commits.assertions import ASSERTIONS
from icecheck.mock_server.commits.commit import decode_commit
from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.changing import make_namespace
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.json_values import numbers
from icecheck.mock_server.defects.kit.places import request_of
from icecheck.mock_server.defects.kit.requests import Json, sent_json, with_members
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_body,
    alter_request_body,
    answer_status,
    refuse_as,
)
from icecheck.mock_server.defects.kit.updating import alter_sent_list, alter_version, keep_known
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.updates import UPDATES

_VIEW_ACTIONS = ("add-view-version", "set-current-view-version")
_LARGEST = 2**63 - 1


# ---- statuses


declare_each(
    ("commit-created", "updateTable.200",
     "A commit is answered 201, as if it had created something.", "Java takes 201 for an error.",
     by(answer_status, "updateTable", 201)),
    ("commit-malformed-is-500", "updateTable.400",
     "What cannot be parsed ends in the framework's own error page.",
     "Writers take the outcome for unknown and keep their files for ever.",
     by(refuse_as, "updateTable", 400, 500, "InternalServerError")),
    ("commit-missing-table-is-conflict", "updateTable.404",
     "A table that is gone is reported as changed.",
     "Writers retry for ever on a table that was dropped.",
     by(refuse_as, "updateTable", 404, 409, "CommitFailedException")),
    ("commit-conflict-is-400", "updateTable.409", "A failed requirement is a bad request.",
     "Concurrent writers fail instead of retrying.",
     by(refuse_as, "updateTable", 409, 400, "ValidationException")),
)  # fmt: skip


# ---- unknown and malformed parts


declare_each(
    ("commit-skips-unknown-updates", "commit.unknown-update",
     "Updates that the server does not know are skipped.",
     "A change that a newer client asked for is lost in silence.",
     by(keep_known, "updates", "action", UPDATES)),
    ("commit-skips-unknown-requirements", "commit.unknown-assertion",
     "Requirements that the server does not know count as satisfied.",
     "A condition that a newer client relies on is ignored.",
     by(keep_known, "requirements", "type", ASSERTIONS)),
    ("commit-skips-view-updates", "commit.view-update-refused",
     "Updates that only views have are skipped on a table.", "A client's mistake goes unnoticed.",
     by(
         alter_sent_list,
         "updateTable",
         lambda sent: [
             u for u in sent if not (isinstance(u, dict) and u.get("action") in _VIEW_ACTIONS)
         ],
     )),
)  # fmt: skip


@defect(
    "commit-skips-malformed-requirements",
    on="updateTable",
    breaks="commit.malformed-assertion",
    suffering="A condition that a client relies on is ignored.",
)
def _skips_malformed_requirements(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Requirements that cannot be parsed count as satisfied."""

    def parses(call: Call, requirement: Any) -> bool:
        try:
            decode_commit(with_members(call, requirements=[requirement], updates=[]).request.body)
        except Problem:
            return False
        return True

    kept = [r for r in sent_json(call)["requirements"] if parses(call, r)]
    return faithful(state, with_members(call, requirements=kept))


# ---- versions


@defect(
    "commit-answers-version-before",
    on="updateTable",
    breaks="commit.answer-is-the-table",
    suffering="A writer does not see its own write.",
)
def _answers_version_before(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """The answer comes from a cache that the commit did not refresh."""
    before = state.table(call.namespace, call.name)
    outcome = faithful(state, call)
    if before is None:
        return outcome
    return structs.replace(outcome, reply=publication.commit_reply(before))


@defect(
    "commit-time-in-seconds",
    breaks="commit.last-updated",
    suffering="Tables seem to be fifty years old.",
)
def _time_in_seconds(registries: Registries) -> None:
    """last-updated-ms is counted in seconds, in what is told after the creation."""

    def in_seconds(body: Json) -> Json:
        metadata = body["metadata"]
        seconds = metadata["last-updated-ms"] // 1000
        return {**body, "metadata": {**metadata, "last-updated-ms": seconds}}

    for operation_id in ("updateTable", "loadTable"):
        alter_body(registries, operation_id, in_seconds)


declare_each(
    ("commit-answers-time-before", "commit.last-updated",
     "The answer to a commit has the time at which the server was installed.",
     "A client takes the new version for an older one than it knows.",
     by(
         alter_body,
         "updateTable",
         lambda body: {
             **body,
             "metadata": {**body["metadata"], "last-updated-ms": 1_000_000_000_000},
         },
     )),
    ("commit-overwrites-metadata-file", "commit.new-metadata-location",
     "Every version is written over the one before it.",
     "Spark keeps its old metadata: it compares locations.",
     by(alter_version, lambda _, after: after, same_location=True)),
    ("commit-forgets-metadata-log", "commit.metadata-log",
     "Nothing is entered in the metadata log.", "The history of a table's metadata is lost.",
     by(alter_version, lambda _, after: structs.replace(after, metadata_log=()))),
    ("commit-numbers-through-doubles", "commit.int64-exact",
     "Numbers of JSON pass through doubles.", "Snapshot ids are rounded, and name nothing.",
     by(alter_request_body, "updateTable",
        lambda body: numbers(body, lambda n: min(int(float(n)), _LARGEST)))),
    ("commit-forgets-snapshot-log", "commit.snapshot-log",
     "The snapshot log keeps its last entry only.", "Time travel by timestamp finds nothing.",
     by(alter_version,
        lambda _, after: structs.replace(after, snapshot_log=after.snapshot_log[-1:]))),
)  # fmt: skip


# ---- creation


def _alter_creation(registries: Registries, keep: Callable[[Json], bool]) -> None:
    """Leave updates out of commits that create a table."""

    def altered(body: Json) -> Json:
        if {"type": "assert-create"} not in body["requirements"]:
            return body
        return {**body, "updates": [u for u in body["updates"] if keep(u)]}

    alter_request_body(registries, "updateTable", altered)


declare_each(
    ("create-commit-forgets-properties", "createTable.stage-then-commit",
     "The commit that completes a staged table ignores its properties.",
     "CREATE TABLE AS SELECT loses its TBLPROPERTIES.",
     by(_alter_creation, lambda update: update["action"] != "set-properties")),
    ("create-commit-forgets-data", "createTable.stage-then-commit-with-data",
     "The commit that completes a staged table ignores its first snapshot.",
     "CREATE TABLE AS SELECT makes an empty table.",
     by(_alter_creation, lambda update: "snapshot" not in update["action"])),
    ("create-commit-makes-namespace", "commit.create-missing-namespace",
     "A commit that creates a table creates its namespace on the way.",
     "A misspelt namespace comes into being.", by(make_namespace, "updateTable")),
)  # fmt: skip


# ---- nulls


@defect(
    "commit-null-age-is-the-least",
    on=request_of("updateTable"),
    breaks="updateTable.null-is-absent",
    suffering="A branch that was to be kept for ever expires at once.",
)
def _null_age(body: Json) -> Json:
    """What a branch keeps is read into numbers, in which null is the least."""
    ages = ("max-ref-age-ms", "max-snapshot-age-ms", "min-snapshots-to-keep")
    for update in body["updates"]:
        if isinstance(update, dict):
            update |= {age: 1 for age in ages if update.get(age, 0) is None}
    return body
