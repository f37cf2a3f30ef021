"""Defects of a table's metadata: parts of it are lost, altered or rounded."""

from collections.abc import Callable
from typing import Any

from msgspec import structs

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import defect, through
from icecheck.mock_server.defects.kit.places import table_update
from icecheck.mock_server.defects.kit.requests import Json, sent_json, with_members
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_body, alter_request_body
from icecheck.mock_server.defects.kit.updating import FaithfulUpdate, alter_version
from icecheck.mock_server.metadata.builder import Draft
from icecheck.mock_server.metadata.model import Snapshot, TableMetadata
from icecheck.mock_server.protocol.problem import bad_request

_DOUBLE_EXACT_MAX = 2**53


def _alter_updates(registries: Registries, alter: Callable[[Json], Json]) -> None:
    """Let updateTable see altered updates."""

    def altered(body: Json) -> Json:
        updates = body.get("updates")
        if not isinstance(updates, list):
            return body
        return {**body, "updates": [alter(u) if isinstance(u, dict) else u for u in updates]}

    alter_request_body(registries, "updateTable", altered)


def _alter_metadata(
    registries: Registries, operation_id: str, alter: Callable[[Json], Json]
) -> None:
    """Answer other table metadata than are kept."""
    alter_body(registries, operation_id, lambda body: {**body, "metadata": alter(body["metadata"])})


# ---- lost parts


@defect(
    "commit-loses-statistics",
    on=through(alter_version),
    breaks="commit.changes-nothing-else",
    suffering="Queries are planned without statistics after any change of the table.",
)
def _loses_statistics(before: TableMetadata | None, after: TableMetadata) -> TableMetadata:
    """The next version is copied member by member, and statistics were forgotten."""
    carried = before is not None and after.statistics == before.statistics
    return structs.replace(after, statistics=()) if carried else after


@defect(
    "commit-loses-summaries-of-old-snapshots",
    breaks="commit.changes-nothing-else",
    suffering="Streaming writers do not find their offsets after any change of the table.",
)
def _loses_summaries(registries: Registries) -> None:
    """Snapshots go through a table that keeps the operation of their summary, and no more."""

    def bare(snapshot: Snapshot) -> Snapshot:
        summary = {"operation": (snapshot.summary or {}).get("operation", "append")}
        return structs.replace(snapshot, summary=summary)

    def older_bare(before: TableMetadata | None, after: TableMetadata) -> TableMetadata:
        known = set() if before is None else {s.snapshot_id for s in before.snapshots}
        kept = [bare(s) if s.snapshot_id in known else s for s in after.snapshots]
        return structs.replace(after, snapshots=tuple(kept))

    alter_version(registries, older_bare)


@defect(
    "commit-logs-in-microseconds",
    on=through(_alter_metadata, "loadTable"),
    breaks="commit.logs-in-order",
    suffering="Java clients refuse to read the table: its logs are of the far future.",
)
def _logs_in_microseconds(metadata: Json) -> Json:
    """The metadata log tells times in microseconds."""
    log = metadata.get("metadata-log") or []
    times = [{**e, "timestamp-ms": e["timestamp-ms"] * 1000} for e in log]
    return {**metadata, "metadata-log": times}


@defect(
    "commit-snapshot-log-forgets-times",
    on=through(_alter_metadata, "loadTable"),
    breaks="commit.logs-in-order",
    suffering="Java clients refuse to read the table: its log runs backwards.",
)
def _snapshot_log_forgets_times(metadata: Json) -> Json:
    """Only the first time of the snapshot log is kept: other entries say 1970."""
    log = metadata.get("snapshot-log") or []
    later = [{**entry, "timestamp-ms": 0} for entry in log[1:]]
    return {**metadata, "snapshot-log": [*log[:1], *later]}


# ---- malformed values that are accepted


@defect(
    "commit-enumerations-guessed",
    on=through(_alter_updates),
    breaks="commit.enumerations",
    suffering="A tag is kept as a branch, and expires as one.",
)
def _enumerations_guessed(update: Json) -> Json:
    """What is no known kind of ref, direction or null order is taken for the usual one."""
    if update.get("action") == "set-snapshot-ref" and update.get("type") != "tag":
        return {**update, "type": "branch"}
    order = update.get("sort-order")
    if not isinstance(order, dict):
        return update
    fields = [
        {
            **field,
            "direction": "desc" if field.get("direction") == "desc" else "asc",
            "null-order": (
                "nulls-last" if field.get("null-order") == "nulls-last" else "nulls-first"
            ),
        }
        for field in order.get("fields", [])
    ]
    return {**update, "sort-order": {**order, "fields": fields}}


