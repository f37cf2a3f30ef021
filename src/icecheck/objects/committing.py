"""Commits as clients send them, and the functions that judge the effect of a commit."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import (
    given_loaded,
    given_snapshot,
    given_table,
    reloaded,
    shared_object,
    shared_table,
)
from icecheck.findings.shared_symptoms import (
    CHANGED_ALTHOUGH_REFUSED,
    CHANGED_BESIDE,
    EFFECT_MISSING,
)
from icecheck.findings.statuses import STATUS
from icecheck.findings.symptoms import UNNAMED_CHANGED, Severity, Symptom, declare
from icecheck.findings.verdict import SkipKind
from icecheck.judging.probes import has_capability, offered, require_capability
from icecheck.objects import metadata_view as view
from icecheck.replies.expect import Blocked, NotOffered, Reply, Violation
from icecheck.replies.matching import Matcher, show
from icecheck.targets.target import Namespace

METADATA_LOCATION_REUSED = declare(
    "metadata-location-reused",
    "Gives a new version the metadata location of an earlier one",
    Severity.FALSE_OR_LOST,
    "every client: the earlier version is overwritten",
)
RENAME_CHANGED_THE_TABLE = declare(
    "rename-changed-the-table",
    "Renaming a table changes the table",
    Severity.FALSE_OR_LOST,
    UNNAMED_CHANGED,
)

Json = dict[str, Any]

Send = Callable[[Catalog, Table, Sequence[Json], Sequence[Json]], Reply]
"""Commits updates to a table with requirements."""
MARK = "icecheck"
"""The property that ``set_property`` sets unless the caller names another one."""
_BRIEF_MAX = 40
_COUNTERS = frozenset(
    {"last-column-id", "last-partition-id", "last-sequence-number", "next-row-id"}
)
"""Members that follow from what was added: they lag behind where that is kept."""

NO_SNAPSHOT = Matcher(
    "no current snapshot (absent, null or -1)",
    lambda v: not isinstance(v, int) or v == -1,
)


NUMBERED = (
    ("assert-last-assigned-field-id", "last-assigned-field-id", "last-column-id"),
    ("assert-current-schema-id", "current-schema-id", "current-schema-id"),
    ("assert-last-assigned-partition-id", "last-assigned-partition-id", "last-partition-id"),
    ("assert-default-spec-id", "default-spec-id", "default-spec-id"),
    ("assert-default-sort-order-id", "default-sort-order-id", "default-sort-order-id"),
)
"""Type of an assertion of a number, its member, and the member of the metadata it is about."""


def numbered_assertions(metadata: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the assertions of numbers that hold for a table with these metadata."""
    return [
        {"type": type_, member: metadata[of_table]}
        for type_, member, of_table in NUMBERED
        if isinstance(metadata.get(of_table), int)
    ]


def same_table(table: Table) -> Json:
    """Return the requirement that Spark's Java client sends with every commit."""
    return {"type": "assert-table-uuid", "uuid": table.uuid}


def set_property(value: str, key: str = MARK) -> Json:
    """Return an update that every catalog can apply to every table."""
    return bodies.set_properties({key: value})


def commit(
    catalog: Catalog, table: Table, updates: Sequence[Any], requirements: Sequence[Any] = ()
) -> Reply:
    """Send updates under the requirement that the table is still the same one."""
    required = [same_table(table), *requirements]
    return catalog.update_table(table.namespace, table.name, updates, required)


def keeps_updates(catalog: Catalog, updates: Sequence[Json], family: str = "update") -> bool:
    """Return whether a check may rely on the effects of these updates (``Catalog.keeps``)."""
    return catalog.keeps(*(f"{family}.{update['action']}.effect" for update in updates))


def by_update(
    catalog: Catalog, table: Table, updates: Sequence[Json], assertions: Sequence[Json]
) -> Reply:
    """Commit to a table by updateTable."""
    return catalog.update_table(table.namespace, table.name, updates, assertions)


def by_transaction(
    catalog: Catalog, table: Table, updates: Sequence[Json], assertions: Sequence[Json]
) -> Reply:
    """Commit to a table by a transaction with this one change."""
    return catalog.commit_transaction([change_of(table, updates, assertions)])


def change_of(table: Table, updates: Sequence[Json], assertions: Sequence[Json]) -> Json:
    """Return a table's part of a transaction."""
    return {
        "identifier": table.identifier,
        "requirements": [*assertions],
        "updates": [*updates],
    }


