"""Checks of rules for a table's metadata after any commit: nothing is lost or rounded."""

from collections.abc import Iterator, Sequence
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import given_commit, given_table, reloaded, shared_table
from icecheck.conformance.kit.bisection import REPAIRED, expect_no_breakdown
from icecheck.conformance.kit.log_times import expect_times_in_order
from icecheck.findings.shared_symptoms import EFFECT_MISSING
from icecheck.findings.symptoms import UNNAMED_CHANGED, Severity, Symptom, declare
from icecheck.judging.check import check
from icecheck.objects import metadata_view as view
from icecheck.objects.committing import (
    commit,
    expect_effect,
    expect_loaded,
    expect_unchanged,
    given_snapshots,
    given_table_of,
    keeps_updates,
    same_table,
    set_property,
    shared_snapshots,
)
from icecheck.objects.evolving import added_column, next_row_id, schema_addition, wider_schema
from icecheck.objects.reading import expect_bad_request, not_applicable
from icecheck.replies.expect import Reply, equal
from icecheck.replies.matching import ABSENT, Matcher, containing, difference

_CHANGED_UNASKED = declare(
    "changed-unasked",
    "A commit alters what its updates do not name",
    Severity.FALSE_OR_LOST,
    UNNAMED_CHANGED,
)
_NEXT_ROW_ID = declare(
    "next-row-id",
    "next-row-id is not where the rows of the next snapshot start",
    Severity.FALSE_OR_LOST,
    "every client that tracks rows: row ids are given twice, or are missing",
)

Json = dict[str, Any]

HISTORY = ("metadata-only-snapshots", "snapshot-history")
KEPT = "icecheck.kept"
UNKNOWN_ID = 4711
LARGEST = 2**63 - 1
JUST_BELOW = LARGEST - 6
ODD = 2**53 + 1
"""The first integer that a double cannot hold; adding an even number gives another one."""


def add_snapshot(snapshot: Json) -> Json:
    """Return the update that adds a snapshot."""
    return {"action": "add-snapshot", "snapshot": snapshot}


# ---- nothing is lost


def given_full_table(catalog: Catalog) -> Table:
    """Return a table with data of every kind that each catalog must store."""
    table = given_table(
        catalog,
        spec=bodies.partition_spec(bodies.partition_field(1, "bucket[4]", "id_bucket", 1000)),
        write_order=bodies.sort_order(1),
        properties={KEPT: " 1 "},
    )
    summary = {"operation": "append", "added-records": "0", "icecheck.offset": "17"}
    added = bodies.snapshot(table.metadata, summary=summary)
    snapshot_id = added["snapshot-id"]
    updates = [
        schema_addition(table.metadata, wider_schema(table)),
        add_snapshot(added),
        bodies.snapshot_ref(snapshot_id),
        bodies.set_statistics(bodies.statistics_file(table.metadata, snapshot_id)),
    ]
    return given_commit(catalog, table, updates)


@check("commit.changes-nothing-else", needs=("metadata-only-snapshots",))
def test_nothing_else_changes(catalog: Catalog) -> None:
    """A commit leaves alone what its updates do not name."""
    before = reloaded(catalog, given_full_table(catalog))
    commit(catalog, before, [set_property("1")]).expect(200)
    reply = catalog.load_table(before.namespace, before.name).expect(200)
    was = view.settled(before.metadata, KEPT)
    now = view.settled(view.metadata_in(reply), KEPT)
    changed = [member for member in was if was[member] != now[member]]
    if changed:
        raise reply.violation(
            _CHANGED_UNASKED,
            "everything but one property as it was",
            "something else changed",
            detail=", ".join(changed),
            pointer=f"/metadata/{changed[0]}",
        )


@check("commit.logs-in-order", needs=("metadata-only-snapshots",))
def test_logs_are_in_order(catalog: Catalog) -> None:
    """The times of a table's logs run forwards, up to the time of its last update."""
    table, _ = shared_snapshots(catalog)
    reply = catalog.load_table(table.namespace, table.name).expect(200)
    expect_times_in_order(reply)


# ---- unreadable values are refused


def _outside_enumerations(table: Table, snapshot_id: int) -> dict[str, Json]:
    """Return valid updates except for one value that the document does not list."""
    [field] = bodies.sort_order(1)["fields"]
    wrong_direction, wrong_nulls = (
        {"order-id": 1, "fields": [{**field, **wrong}]}
        for wrong in ({"direction": "sideways"}, {"null-order": "nulls-anywhere"})
    )
    return {
        "a ref that is neither branch nor tag": bodies.snapshot_ref(snapshot_id, "main", "mark"),
        "an unknown direction": {"action": "add-sort-order", "sort-order": wrong_direction},
        "an unknown null order": {"action": "add-sort-order", "sort-order": wrong_nulls},
    }


