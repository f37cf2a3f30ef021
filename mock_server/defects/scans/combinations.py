"""Defects of plans where two things meet: a snapshot and a filter, two plans."""

from collections.abc import Callable

import msgspec

from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare, declare_each, defect, through
from icecheck.mock_server.defects.kit.remembering import (
    by_target,
    note_after,
    place_of,
    remembering,
)
from icecheck.mock_server.defects.kit.requests import Json, Name, sent_json, with_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.defects.scans.plans import RANGE, without_members
from icecheck.mock_server.metadata.model import TableMetadata
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import Problem

_OTHER_ROWS = "Queries read rows of another moment, and nothing says so."
_LOST_ROWS = "Queries miss rows, and nothing says so."


def _alter_scan(
    registries: Registries, alter: Callable[[TableMetadata, Json], Json | None]
) -> None:
    """Plan the request that `alter` returns, if any, for a table's metadata and the sent one."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        entry = state.table(call.namespace, call.name)
        body = sent_json(call)
        altered = None if entry is None else alter(entry.metadata, body)
        return faithful(state, call if altered is None else with_json(call, altered))

    wrap(registries, "planTableScan", around)


def _lineage(metadata: TableMetadata) -> list[int]:
    """Return the current snapshot and its ancestors, newest first."""
    parents = {each.snapshot_id: each.parent_snapshot_id for each in metadata.snapshots}
    found: list[int] = []
    step = metadata.current_snapshot_id
    while step is not None and step not in found:
        found.append(step)
        step = parents.get(step)
    return found


# ---- points and ranges


@defect(
    "plan-beside-main-reads-main",
    on=through(_alter_scan),
    breaks="planTableScan.every-snapshot",
    suffering=_OTHER_ROWS,
)
def _beside_main_reads_main(metadata: TableMetadata, body: Json) -> Json | None:
    """A snapshot that is no ancestor of main's is overlooked."""
    named = body.get("snapshot-id")
    known = [each.snapshot_id for each in metadata.snapshots]
    beside = named in known and named not in _lineage(metadata)
    return without_members(body, "snapshot-id") if beside else None


declare(
    "plan-with-statistics-reads-main",
    "Plans with statistics come from an index that knows the current snapshot only.",
    by(
        _alter_scan,
        lambda _, body: without_members(body, "snapshot-id") if body.get("stats-fields") else None,
    ),
    breaks="planTableScan.every-snapshot",
    suffering=_OTHER_ROWS,
)


@defect(
    "plan-of-a-snapshot-outlives-it",
    on=remembering(dict, wrap, "planTableScan"),
    breaks="planTableScan.unknown-snapshot-refused",
    suffering="Queries read files that may be deleted any moment.",
)
def _outlives_its_snapshot(
    kept: dict[tuple[str, bytes], Reply], faithful: Faithful, state: WarehouseState, call: Call
) -> Outcome:
    """A plan of a snapshot is kept, and answered when the table has removed the snapshot."""
    entry = state.table(call.namespace, call.name)
    if entry is None or "snapshot-id" not in sent_json(call):
        return faithful(state, call)
    key = (entry.metadata.table_uuid, call.request.body)
    try:
        outcome = faithful(state, call)
    except Problem:
        if key not in kept:
            raise
        return Outcome(state, kept[key])
    kept[key] = outcome.reply
    return outcome


@defect(
    "plan-main-forward-only",
    on=through(_alter_scan),
    breaks="planTableScan.main-throughout",
    suffering=_OTHER_ROWS,
)
def _main_forward_only(metadata: TableMetadata, body: Json) -> Json | None:
    """Of the snapshots that main has been at, the latest is read, also after a rollback."""
    if "snapshot-id" in body or RANGE & body.keys() or metadata.current_snapshot_id is None:
        return None
    been = {each.snapshot_id for each in metadata.snapshot_log}
    latest = [each for each in metadata.snapshots if each.snapshot_id in been][-1:]
    return {**body, "snapshot-id": latest[0].snapshot_id} if latest else None


def _last_where(registries: Registries, member: str) -> None:
    """Read the snapshot added last if the member is sent and neither snapshot nor range."""

    def alter(metadata: TableMetadata, body: Json) -> Json | None:
        point = "snapshot-id" in body or RANGE & body.keys() or not metadata.snapshots
        if point or member not in body:
            return None
        return {**body, "snapshot-id": metadata.snapshots[-1].snapshot_id}

    _alter_scan(registries, alter)


@defect(
    "plan-range-of-main-only",
    on=through(_alter_scan),
    breaks="planTableScan.every-range",
    suffering=_OTHER_ROWS,
)
def _range_of_main_only(metadata: TableMetadata, body: Json) -> Json | None:
    """A range that ends beside main is one that ends at main."""
    lineage = _lineage(metadata)
    start, end = (body.get(name) for name in ("start-snapshot-id", "end-snapshot-id"))
    beside = end is not None and end not in lineage and start in lineage
    return {**body, "end-snapshot-id": lineage[0]} if beside else None


