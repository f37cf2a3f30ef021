"""Commits as clients send them, and the sentences that judge what became of one."""

from collections.abc import Mapping, Sequence
from typing import Any

from icecheck import bodies
from icecheck.client import Catalog, Table
from icecheck.expect import Blocked, Matcher, Reply, Violation, show

__all__ = [
    "NO_SNAPSHOT",
    "commit",
    "creation_updates",
    "expect_effect",
    "expect_loaded",
    "expect_refused",
    "expect_unchanged",
    "given_snapshots",
    "same_table",
    "set_property",
    "with_ids",
]

Json = dict[str, Any]

NO_SNAPSHOT = Matcher(
    "no current snapshot (absent, null or -1)",
    lambda v: not isinstance(v, int) or v == -1,
)


def same_table(table: Table) -> Json:
    """Return the requirement that Spark's Java client sends with every commit."""
    return {"type": "assert-table-uuid", "uuid": table.uuid}


def set_property(value: str, key: str = "icecheck") -> Json:
    """Return an update that every catalog can apply to every table."""
    return {"action": "set-properties", "updates": {key: value}}


def commit(
    catalog: Catalog, table: Table, updates: Sequence[Any], requirements: Sequence[Any] = ()
) -> Reply:
    """Send updates under the requirement that the table is still the same one."""
    required = [same_table(table), *requirements]
    return catalog.update_table(table.namespace, table.name, updates, required)


def expect_effect(
    catalog: Catalog,
    table: Table,
    updates: Sequence[Any],
    expected: Mapping[str, Any],
    *,
    what: str,
    requirements: Sequence[Any] = (),
) -> Table:
    """Commit, and judge that it is accepted and that a load then shows these metadata members.

    Returns the table as loaded. A commit that left no trace at all has one symptom, whatever it
    was to do: "effect-missing:commit".
    """
    commit(catalog, table, updates, requirements).expect(200)
    return expect_loaded(catalog, table, expected, what=what)


def expect_loaded(
    catalog: Catalog, before: Table, expected: Mapping[str, Any], *, what: str
) -> Table:
    """Judge that a load shows these metadata members after an accepted commit."""
    reply = catalog.load_table(before.namespace, before.name).expect(200)
    metadata = _metadata(reply)
    location = reply.json().get("metadata-location")
    try:
        reply.expect_json(dict(expected), at=("metadata",), symptom=f"effect-missing:{what}")
    except Violation as violation:
        if location != before.metadata_location:
            raise
        raise reply.violation(
            "effect-missing:commit",
            "a commit that takes effect",
            "the version before it",
            detail=f"{violation.finding.pointer} is {violation.finding.actual}",
        ) from None
    return Table(before.namespace, before.name, metadata, location)


def expect_refused(
    catalog: Catalog,
    table: Table,
    updates: Sequence[Any],
    *statuses: int,
    requirements: Sequence[Any] = (),
    detail: str = "",
) -> None:
    """Commit, and judge that it is refused (no status: any 4xx) and that nothing has changed."""
    before = catalog.loaded(table)
    commit(catalog, table, updates, requirements).expect_refused(*statuses, detail=detail)
    expect_unchanged(catalog, before)


def expect_unchanged(catalog: Catalog, before: Table) -> None:
    """Judge that a table is still what an earlier load showed."""
    reply = catalog.load_table(before.namespace, before.name).expect(200)
    after = _metadata(reply)
    changed = sorted(
        name for name in {*before.metadata, *after} if before.metadata.get(name) != after.get(name)
    )
    if reply.json().get("metadata-location") != before.metadata_location:
        changed.append("metadata-location")
    if changed:
        first = changed[0]
        raise reply.violation(
            "changed-although-refused",
            "the table as it was",
            "a changed table",
            detail=f"{', '.join(changed)}; {first} is {show(after.get(first), 80)}",
        )


def _metadata(reply: Reply) -> Json:
    metadata = reply.member("metadata")
    if not isinstance(metadata, dict):
        raise Blocked("schema.loadTable.200", "the answer has no usable table metadata")
    return metadata


def given_snapshots(catalog: Catalog, count: int) -> tuple[Table, list[int]]:
    """Return a table after so many commits of a snapshot to main, and the snapshots' ids."""
    table = catalog.given_table()
    snapshot_ids = []
    for ordinal in range(1, count + 1):
        snapshot_ids.append(bodies.snapshot(table.metadata, ordinal)["snapshot-id"])
        table = catalog.given_snapshot(table, ordinal)
    return table, snapshot_ids


def creation_updates(staged: Mapping[str, Any]) -> list[Json]:
    """Return the commit that completes a staged table, in the order of Spark's Java client."""
    needed = ("table-uuid", "format-version", "last-column-id", "location")
    lists = ("schemas", "partition-specs", "sort-orders")
    missing = [m for m in needed if m not in staged] + [m for m in lists if not staged.get(m)]
    if missing:
        raise Blocked("schema.createTable.200", f"the staged metadata has no {missing[0]}")
    schema, spec, order = (staged[member][0] for member in lists)
    last_column_id = staged["last-column-id"]
    return [
        {"action": "assign-uuid", "uuid": staged["table-uuid"]},
        {"action": "upgrade-format-version", "format-version": staged["format-version"]},
        {"action": "add-schema", "schema": schema, "last-column-id": last_column_id},
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": spec},
        {"action": "set-default-spec", "spec-id": -1},
        {"action": "add-sort-order", "sort-order": order},
        {"action": "set-default-sort-order", "sort-order-id": -1},
        {"action": "set-location", "location": staged["location"]},
        {"action": "set-properties", "updates": dict(staged.get("properties") or {})},
    ]


def with_ids(member: str, *ids: int | str) -> Matcher:
    """Match a list of objects whose ids are exactly these, in any order."""

    def accepts(value: Any) -> bool:
        if not isinstance(value, list):
            return False
        found = [item.get(member) for item in value if isinstance(item, dict)]
        return sorted(map(str, found)) == sorted(map(str, ids))

    return Matcher(f"exactly {member} {', '.join(map(str, ids))}", accepts)
