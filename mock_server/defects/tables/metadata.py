"""Defects of a table's metadata: parts of it are lost, altered or rounded."""

from collections.abc import Callable
from typing import Any

from msgspec import structs

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect, through
from icecheck.mock_server.defects.kit.json_values import as_double, numbers
from icecheck.mock_server.defects.kit.requests import Json, sent_json, with_members
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_body
from icecheck.mock_server.defects.kit.updating import (
    alter_sent_list,
    alter_version,
    change_also,
    refuse_updates_where,
)
from icecheck.mock_server.metadata.model import Snapshot, TableMetadata

_LARGEST = 2**63 - 1


def _alter_updates(registries: Registries, alter: Callable[[Json], Json]) -> None:
    """Let updateTable see altered updates."""
    alter_sent_list(
        registries,
        "updateTable",
        lambda sent: [alter(each) if isinstance(each, dict) else each for each in sent],
    )


def _alter_metadata(
    registries: Registries, operation_id: str, alter: Callable[[Json], Json]
) -> None:
    """Answer other table metadata than are kept."""
    alter_body(registries, operation_id, lambda body: {**body, "metadata": alter(body["metadata"])})


def _alter_answers(registries: Registries, alter: Callable[[Json], Json]) -> None:
    """Answer other metadata of every version than are kept, alike in loads and after changes."""
    for operation_id in ("createTable", "loadTable", "updateTable", "registerTable"):
        _alter_metadata(registries, operation_id, alter)


def _alter_snapshots(registries: Registries, alter: Callable[[Snapshot], Snapshot]) -> None:
    """Keep altered snapshots with every commit."""
    alter_version(
        registries,
        lambda _, after: structs.replace(after, snapshots=tuple(map(alter, after.snapshots))),
    )


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
    on=through(alter_version),
    breaks="commit.changes-nothing-else",
    suffering="Streaming writers do not find their offsets after any change of the table.",
)
def _loses_summaries(before: TableMetadata | None, after: TableMetadata) -> TableMetadata:
    """Snapshots go through a table that keeps the operation of their summary, and no more."""

    def bare(snapshot: Snapshot) -> Snapshot:
        summary = {"operation": (snapshot.summary or {}).get("operation", "append")}
        return structs.replace(snapshot, summary=summary)

    known = set() if before is None else {s.snapshot_id for s in before.snapshots}
    kept = [bare(s) if s.snapshot_id in known else s for s in after.snapshots]
    return structs.replace(after, snapshots=tuple(kept))


@defect(
    "commit-logs-in-microseconds",
    on=through(_alter_answers),
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
    on=through(_alter_answers),
    breaks="commit.logs-in-order",
    suffering="Java clients refuse to read the table: its log runs backwards.",
)
def _snapshot_log_forgets_times(metadata: Json) -> Json:
    """Only the first time of the snapshot log is kept: other entries say 1970."""
    log = metadata.get("snapshot-log") or []
    later = [{**entry, "timestamp-ms": 0} for entry in log[1:]]
    return {**metadata, "snapshot-log": [*log[:1], *later]}


@defect(
    "commit-of-schemas-in-seconds",
    on=through(_alter_answers),
    breaks="commit.logs-in-order",
    suffering="Java clients refuse to read a table whose log is younger than its last update.",
)
def _of_schemas_in_seconds(metadata: Json) -> Json:
    """The code that changes a table's schema writes last-updated-ms in seconds."""
    if len(metadata["schemas"]) == 1:
        return metadata
    return {**metadata, "last-updated-ms": metadata["last-updated-ms"] // 1000}


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


def _once(update: Json) -> Json:
    """Give every further column of a name another name."""
    schema = update.get("schema")
    if not isinstance(schema, dict):
        return update
    names: list[Any] = []
    fields: list[Json] = []
    for field in schema["fields"]:
        again = field["name"] in names
        names.append(field["name"])
        fields.append(field | {"name": f"{field['name']}_{len(names)}"} if again else field)
    return update | {"schema": schema | {"fields": fields}}


def _in_32_bits(update: Json) -> Json:
    kept = update.get("min-snapshots-to-keep")
    if not isinstance(kept, int):
        return update
    return update | {"min-snapshots-to-keep": min(kept, 2**31 - 1)}


declare_each(
    ("commit-numbers-clamped", "commit.kept-or-refused",
     "A number that is too large is taken for the largest.",
     "A snapshot has another id than its writer and all of its files.",
     by(_alter_updates, lambda update: numbers(update, lambda n: min(n, _LARGEST)))),
    ("commit-second-column-of-a-name-renamed", "commit.kept-or-refused",
     "The second of two columns with one name gets another name.",
     "A writer fills a column that the table does not have.", by(_alter_updates, _once)),
    ("commit-retention-clamped", "commit.kept-or-refused",
     "A ref that is to keep more snapshots than 32 bits can count keeps as many as they can.",
     "Nobody who set the number finds it again.", by(_alter_updates, _in_32_bits)),
    ("commit-sizes-through-doubles", "commit.int64-exact",
     "Statistics go through a column store that has one kind of number.",
     "Readers look for the footer of a statistics file in the wrong place.",
     by(
         _alter_updates,
         lambda update: (
             numbers(update, as_double) if "statistics" in str(update.get("action")) else update
         ),
     )),
    ("update-first-row-id-through-double", "update.add-snapshot.first-row-id",
     "Row ids go through doubles.", "Rows of two snapshots get the same id.",
     by(
         _alter_snapshots,
         lambda each: structs.replace(
             each, first_row_id=each.first_row_id and int(float(each.first_row_id))
         ),
     )),
    ("update-next-row-id-one-too-high", "update.add-snapshot.next-row-id-exact",
     "next-row-id is the first row id, plus the added rows, plus one.",
     "Row ids have gaps that no row fills.",
     by(
         change_also,
         "add-snapshot",
         lambda _, after, _update: (
             {"next_row_id": after.next_row_id + 1} if after.format_version > 2 else {}
         ),
     )),
)  # fmt: skip


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


declare_each(
    ("update-snapshot-loses-parent", "update.add-snapshot.operations",
     "Snapshots are stored without their parents.", "Incremental reads start from nothing.",
     by(_alter_snapshots, lambda each: structs.replace(each, parent_snapshot_id=None))),
    ("update-snapshot-operation-unknown", "update.add-snapshot.operations",
     "A snapshot that replaces files by others with the same rows is refused.",
     "Compaction cannot be committed.",
     by(refuse_updates_where, "add-snapshot",
        lambda update, _: (update.snapshot.summary or {}).get("operation") == "replace")),
    ("update-hours-unknown", "update.add-spec.transforms",
     "A partition field by the hour is refused.", "Tables cannot be partitioned by the hour.",
     by(refuse_updates_where, "add-spec",
        lambda update, _: any(field.transform == "hour" for field in update.spec.fields))),
)  # fmt: skip