@defect(
    "commit-without-requirements-is-unconditional",
    on="updateTable",
    breaks="commit.members-required",
    suffering="A client that misspells the member overwrites what others have committed.",
)
def _requirements_default_to_none(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A commit without requirements has none to fulfil."""
    body = sent_json(call)
    return faithful(state, with_members(call, **{"requirements": [], **body}))


# ---- numbers


@defect(
    "commit-sizes-through-doubles",
    breaks="commit.int64-exact",
    suffering="Readers look for the footer of a statistics file in the wrong place.",
)
def _sizes_through_doubles(registries: Registries) -> None:
    """Statistics go through a column store that has one kind of number."""

    def rounded(value: Any) -> Any:
        match value:
            case dict():
                return {k: rounded(v) for k, v in value.items()}
            case list():
                return [rounded(v) for v in value]
            case int() if not isinstance(value, bool) and value > _DOUBLE_EXACT_MAX:
                return int(float(value))
        return value

    def altered(update: Json) -> Json:
        return rounded(update) if "statistics" in str(update.get("action")) else update

    _alter_updates(registries, altered)


@defect(
    "update-first-row-id-through-double",
    on=through(alter_version),
    breaks="update.add-snapshot.first-row-id",
    suffering="Rows of two snapshots get the same id.",
)
def _first_row_id_through_double(_: TableMetadata | None, after: TableMetadata) -> TableMetadata:
    """Row ids go through doubles."""
    snapshots = [
        s if s.first_row_id is None else structs.replace(s, first_row_id=int(float(s.first_row_id)))
        for s in after.snapshots
    ]
    return structs.replace(after, snapshots=tuple(snapshots))


@defect(
    "update-next-row-id-one-too-high",
    on=table_update("add-snapshot"),
    breaks="update.add-snapshot.next-row-id-exact",
    suffering="Row ids have gaps that no row fills.",
)
def _next_row_id_one_too_high(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """next-row-id is the first row id, plus the added rows, plus one."""
    faithful(update, draft)
    if draft.metadata.format_version > 2:
        draft.change(next_row_id=draft.metadata.next_row_id + 1)


@defect(
    "commit-answers-next-row-id-one-too-high",
    breaks="update.add-snapshot.next-row-id-exact",
    suffering="The next writer leaves a gap between its rows and those before.",
)
def _answers_next_row_id_one_too_high(registries: Registries) -> None:
    """The answer to a commit counts one row too many."""

    def higher(metadata: Json) -> Json:
        return {**metadata, "next-row-id": metadata["next-row-id"] + 1}

    _alter_metadata(registries, "updateTable", lambda m: higher(m) if "next-row-id" in m else m)


# ---- snapshots, orders, transforms


@defect(
    "update-snapshot-loses-parent",
    on=through(alter_version),
    breaks="update.add-snapshot.operations",
    suffering="Incremental reads start from nothing.",
)
def _snapshot_loses_parent(_: TableMetadata | None, after: TableMetadata) -> TableMetadata:
    """Snapshots are stored without their parents."""
    snapshots = [structs.replace(s, parent_snapshot_id=None) for s in after.snapshots]
    return structs.replace(after, snapshots=tuple(snapshots))


@defect(
    "update-snapshot-operation-unknown",
    on=table_update("add-snapshot"),
    breaks="update.add-snapshot.operations",
    suffering="Compaction cannot be committed.",
)
def _operation_unknown(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """A snapshot that replaces files by others with the same rows is refused."""
    if (update.snapshot.summary or {}).get("operation") == "replace":
        raise bad_request("Unknown operation: replace")
    faithful(update, draft)


@defect(
    "update-tag-age-lost",
    on=through(_alter_updates),
    breaks="update.set-snapshot-ref.retention",
    suffering="Tags that should expire stay for ever.",
)
def _tag_age_lost(update: Json) -> Json:
    """Only branches have retention settings."""
    if update.get("action") != "set-snapshot-ref" or update.get("type") != "tag":
        return update
    return {member: value for member, value in update.items() if "max-ref" not in member}


@defect(
    "update-sort-order-ascending",
    on=through(_alter_updates),
    breaks="update.add-sort-order.effect",
    suffering="Newest-first tables are written oldest first.",
)
def _sort_order_ascending(update: Json) -> Json:
    """Every sort field that a commit adds is ascending."""
    order = update.get("sort-order")
    if not isinstance(order, dict):
        return update
    fields = [{**field, "direction": "asc"} for field in order["fields"]]
    return {**update, "sort-order": {**order, "fields": fields}}


@defect(
    "update-hours-unknown",
    on=table_update("add-spec"),
    breaks="update.add-spec.transforms",
    suffering="Tables cannot be partitioned by the hour.",
)
def _hours_unknown(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """A partition field by the hour is refused."""
    if any(field.transform == "hour" for field in update.spec.fields):
        raise bad_request("Unsupported transform: hour")
    faithful(update, draft)