@check("commit.enumerations", needs=("metadata-only-snapshots",))
def test_values_outside_an_enumeration(catalog: Catalog) -> None:
    """An update with a value that the document does not list is refused, and nothing applied."""
    before, [_, snapshot_id] = shared_snapshots(catalog)
    for what, update in _outside_enumerations(before, snapshot_id).items():
        commit(catalog, before, [set_property("1"), update]).expect_refused(detail=what)
    expect_unchanged(catalog, before)


def _hard_to_keep(table: Table, snapshot_id: int) -> Iterator[tuple[str, Json, str, Json]]:
    """Yield what is odd, an update with it, a member of the metadata, and what it must then hold.

    No column of the format holds these values, or no list has them twice.
    """
    above = LARGEST + 1
    for what, members in {
        "a snapshot id of 64 bits and more": {"snapshot-id": above},
        "a time of 64 bits and more": {"timestamp-ms": above},
    }.items():
        added = bodies.snapshot(table.metadata, 2) | members
        yield what, add_snapshot(added), "snapshots", members
    for member, value in (("max-ref-age-ms", above), ("min-snapshots-to-keep", 2**31)):
        members = {member: value}
        yield f"{member} {value}", bodies.snapshot_ref(snapshot_id) | members, "refs", members
    file = bodies.statistics_file(table.metadata, snapshot_id)
    file["file-size-in-bytes"] = above
    yield "a size of 64 bits and more", bodies.set_statistics(file), "statistics", file
    column = added_column(table, "once")
    for what, members in {
        "two columns of one name": {"id": column["id"] + 1},
        "two columns of one id": {"name": "again"},
        "a column id of 32 bits and more": {"name": "again", "id": 2**31},
    }.items():
        schema = wider_schema(table, "once")
        schema["fields"] = fields = [*schema["fields"], column | members]
        yield what, schema_addition(table.metadata, schema), "schemas", {"fields": fields}
    twice = [bodies.partition_field(1, f"bucket[{n}]", "part", 1000 + n) for n in (1, 2)]
    update = {"action": "add-spec", "spec": bodies.partition_spec(*twice, spec_id=1)}
    yield "two partition fields of one name", update, "partition-specs", {"fields": twice}


def _symptom(due: Json, found: Sequence[Json], member: str) -> Symptom:
    """Return the symptom: another value was kept, or nothing of what was sent."""
    if any(due.keys() & each.keys() for each in found):
        return REPAIRED
    return EFFECT_MISSING.of(next(iter(due)) if len(due) == 1 else member)


@check("commit.kept-or-refused", proves="commit.kept-or-refused", needs=HISTORY)
def test_what_is_hard_to_keep_is_kept_or_refused(catalog: Catalog) -> None:
    """A commit of values that no table can hold, or not twice, is refused, or they are kept."""
    table, [snapshot_id] = given_snapshots(catalog, 1)
    answers: list[Reply] = []
    for what, update, member, due in _hard_to_keep(table, snapshot_id):
        answers.append(commit(catalog, table, [update]))
        if not answers[-1].ok:
            continue
        reply = catalog.load_table(table.namespace, table.name).expect(200)
        shown = view.metadata_in(reply).get(member) or ()
        found = [*shown.values()] if isinstance(shown, dict) else [*shown]
        if all(difference(due, each, exact=False) for each in found):
            raise reply.violation(
                _symptom(due, found, member),
                "what was sent, or a refusal",
                "something else",
                detail=what,
                pointer=f"/metadata/{member}",
            )
    expect_no_breakdown(answers)


@check("commit.unknown-ids", proves="commit.unknown-ids-are-400")
def test_status_of_unknown_ids(catalog: Catalog) -> None:
    """What names an id that the table does not have is refused with 400, if it is refused."""
    table = shared_table(catalog)
    updates: dict[str, Json] = {
        "an unknown schema": {"action": "set-current-schema", "schema-id": UNKNOWN_ID},
        "an unknown partition spec": {"action": "set-default-spec", "spec-id": UNKNOWN_ID},
        "an unknown sort order": {"action": "set-default-sort-order", "sort-order-id": UNKNOWN_ID},
        "an unknown snapshot": bodies.snapshot_ref(UNKNOWN_ID),
    }
    for what, update in updates.items():
        expect_bad_request(commit(catalog, table, [update]), what)


@check("commit.missing-members", proves="commit.members-required")
def test_missing_members(catalog: Catalog) -> None:
    """A commit without its list of requirements, or of updates, is refused."""
    table = shared_table(catalog)
    whole = {"requirements": [same_table(table)], "updates": [set_property("1")]}
    for missing in whole:
        body = {member: value for member, value in whole.items() if member != missing}
        reply = catalog.call(
            "updateTable", {"namespace": table.namespace, "table": table.name}, body=body
        )
        reply.expect(400, detail=f"without {missing}")
    expect_unchanged(catalog, table)