def expect_effect(
    catalog: Catalog,
    table: Table,
    updates: Sequence[Any],
    expected: Mapping[str, Any],
    *,
    what: str,
    beside: Mapping[str, Any] = MappingProxyType({}),
    requirements: Sequence[Any] = (),
    capability: str | None = None,
) -> Table:
    """Commit, and judge that it is accepted and that a load then shows these metadata members.

    Returns the table as loaded. A commit that left no trace has the symptom
    "effect-missing:commit", whatever its updates are. ``beside`` are members that the updates do
    not name, as they are due all the same. A catalog may refuse the commit where ``capability`` is
    given.
    """
    reply = commit(catalog, table, updates, requirements)
    if capability is not None:
        offered(catalog, capability, reply)
    reply.expect(200)
    return expect_loaded(catalog, table, expected, what=what, beside=beside)


def expect_loaded(
    catalog: Catalog,
    before: Table,
    expected: Mapping[str, Any],
    *,
    what: str,
    beside: Mapping[str, Any] = MappingProxyType({}),
) -> Table:
    """Judge that a load shows these metadata members after an accepted commit."""
    reply = catalog.load_table(before.namespace, before.name).expect(200)
    metadata = view.metadata_in(reply)
    location = reply.json().get("metadata-location")
    # A location that the commit's answer spells in another way shows no other version.
    is_older = location is not None and location == before.metadata_location
    _expect_members(reply, expected, EFFECT_MISSING.of(what), is_older=is_older)
    for member, due in beside.items():
        _expect_members(reply, {member: due}, CHANGED_BESIDE.of(member), is_older=is_older)
    return Table(before.namespace, before.name, metadata, location)


def _expect_members(
    reply: Reply, expected: Mapping[str, Any], symptom: Symptom, *, is_older: bool
) -> None:
    try:
        reply.expect_json(dict(expected), at=("metadata",))
    except Violation as violation:
        finding = violation.finding
        due, came = (
            _brief(finding.expected, "what was committed"),
            _brief(finding.actual, "something else"),
        )
        member = "".join(finding.pointer.split("/")[2:3])
        if is_older:
            symptom = EFFECT_MISSING.of("commit")
            due, came = "a commit that takes effect", "the version before it"
        elif member in _COUNTERS and symptom.is_a(EFFECT_MISSING):
            symptom = EFFECT_MISSING.of(member)
        raise reply.violation(
            symptom,
            due,
            came,
            detail=f"{finding.pointer} is {finding.actual}, due is {finding.expected}",
            pointer=finding.pointer,
        ) from None


def _brief(text: str, instead: str) -> str:
    # Runs are compared by this text: it must not depend on names and locations of one run.
    return text if len(text) <= _BRIEF_MAX else instead


def expect_refused(
    catalog: Catalog,
    table: Table,
    updates: Sequence[Any],
    *statuses: int,
    requirements: Sequence[Any] = (),
    detail: str = "",
    accepted: Symptom = STATUS,
) -> None:
    """Commit, and judge that it is refused (any 4xx if no status is given) and changes nothing.

    ``accepted`` is the symptom of a commit that succeeds.
    """
    before = table if catalog.borrowed.has(table) else reloaded(catalog, table)
    reply = commit(catalog, table, updates, requirements)
    reply.expect_refused(*statuses, detail=detail, accepted=accepted)
    expect_unchanged(catalog, before, *_property_keys(updates))


def expect_last_added(
    catalog: Catalog, table: Table, update: Json, current: str, listed: str, id_member: str
) -> None:
    """Commit -1 alone, and judge that it is refused with 400, or names what the table has.

    "Last added" (L2784, L2809, L2834) may be read as added in this commit, or to this table.
    ``listed`` and ``id_member`` are where the metadata have the ids of which ``current`` is one.
    """
    reply = commit(catalog, table, [update])
    if not reply.ok:
        reply.expect_refused(400)
    after = view.metadata_in(catalog.load_table(table.namespace, table.name).expect(200))
    ids = {each.get(id_member) for each in after.get(listed) or [] if isinstance(each, dict)}
    was, now = table.metadata.get(current), after.get(current)
    if not reply.ok and now != was:
        raise reply.violation(CHANGED_ALTHOUGH_REFUSED, show(was), show(now), detail=current)
    if now != was and now not in ids:
        due = f"400, or a {current} that is in {listed}"
        raise reply.violation(EFFECT_MISSING.of(current), due, show(now))