@defect(
    "plan-range-to-itself",
    on=through(_alter_scan),
    breaks="planTableScan.every-range",
    suffering=_OTHER_ROWS,
)
def _range_to_itself(_: TableMetadata, body: Json) -> Json | None:
    """A range that ends where it starts is that snapshot."""
    start, end = (body.get(name) for name in ("start-snapshot-id", "end-snapshot-id"))
    same = start is not None and start == end and "snapshot-id" not in body
    return {**without_members(body, *RANGE), "snapshot-id": end} if same else None


declare_each(
    ("plan-without-case-reads-main", "planTableScan.every-snapshot",
     "The code for names without case has lost the snapshot.", _OTHER_ROWS,
     by(
         _alter_scan,
         lambda _, body: (
             without_members(body, "snapshot-id") if body.get("case-sensitive") is False else None
         ),
     )),
    ("plan-selection-reads-last", "planTableScan.main-throughout",
     "A scan of some columns reads what was committed last, on whatever branch.", _OTHER_ROWS,
     by(_last_where, "select")),
    ("plan-filter-reads-last", "planTableScan.main-throughout",
     "A scan with a filter reads what was committed last, on whatever branch.", _OTHER_ROWS,
     by(_last_where, "filter")),
    ("plan-range-forgets-filter", "planTableScan.every-range",
     "A range is planned without the filter: nothing is left to test in its files.", _OTHER_ROWS,
     by(_alter_scan,
        lambda _, body: without_members(body, "filter") if RANGE & body.keys() else None)),
    ("plan-point-forgets-filter", "planTableScan.every-snapshot",
     "A snapshot is planned without the filter: nothing is left to test in its files.", _OTHER_ROWS,
     by(_alter_scan,
        lambda _, body: without_members(body, "filter") if "snapshot-id" in body else None)),
)  # fmt: skip


@defect(
    "plan-range-with-filter",
    on=through(_alter_scan),
    breaks="planTableScan.every-range",
    suffering=_OTHER_ROWS,
)
def _range_with_filter(_: TableMetadata, body: Json) -> Json | None:
    """A range with a filter is read as the snapshot at its end."""
    if "filter" not in body or body.keys() & RANGE != RANGE:
        return None
    return {**without_members(body, *RANGE), "snapshot-id": body["end-snapshot-id"]}


@defect(
    "plan-range-of-two",
    on=through(_alter_scan),
    breaks="planTableScan.every-range",
    suffering=_LOST_ROWS,
)
def _range_of_two(metadata: TableMetadata, body: Json) -> Json | None:
    """Of a range, the last two snapshots are read."""
    parents = {each.snapshot_id: each.parent_snapshot_id for each in metadata.snapshots}
    end, start = body.get("end-snapshot-id"), body.get("start-snapshot-id")
    if end is None or start is None:
        return None
    last_but_one = parents.get(parents.get(end) or 0)
    if start in {end, parents.get(end), last_but_one} or last_but_one is None:
        return None
    return {**body, "start-snapshot-id": last_but_one}


@defect(
    "plan-point-and-end",
    on=through(_alter_scan),
    breaks="planTableScan.mixtures-refused",
    suffering=_OTHER_ROWS,
)
def _point_and_end(_: TableMetadata, body: Json) -> Json | None:
    """A point wins over the end of a range that has no start."""
    mixed = "snapshot-id" in body and body.keys() & RANGE == {"end-snapshot-id"}
    return without_members(body, *RANGE) if mixed else None


@defect(
    "plan-mixture-with-filter",
    on=through(_alter_scan),
    breaks="planTableScan.mixtures-refused",
    suffering=_OTHER_ROWS,
)
def _mixture_with_filter(_: TableMetadata, body: Json) -> Json | None:
    """With a filter, a range beside a point is overlooked."""
    mixed = "snapshot-id" in body and "filter" in body
    return without_members(body, *RANGE) if mixed else None


# ---- names


@defect("plan-cache-by-name", breaks="planTableScan.table-of-the-name", suffering=_OTHER_ROWS)
def _cache_by_name(registries: Registries) -> None:
    """Plans are kept by the table's name until a commit; a rename or a drop keeps them."""
    kept: dict[tuple[Name, bytes], Outcome] = {}

    def planned(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        key = (place_of(call), call.request.body)
        if key not in kept or state.table(*key[0]) is None:
            kept[key] = faithful(state, call)
        return msgspec.structs.replace(kept[key], state=state)

    def committed(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        for key in [key for key in kept if key[0] == place_of(call)]:
            del kept[key]
        return faithful(state, call)

    wrap(registries, "planTableScan", planned)
    wrap(registries, "updateTable", committed)


@defect("plan-forgets-renamed", breaks="planTableScan.table-of-the-name", suffering=_LOST_ROWS)
def _forgets_renamed(registries: Registries) -> None:
    """What is known of files goes by name: a table with a new name has none until it is written."""
    renamed: set[Name] = set()

    def planned(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        if place_of(call) not in renamed:
            return outcome
        empty = {"status": "completed", "file-scan-tasks": []}
        return msgspec.structs.replace(outcome, reply=replies.json_reply(empty))

    note_after(registries, "renameTable", lambda call: renamed.update(by_target(call)))
    wrap(registries, "planTableScan", planned)