# ---- integers of 64 bits


@check("commit.int64-members", proves="commit.int64-exact", needs=("metadata-only-snapshots",))
def test_large_integers_everywhere(catalog: Catalog) -> None:
    """Ids, ages and sizes that no double can hold come back exactly, up to the largest."""
    table = given_table(catalog)
    parent, child = JUST_BELOW, LARGEST
    first = bodies.snapshot(table.metadata, 1, snapshot_id=parent)
    second = bodies.snapshot(table.metadata, 2, snapshot_id=child, parent=parent)
    main = bodies.snapshot_ref(child, max_snapshot_age_ms=ODD)
    file = bodies.statistics_file(table.metadata, child)
    [blob] = file["blob-metadata"]
    file["file-size-in-bytes"], file["file-footer-size-in-bytes"] = ODD + 2, ODD + 4
    file["blob-metadata"] = [{**blob, "sequence-number": ODD + 6}]
    due: Json = {
        "snapshots": containing({"snapshot-id": child, "parent-snapshot-id": parent}),
        "refs": {"main": {"snapshot-id": child, "max-snapshot-age-ms": ODD}},
    }
    updates = [add_snapshot(first), add_snapshot(second), main]
    if keeps_updates(catalog, [set_file := bodies.set_statistics(file)]):
        updates, due = [*updates, set_file], {**due, "statistics": [file]}
    table = expect_effect(catalog, table, updates, due, what="int64")
    partition_file = bodies.partition_statistics_file(table.metadata, child)
    partition_file["file-size-in-bytes"] = ODD + 8
    # Another check judges whether the catalog accepts this update (erratum E14).
    if commit(catalog, table, [bodies.set_partition_statistics(partition_file)]).ok:
        kept = {"partition-statistics": [partition_file]}
        expect_loaded(catalog, table, kept, what="int64")


@check(
    "commit.int64-row-ids",
    proves=("commit.int64-exact", "update.add-snapshot.first-row-id"),
    needs=("metadata-only-snapshots", "format-version-3", "snapshot-history"),
)
def test_large_row_ids(catalog: Catalog) -> None:
    """A snapshot's first row id and sequence number of 64 bits come back exactly."""
    table = given_table_of(catalog, 3)
    added = bodies.snapshot(table.metadata, first_row_id=ODD, added_rows=2, sequence_number=ODD + 2)
    updates = [add_snapshot(added), bodies.snapshot_ref(added["snapshot-id"])]
    reply = commit(catalog, table, updates)
    if reply.status == 400:
        raise not_applicable("the catalog lets sequence numbers and row ids leave no gap")
    reply.expect(200)
    kept = {m: added[m] for m in ("snapshot-id", "first-row-id", "sequence-number")}
    expect_loaded(catalog, table, {"snapshots": containing(kept)}, what="int64")


@check(
    "update.add-snapshot.next-row-id-exact", needs=("metadata-only-snapshots", "format-version-3")
)
def test_next_row_id_is_exact(catalog: Catalog) -> None:
    """next-row-id is where the next snapshot's rows start, in the answer and in a load."""
    table = given_table_of(catalog, 3)
    start, rows = next_row_id(table), 10
    due = Matcher(f"{rows} more than before", lambda v: v == start + rows)
    added = bodies.snapshot(table.metadata, added_rows=rows)
    updates = [add_snapshot(added), bodies.snapshot_ref(added["snapshot-id"])]
    answer = commit(catalog, table, updates).expect(200)
    answer.expect_json({"next-row-id": due}, at=["metadata"], symptom=_NEXT_ROW_ID)
    expect_loaded(catalog, table, {"next-row-id": due}, what="next-row-id")


@check(
    "update.add-snapshot.added-rows",
    needs=("metadata-only-snapshots", "format-version-3", "snapshot-history"),
)
def test_added_rows(catalog: Catalog) -> None:
    """The number of rows that a snapshot was sent with is shown as it was sent."""
    table = given_table_of(catalog, 3)
    added = bodies.snapshot(table.metadata, added_rows=10)
    updates = [add_snapshot(added), bodies.snapshot_ref(added["snapshot-id"])]
    commit(catalog, table, updates).expect(200)
    metadata = reloaded(catalog, table).metadata
    shown = {each.get("snapshot-id"): each for each in metadata.get("snapshots") or ()}
    found = shown.get(added["snapshot-id"], {}).get("added-rows", ABSENT)
    equal(found, 10, symptom=EFFECT_MISSING.of("added-rows"))