def expect_unchanged(catalog: Catalog, before: Table, *property_keys: str) -> None:
    """Judge that a table is as an earlier load showed it, including these properties."""
    reply = catalog.load_table(before.namespace, before.name).expect(200)
    was = view.settled(before.metadata, MARK, *property_keys)
    now = view.settled(view.metadata_in(reply), MARK, *property_keys)
    changed = [member for member in was if was[member] != now[member]]
    location = reply.json().get("metadata-location")
    # An answer may leave the location out (L3284), and then shows no other version.
    told = location is not None and before.metadata_location is not None
    if told and location != before.metadata_location:
        changed.append("metadata-location")
    if changed:
        first = changed[0]
        raise reply.violation(
            CHANGED_ALTHOUGH_REFUSED,
            "the table as it was",
            "a changed table",
            detail=f"{', '.join(changed)}; {first} is {show(now.get(first, location), 80)}",
        )


def _property_keys(updates: Sequence[Any]) -> set[str]:
    """Return the keys of the properties that well-formed updates set."""
    sent = [u.get("updates") for u in updates if isinstance(u, dict)]
    return {key for properties in sent if isinstance(properties, dict) for key in properties}


def given_snapshots(
    catalog: Catalog, count: int, namespace: Namespace | None = None
) -> tuple[Table, list[int]]:
    """Return a table after this many commits of a snapshot to main, and the snapshot ids."""
    table = given_table(catalog, namespace)
    snapshot_ids = []
    for ordinal in range(1, count + 1):
        snapshot_ids.append(bodies.snapshot(table.metadata, ordinal)["snapshot-id"])
        table = given_snapshot(catalog, table, ordinal)
    return table, snapshot_ids


def shared_snapshots(catalog: Catalog) -> tuple[Table, list[int]]:
    """Return a shared table with two snapshots, and their ids, for reads and refused requests."""

    def make(lender: Catalog, namespace: Namespace) -> Table:
        return given_loaded(lender, given_snapshots(lender, 2, namespace)[0])

    table = shared_object(catalog, "snapshots", make)
    return table, [bodies.snapshot(table.metadata, n)["snapshot-id"] for n in (1, 2)]


def given_history(catalog: Catalog, table: Table) -> Table:
    """Give a table a snapshot, if the catalog accepts one whose files were never written."""
    offers = has_capability(catalog, "metadata-only-snapshots")
    return given_snapshot(catalog, table) if offers else table


def given_table_since(catalog: Catalog, version: int, **members: Any) -> Table:
    """Return a table of at least this format version: the default version where that is enough.

    ``members`` are those of ``bodies.create_table_body``.
    """
    table = given_table(catalog, **members)
    if table.metadata.get("format-version", version) >= version:
        return table
    require_capability(catalog, f"format-version-{version}")
    return given_table_of(catalog, version, **members)


def given_table_of(catalog: Catalog, version: int, **members: Any) -> Table:
    """Return a table of exactly this format version, where the catalog makes the requested one.

    Another check has the finding for a catalog that makes another version.
    """
    table = given_table(catalog, properties={"format-version": str(version)}, **members)
    if table.metadata.get("format-version", version) != version:
        reason = f"the catalog makes no table of format version {version} when it is asked for one"
        raise NotOffered(reason, SkipKind.NOT_APPLICABLE)
    return table


def shared_table_since(catalog: Catalog, version: int) -> Table:
    """Return a shared table of at least this format version, for read-only or refused requests."""
    table = shared_table(catalog)
    since = table.metadata.get("format-version", version) >= version
    return table if since else given_table_since(catalog, version)


def creation_updates(staged: Mapping[str, Any]) -> list[Json]:
    """Return the updates that complete a staged table, in the order of Spark's Java client."""
    needed = ("table-uuid", "format-version", "last-column-id", "location")
    parts = {
        "current schema": view.current_schema(staged),
        "default spec": view.default_spec(staged),
        "default sort order": view.default_sort_order(staged),
    }
    if missing := [m for m in needed if m not in staged]:
        raise Blocked("schema.createTable.200", f"the staged metadata has no {missing[0]}")
    if missing := [m for m in parts if not parts[m]]:
        raise Blocked("loadTable.full-metadata", f"the staged metadata has no {missing[0]}")
    schema, spec, order = parts.values()
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
        bodies.set_properties(dict(staged.get("properties") or {})),
    ]


def with_ids(member: str, *ids: int | str) -> Matcher:
    """Match a list of objects whose ids are exactly these, in any order."""

    def accepts(value: Any) -> bool:
        if not isinstance(value, list):
            return False
        found = [item.get(member) for item in value if isinstance(item, dict)]
        return sorted(map(str, found)) == sorted(map(str, ids))

    return Matcher(f"exactly {member} {', '.join(map(str, ids))}", accepts)
