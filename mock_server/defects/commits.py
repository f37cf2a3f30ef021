"""Ways in which servers get commits wrong, whatever the updates are."""

from collections.abc import Callable
from typing import Any

from msgspec import structs

from icecheck.mock_server import publication
from icecheck.mock_server.commit import decode_commit
from icecheck.mock_server.context import Call, Context, Operation, Outcome, Registries
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import (
    alter_body,
    alter_request_body,
    answer_status,
    refuse_as,
    wrap,
)
from icecheck.mock_server.defects.versions import alter_version, body_of, keep_known, with_body
from icecheck.mock_server.model import TableMetadata
from icecheck.mock_server.problem import Problem
from icecheck.mock_server.state import WarehouseState
from icecheck.mock_server.updates import UPDATES

Json = dict[str, Any]

_VIEW_ACTIONS = ("add-view-version", "set-current-view-version")
_LARGEST = 2**63 - 1


# ---- statuses


@defect("commit-created", breaks="updateTable.200", suffering="Java takes 201 for an error.")
def _created(registries: Registries) -> None:
    """A commit is answered 201, as if it had created something."""
    answer_status(registries, "updateTable", 201)


@defect(
    "commit-malformed-is-500",
    breaks="updateTable.400",
    suffering="Writers take the outcome for unknown and keep their files for ever.",
)
def _malformed_is_500(registries: Registries) -> None:
    """What cannot be parsed ends in the framework's own error page."""
    refuse_as(registries, "updateTable", 400, 500, "InternalServerError")


@defect(
    "commit-missing-table-is-conflict",
    breaks="updateTable.404",
    suffering="Writers retry for ever on a table that was dropped.",
)
def _missing_table_is_conflict(registries: Registries) -> None:
    """A table that is gone is reported as changed."""
    refuse_as(registries, "updateTable", 404, 409, "CommitFailedException")


@defect(
    "commit-conflict-is-400",
    breaks="updateTable.409",
    suffering="Concurrent writers fail instead of retrying.",
)
def _conflict_is_400(registries: Registries) -> None:
    """A failed requirement is a bad request."""
    refuse_as(registries, "updateTable", 409, 400, "ValidationException")


# ---- what is not understood


@defect(
    "commit-skips-unknown-updates",
    breaks="commit.unknown-update",
    suffering="A change that a newer client asked for is lost in silence.",
)
def _skips_unknown_updates(registries: Registries) -> None:
    """Updates that the server does not know are skipped."""
    keep_known(registries, "updates", "action", UPDATES)


@defect(
    "commit-skips-view-updates",
    breaks="commit.view-update-refused",
    suffering="A client's mistake goes unnoticed.",
)
def _skips_view_updates(registries: Registries) -> None:
    """Updates that only views have are skipped on a table."""

    def without_view_updates(body: Json) -> Json:
        sent = body.get("updates")
        if not isinstance(sent, list):
            return body
        kept = [u for u in sent if not (isinstance(u, dict) and u.get("action") in _VIEW_ACTIONS)]
        return {**body, "updates": kept}

    alter_request_body(registries, "updateTable", without_view_updates)


@defect(
    "commit-skips-unknown-requirements",
    breaks="commit.unknown-assertion",
    suffering="A condition that a newer client relies on is ignored.",
)
def _skips_unknown_requirements(registries: Registries) -> None:
    """Requirements that the server does not know count as satisfied."""
    keep_known(registries, "requirements", "type", registries.assertions)


@defect(
    "commit-skips-malformed-requirements",
    breaks="commit.malformed-assertion",
    suffering="A condition that a client relies on is ignored.",
)
def _skips_malformed_requirements(registries: Registries) -> None:
    """Requirements that cannot be parsed count as satisfied."""

    def parses(call: Call, requirement: Any) -> bool:
        try:
            decode_commit(with_body(call, requirements=[requirement], updates=[]).request.body)
        except Problem:
            return False
        return True

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        kept = [r for r in body_of(call)["requirements"] if parses(call, r)]
        return faithful(context, state, with_body(call, requirements=kept))

    wrap(registries, "updateTable", around)


# ---- versions


