"""What PyIceberg did to a table, told by its requests, its answers and a load of our own.

A finding needs a request of the client that asked for something, an answer that accepted it, and a
load that shows something else. Anything less is the client's affair, and no finding.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from icecheck.client.given import reloaded, shared_namespace
from icecheck.client.table import Table as OurTable
from icecheck.findings.symptoms import NOT_AS_ACKNOWLEDGED, Severity, declare
from icecheck.findings.verdict import Group
from icecheck.judging.check import Function, check
from icecheck.judging.probes import has_capability
from icecheck.replies.expect import Violation
from icecheck.replies.matching import difference, show
from icecheck.targets.target import Namespace
from icecheck.witnesses.pyiceberg_client import PyIceberg

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.table import Table

    from icecheck.witnesses.relay import Carried

TOLD_OTHERWISE = declare(
    "client-told-otherwise",
    "A load shows a table otherwise than the client was told that it is",
    Severity.FALSE_OR_LOST,
    NOT_AS_ACKNOWLEDGED,
)
CHANGE_LOST = declare(
    "client-change-lost",
    "A client's accepted change is not what a load shows",
    Severity.FALSE_OR_LOST,
    NOT_AS_ACKNOWLEDGED,
)
PLANNED_ROWS = declare(
    "client-planned-rows",
    "A client that has its scan planned reads other rows than it has written",
    Severity.FALSE_OR_LOST,
    "PyIceberg: reads other rows than there are",
)
_PLANNING = frozenset({"planTableScan", "fetchPlanningResult", "fetchScanTasks"})
# What a client works with. Times, logs and statistics may change at any moment, and a location may
# be spelled in more than one way.
_TOLD = (
    "format-version", "table-uuid", "last-column-id", "schemas", "current-schema-id",
    "partition-specs", "default-spec-id", "last-partition-id", "sort-orders",
    "default-sort-order-id", "snapshots", "current-snapshot-id", "refs",
)  # fmt: skip
_BEHIND_MS_MAX = 1000
_OF_SNAPSHOT = ("parent-snapshot-id", "manifest-list", "schema-id", "sequence-number")


def pyiceberg_check(name: str, *, needs: tuple[str, ...] = ()) -> Callable[[Function], Function]:
    """Declare a check of the group ``clients`` that proves the row of the same name."""
    return check(
        f"pyiceberg.{name}", proves=f"client.pyiceberg.{name}", needs=needs, group=Group.CLIENTS
    )


def rows(*ids: int, **columns: Sequence[Any]) -> "pa.Table":
    """Return rows to write: an id, a word made from it, and other columns as given."""
    import pyarrow as pa

    words = [f"word {each}" for each in ids]
    more = {name: pa.array(values) for name, values in columns.items()}
    known = {"id": pa.array(ids, pa.int64()), "word": pa.array(words, pa.string())}
    return pa.table(known | more)


def definition(
    client: PyIceberg, namespace: Namespace, name: str, **properties: str
) -> dict[str, Any]:
    """Return what PyIceberg is told to create a table of: the columns of ``rows``.

    It writes version 2 of the format, whatever a catalog makes of itself.
    """
    version = {"format-version": "2"} if has_capability(client.catalog, "format-version-2") else {}
    return {
        "schema": rows().schema,
        "location": client.catalog.location_for(namespace, name),
        "properties": version | properties,
    }


def created(client: PyIceberg, **properties: str) -> "Table":
    """Create a table with the columns of ``rows`` by the client; it is the run's own."""
    namespace, name = shared_namespace(client.catalog), client.catalog.new_name()
    with client.step("create a table"):
        made = definition(client, namespace, name, **properties)
        table = client.rest.create_table((*namespace, name), **made)
    expect_same_clock(client, table)
    return table


def expect_same_clock(client: PyIceberg, table: "Table") -> None:
    """Raise NotOffered where this machine's clock is behind: a catalog may refuse what is older."""
    behind_ms = table.metadata.last_updated_ms - time.time() * 1000
    if behind_ms > _BEHIND_MS_MAX:
        seconds = round(behind_ms / 1000)
        raise client.gap(f"dates commits by a clock that is {seconds} s behind the catalog's")


def appended(client: PyIceberg, table: "Table", *ids: int) -> Mapping[str, Any]:
    """Append rows by the client; return the metadata that a load shows then."""
    with client.step("append rows") as sent:
        table.append(rows(*ids))
    return seen(client, table, sent, "add-snapshot", "set-snapshot-ref")


def seen(
    client: PyIceberg, table: "Table", sent: Sequence["Carried"], *actions: str
) -> Mapping[str, Any]:
    """Return the metadata of a table that a load of our own shows, judged by what was told before.

    ``sent`` are the client's requests, whose commits have to ask for these ``actions``. Raises
    Violation unless the load shows each accepted snapshot as it was sent, and the table as the
    client knows it from its last answer.
    """
    asked = [action for each in sent for action in each.actions]
    for action in actions:
        if action not in asked:
            raise client.gap(f"sends no {action} for what it was asked to do")
    metadata = loaded(client, table).metadata
    for snapshot in accepted_snapshots(sent):
        _expect_snapshot(client, metadata, snapshot)
    for name, snapshot_id in _accepted_refs(sent).items():
        expect(f"the branch or tag {name}", snapshot_id, ref_of(metadata, name), client)
    _expect_told(client, table, metadata)
    return metadata


def loaded(client: PyIceberg, table: "Table") -> OurTable:
    """Return a table as a load of our own shows it; raise Violation if it is not there."""
    *namespace, name = table.name()
    return reloaded(client.catalog, OurTable(tuple(namespace), name, {}, None))


def expect(what: str, expected: object, actual: object, client: PyIceberg) -> None:
    """Raise Violation unless a load shows what the client asked for, and was told is so."""
    if expected != actual:
        detail = f"{client.name}: {what}"
        raise Violation(CHANGE_LOST, show(expected), show(actual), detail=detail)


def expect_rows(client: PyIceberg, table: "Table", *ids: int, **scan: Any) -> None:
    """Read a table anew by the client, and judge what it reads."""
    with client.step("read the rows") as sent:
        again = client.rest.load_table(table.name())
        found = sorted(again.scan(**scan).to_arrow()["id"].to_pylist())
    seen(client, again, sent)
    if found == sorted(ids):
        return
    words = f"reads the ids {found} where {sorted(ids)} are due"
    if any(each.operation_id in _PLANNING for each in sent):
        raise Violation(PLANNED_ROWS, show(sorted(ids)), show(found), detail=client.name)
    raise client.gap(f"{words}, of snapshots that the catalog shows as they were sent")


def accepted_snapshots(sent: Sequence["Carried"]) -> list[Mapping[str, Any]]:
    """Return the snapshots of the commits that the catalog has accepted, in order."""
    return [snapshot for each in sent if each.reply.ok for snapshot in snapshots_in(each)]


def snapshots_in(commit: "Carried") -> list[Mapping[str, Any]]:
    """Return the snapshots that a commit adds."""
    updates = commit.body.get("updates") or ()
    return [each["snapshot"] for each in updates if each.get("action") == "add-snapshot"]


def main_of(metadata: Mapping[str, Any]) -> int | None:
    """Return the snapshot of a table's main branch, as a load shows it."""
    return ref_of(metadata, "main")


def ref_of(metadata: Mapping[str, Any], name: str) -> int | None:
    """Return the snapshot of a branch or tag, or None where a load shows no such ref."""
    found = (metadata.get("refs") or {}).get(name) or {}
    snapshot_id: int | None = found.get("snapshot-id")
    return snapshot_id


def column_names(metadata: Mapping[str, Any]) -> list[str]:
    """Return the names of the columns of the current schema."""
    current = metadata.get("current-schema-id")
    schemas = [s for s in metadata.get("schemas") or () if s.get("schema-id") == current]
    return [field["name"] for schema in schemas for field in schema["fields"]]


def _accepted_refs(sent: Sequence["Carried"]) -> dict[str, int | None]:
    """Return the refs that accepted commits have set or removed, as they were left last."""
    updates = [u for each in sent if each.reply.ok for u in each.body.get("updates") or ()]
    return {
        update["ref-name"]: update.get("snapshot-id")
        for update in updates
        if update.get("action") in {"set-snapshot-ref", "remove-snapshot-ref"}
    }


def _expect_snapshot(
    client: PyIceberg, metadata: Mapping[str, Any], sent: Mapping[str, Any]
) -> None:
    snapshots = {each["snapshot-id"]: each for each in metadata.get("snapshots") or ()}
    kept = snapshots.get(sent["snapshot-id"])
    detail = f"{client.name}: a snapshot that was committed"
    if kept is None:
        named = {each.get("snapshot-id") for each in (metadata.get("refs") or {}).values()}
        if sent["snapshot-id"] not in named and not has_capability(
            client.catalog, "snapshot-history"
        ):
            return
        raise Violation(
            CHANGE_LOST, "the snapshot that was sent", "no such snapshot", detail=detail
        )
    for member in _OF_SNAPSHOT:
        if sent.get(member) is not None and kept.get(member) != sent[member]:
            raise Violation(
                CHANGE_LOST.of(member), show(sent[member]), show(kept.get(member)), detail=detail
            )


def _expect_told(client: PyIceberg, table: "Table", metadata: Mapping[str, Any]) -> None:
    """Compare what the client knows with a load; both are read by the client's own model."""
    from pydantic import ValidationError
    from pyiceberg.table.metadata import TableMetadataUtil

    try:
        read = TableMetadataUtil.parse_obj(dict(metadata))
    except ValidationError as error:
        raise client.gap(f"cannot read the metadata of a load: {error.title}") from error
    shown, told = _members(read), _members(table.metadata)
    for member in _TOLD:
        found = difference(told.get(member), shown.get(member), exact=True)
        if found is not None:
            pointer, wanted, got = found
            raise Violation(
                TOLD_OTHERWISE.of(member),
                show(wanted),
                show(got),
                pointer=f"/metadata/{member}{pointer}",
                detail=f"{client.name} was told otherwise",
            )


def _members(metadata: Any) -> dict[str, Any]:
    members: dict[str, Any] = metadata.model_dump(mode="json", by_alias=True)
    snapshots = members.get("snapshots") or []
    return members | {"snapshots": {str(each["snapshot-id"]): each for each in snapshots}}