@defect(
    "commit-answers-version-before",
    breaks="commit.answer-is-the-table",
    suffering="A writer does not see its own write.",
)
def _answers_version_before(registries: Registries) -> None:
    """The answer comes from a cache that the commit did not refresh."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        before = state.table(call.namespace, call.name)
        outcome = faithful(context, state, call)
        if before is None:
            return outcome
        return structs.replace(outcome, reply=publication.commit_reply(before))

    wrap(registries, "updateTable", around)


@defect(
    "commit-overwrites-metadata-file",
    breaks="commit.new-metadata-location",
    suffering="Spark keeps its old metadata: it compares locations.",
)
def _overwrites_metadata_file(registries: Registries) -> None:
    """Every version is written over the one before it."""
    alter_version(registries, lambda _, after: after, same_location=True)


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


@defect(
    "commit-answers-time-before",
    breaks="commit.last-updated",
    suffering="A client takes the new version for an older one than it knows.",
)
def _answers_time_before(registries: Registries) -> None:
    """The answer to a commit has the time at which the server was installed."""

    def earlier(body: Json) -> Json:
        return {**body, "metadata": {**body["metadata"], "last-updated-ms": 1_000_000_000_000}}

    alter_body(registries, "updateTable", earlier)


@defect(
    "commit-forgets-snapshot-log",
    breaks="commit.snapshot-log",
    suffering="Time travel by timestamp finds nothing.",
)
def _forgets_snapshot_log(registries: Registries) -> None:
    """The snapshot log keeps its last entry only."""

    def last_only(_: TableMetadata | None, after: TableMetadata) -> TableMetadata:
        return structs.replace(after, snapshot_log=after.snapshot_log[-1:])

    alter_version(registries, last_only)


@defect(
    "commit-forgets-metadata-log",
    breaks="commit.metadata-log",
    suffering="The history of a table's metadata is lost.",
)
def _forgets_metadata_log(registries: Registries) -> None:
    """Nothing is entered in the metadata log."""
    alter_version(registries, lambda _, after: structs.replace(after, metadata_log=()))


@defect(
    "commit-numbers-through-doubles",
    breaks="commit.int64-exact",
    suffering="Snapshot ids are rounded, and name nothing.",
)
def _numbers_through_doubles(registries: Registries) -> None:
    """Numbers of JSON pass through doubles."""

    def rounded(value: Any) -> Any:
        match value:
            case dict():
                return {k: rounded(v) for k, v in value.items()}
            case list():
                return [rounded(v) for v in value]
            case int() if not isinstance(value, bool):
                return min(int(float(value)), _LARGEST)
        return value

    alter_request_body(registries, "updateTable", rounded)


# ---- creation


def _alter_creation(registries: Registries, keep: Callable[[Json], bool]) -> None:
    """Leave updates out of commits that create a table."""

    def altered(body: Json) -> Json:
        if {"type": "assert-create"} not in body["requirements"]:
            return body
        return {**body, "updates": [u for u in body["updates"] if keep(u)]}

    alter_request_body(registries, "updateTable", altered)


@defect(
    "create-commit-forgets-properties",
    breaks="createTable.stage-then-commit",
    suffering="CREATE TABLE AS SELECT loses its TBLPROPERTIES.",
)
def _creation_forgets_properties(registries: Registries) -> None:
    """The commit that completes a staged table ignores its properties."""
    _alter_creation(registries, lambda update: update["action"] != "set-properties")


@defect(
    "create-commit-forgets-data",
    breaks="createTable.stage-then-commit-with-data",
    suffering="CREATE TABLE AS SELECT makes an empty table.",
)
def _creation_forgets_data(registries: Registries) -> None:
    """The commit that completes a staged table ignores its first snapshot."""
    _alter_creation(registries, lambda update: "snapshot" not in update["action"])


@defect(
    "create-commit-makes-namespace",
    breaks="commit.create-missing-namespace",
    suffering="A misspelt namespace comes into being.",
)
def _creation_makes_namespace(registries: Registries) -> None:
    """A commit that creates a table creates its namespace on the way."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        if call.namespace not in state.namespaces:
            state = state.with_namespace(call.namespace, {})
        return faithful(context, state, call)

    wrap(registries, "updateTable", around)
