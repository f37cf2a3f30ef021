"""Checks of the updates of snapshots, and of the branches and tags that name them."""

from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.client.given import given_commit, given_table, reloaded
from icecheck.findings.shared_symptoms import EFFECT_MISSING
from icecheck.judging.check import check, generated_check
from icecheck.judging.probes import has_capability
from icecheck.objects.committing import (
    NO_SNAPSHOT,
    commit,
    expect_effect,
    expect_refused,
    expect_unchanged,
    given_snapshots,
    given_table_of,
    given_table_since,
    shared_snapshots,
    with_ids,
)
from icecheck.objects.evolving import next_row_id
from icecheck.objects.metadata_view import metadata_in
from icecheck.replies.matching import Matcher, containing

BRANCH = "audit"
ANOTHER_BRANCH = "trial"
TAG = "release"
UNKNOWN_SNAPSHOT = 7_999_999_999_999_999_999
ADDED_ROWS = 10
TEN_YEARS_MS = 315_576_000_000
"""An age in milliseconds that 32 bits cannot hold."""

Json = dict[str, Any]


def add_snapshot(snapshot: Json) -> Json:
    """Return the update that adds a snapshot."""
    return {"action": "add-snapshot", "snapshot": snapshot}


def remove_snapshots(*snapshot_ids: int) -> Json:
    """Return the update that removes snapshots."""
    return {"action": "remove-snapshots", "snapshot-ids": [*snapshot_ids]}


def lacking_ref(name: str) -> Matcher:
    """Match refs without this name; absent and null refs match too."""
    return Matcher(f"no ref {name}", lambda v: not isinstance(v, dict) or name not in v)


def naming(snapshot_id: int, *names: str) -> Matcher:
    """Match refs with exactly these names, all at the same snapshot."""

    def accepts(value: Any) -> bool:
        if not isinstance(value, dict):
            return False
        found = {name: (ref or {}).get("snapshot-id") for name, ref in value.items()}
        return found == dict.fromkeys(names, snapshot_id)

    return Matcher(f"{' and '.join(names)}, and no other ref", accepts)


# ---- snapshots


@check(
    "update.add-snapshot",
    proves="update.add-snapshot.effect",
    needs=("metadata-only-snapshots", "snapshot-history"),
)
def test_add_snapshot(catalog: Catalog) -> None:
    """add-snapshot adds the snapshot as it was sent and moves no branch."""
    table = given_table(catalog)
    staged = bodies.snapshot(table.metadata)
    expect_effect(
        catalog,
        table,
        [add_snapshot(staged)],
        {"snapshots": containing(staged)},
        what="snapshot",
        beside={"refs": lacking_ref("main"), "current-snapshot-id": NO_SNAPSHOT},
    )


@check("update.add-snapshot.operations", needs=("metadata-only-snapshots", "snapshot-history"))
def test_snapshots_of_every_operation(catalog: Catalog) -> None:
    """Snapshots of all four operations are stored as sent, parents and summaries included."""
    table = given_table(catalog)
    added: list[Json] = []
    for ordinal, operation in enumerate(("append", "replace", "overwrite", "delete"), start=1):
        summary = {"operation": operation, "icecheck.offset": f" {ordinal} ", "icecheck.empty": ""}
        parent = added[-1]["snapshot-id"] if added else None
        added.append(bodies.snapshot(table.metadata, ordinal, parent=parent, summary=summary))
    expect_effect(
        catalog,
        table,
        [*map(add_snapshot, added), bodies.snapshot_ref(added[-1]["snapshot-id"])],
        {"snapshots": containing(*added)},
        what="snapshot",
    )


@check(
    "update.add-snapshot.duplicate",
    proves="update.add-snapshot.duplicate-refused",
    needs=("metadata-only-snapshots",),
)
def test_add_a_snapshot_twice(catalog: Catalog) -> None:
    """A second snapshot with the id of a first one is refused."""
    table, [first, _] = shared_snapshots(catalog)
    again = bodies.snapshot(table.metadata, 3, snapshot_id=first)
    expect_refused(catalog, table, [add_snapshot(again)], 400)


@check("update.add-snapshot.sequence-number", needs=("metadata-only-snapshots",))
def test_last_sequence_number_follows(catalog: Catalog) -> None:
    """last-sequence-number is the sequence number of the snapshot added last."""
    table = given_table_since(catalog, 2)
    added = bodies.snapshot(table.metadata)
    expect_effect(
        catalog,
        table,
        [add_snapshot(added), bodies.snapshot_ref(added["snapshot-id"])],
        {"last-sequence-number": added["sequence-number"]},
        what="last-sequence-number",
    )


@check("update.add-snapshot.version-1", needs=("metadata-only-snapshots", "format-version-1"))
def test_snapshot_of_version_1(catalog: Catalog) -> None:
    """A table of format version 1 takes a snapshot without a sequence number."""
    table = given_table_of(catalog, 1)
    added = bodies.snapshot(table.metadata)
    expect_effect(
        catalog,
        table,
        [add_snapshot(added), bodies.snapshot_ref(added["snapshot-id"])],
        {"current-snapshot-id": added["snapshot-id"], "format-version": 1},
        what="snapshot",
    )


@check("update.add-snapshot.next-row-id", needs=("metadata-only-snapshots", "format-version-3"))
def test_next_row_id_follows(catalog: Catalog) -> None:
    """next-row-id is above the rows of the snapshots added so far."""
    table = given_table_of(catalog, 3)
    for ordinal in (1, 2):
        # The first row is at first-row-id; how many there are, no member of the document says.
        least = next_row_id(table) + 1
        added = bodies.snapshot(table.metadata, ordinal, added_rows=ADDED_ROWS)
        table = expect_effect(
            catalog,
            table,
            [add_snapshot(added), bodies.snapshot_ref(added["snapshot-id"])],
            {"next-row-id": at_least(least)},
            what="next-row-id",
        )


def at_least(least: int) -> Matcher:
    """Match an integer of at least this value."""
    return Matcher(f"at least {least}", lambda v: isinstance(v, int) and v >= least)


@check(
    "update.remove-snapshots",
    proves="update.remove-snapshots.effect",
    needs=("metadata-only-snapshots", "snapshot-history"),
)
def test_remove_snapshots(catalog: Catalog) -> None:
    """remove-snapshots removes the named snapshots and leaves the others."""
    table, [first, second, third, fourth] = given_snapshots(catalog, 4)
    expect_effect(
        catalog,
        table,
        [remove_snapshots(second, third)],
        {"snapshots": with_ids("snapshot-id", first, fourth), "current-snapshot-id": fourth},
        what="removed-snapshot",
    )


@check(
    "update.remove-snapshots.with-ref",
    proves="update.remove-snapshots.no-dangling-ref",
    needs=("metadata-only-snapshots", "snapshot-history", "branches"),
)
def test_remove_a_snapshot_that_a_branch_names(catalog: Catalog) -> None:
    """No branch names a snapshot that was removed."""
    table, [first, _] = given_snapshots(catalog, 2)
    table = given_commit(catalog, table, [bodies.snapshot_ref(first, BRANCH)])
    before = reloaded(catalog, table)
    reply = commit(catalog, table, [remove_snapshots(first)])
    if not reply.ok:
        reply.expect_refused()
        expect_unchanged(catalog, before)
        return
    shown = catalog.load_table(table.namespace, table.name).expect(200)
    if _dangles(metadata_in(shown), first, BRANCH):
        due, found = "no ref to a snapshot that is gone", "a ref to it"
        raise shown.violation(EFFECT_MISSING.of("dangling-ref"), due, found)


def _dangles(metadata: Any, removed: int, name: str) -> bool:
    """Return whether a ref has this name although its snapshot is removed."""
    there = {each.get("snapshot-id") for each in metadata.get("snapshots") or ()}
    return removed not in there and name in (metadata.get("refs") or {})


# ---- branches and tags


@check(
    "update.set-snapshot-ref",
    proves="update.set-snapshot-ref.effect",
    needs=("metadata-only-snapshots", "branches", "tags"),
)
def test_set_snapshot_ref(catalog: Catalog) -> None:
    """set-snapshot-ref makes branches and a tag, and moves the one branch alone."""
    table, [first, second] = given_snapshots(catalog, 2)
    if not has_capability(catalog, "snapshot-history"):
        first = second  # a ref to a snapshot that is not shown need not be shown either
    made = [bodies.snapshot_ref(first, BRANCH), bodies.snapshot_ref(first, TAG, "tag")]
    made.append(bodies.snapshot_ref(first, ANOTHER_BRANCH))
    table = expect_effect(
        catalog,
        table,
        made,
        {
            "refs": {
                BRANCH: {"type": "branch", "snapshot-id": first},
                TAG: {"type": "tag", "snapshot-id": first},
                ANOTHER_BRANCH: {"type": "branch", "snapshot-id": first},
                "main": {"type": "branch", "snapshot-id": second},
            }
        },
        what="ref",
    )
    expect_effect(
        catalog,
        table,
        [bodies.snapshot_ref(second, BRANCH)],
        {
            "refs": {
                BRANCH: {"snapshot-id": second},
                **{name: {"snapshot-id": first} for name in (TAG, ANOTHER_BRANCH)},
            }
        },
        what="moved-ref",
    )


@check(
    "update.set-snapshot-ref.main",
    proves="update.set-snapshot-ref.main-is-current",
    needs=("metadata-only-snapshots",),
)
def test_main_is_current(catalog: Catalog) -> None:
    """The snapshot that main is set to becomes the current one."""
    table = given_table(catalog)
    added = bodies.snapshot(table.metadata)
    snapshot_id = added["snapshot-id"]
    expect_effect(
        catalog,
        table,
        [add_snapshot(added), bodies.snapshot_ref(snapshot_id)],
        {"current-snapshot-id": snapshot_id, "refs": {"main": {"snapshot-id": snapshot_id}}},
        what="current-snapshot-id",
        requirements=[{"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": None}],
    )


@check("update.set-snapshot-ref.retention", needs=("metadata-only-snapshots", "branches", "tags"))
def test_retention_is_kept(catalog: Catalog) -> None:
    """The retention settings of a branch and of a tag are those that were sent last."""
    table, [first] = given_snapshots(catalog, 1)
    sent = bodies.snapshot_ref(
        first,
        BRANCH,
        min_snapshots_to_keep=3,
        max_snapshot_age_ms=86_400_000,
        max_ref_age_ms=TEN_YEARS_MS,
    )
    kept = {k: v for k, v in sent.items() if k not in {"action", "ref-name"}}
    tag = bodies.snapshot_ref(first, TAG, "tag", max_ref_age_ms=TEN_YEARS_MS)
    refs = {BRANCH: kept, TAG: {"max-ref-age-ms": TEN_YEARS_MS}}
    table = expect_effect(catalog, table, [sent, tag], {"refs": refs}, what="ref-retention")
    shorter = {**sent, "max-ref-age-ms": 3_600_000}
    expect_effect(
        catalog,
        table,
        [shorter],
        {"refs": {**refs, BRANCH: {**kept, "max-ref-age-ms": 3_600_000}}},
        what="ref-retention",
    )


@check(
    "update.set-snapshot-ref.unknown-snapshot",
    proves="update.set-snapshot-ref.unknown-snapshot-refused",
    needs=("metadata-only-snapshots",),
)
def test_ref_to_an_unknown_snapshot(catalog: Catalog) -> None:
    """The main branch cannot be set to a snapshot that the table does not have."""
    table, _ = shared_snapshots(catalog)
    expect_refused(catalog, table, [bodies.snapshot_ref(UNKNOWN_SNAPSHOT)])


@check(
    "update.remove-snapshot-ref",
    proves="update.remove-snapshot-ref.effect",
    needs=("metadata-only-snapshots", "branches", "tags"),
)
def test_remove_snapshot_ref(catalog: Catalog) -> None:
    """remove-snapshot-ref removes the refs it names, and neither their snapshots nor others."""
    table, [first] = given_snapshots(catalog, 1)
    # Where possible, the branch is the only ref of its snapshot: the snapshot must stay even then.
    own = bodies.snapshot(table.metadata, 2, parent=first)
    alone = has_capability(catalog, "snapshot-history")
    named = own["snapshot-id"] if alone else first
    gone = "gone"  # other refs name its snapshot, and must stay
    made = [bodies.snapshot_ref(named, BRANCH)]
    made += [bodies.snapshot_ref(first, name, "tag") for name in (TAG, gone)]
    table = given_commit(catalog, table, [*([add_snapshot(own)] if alone else []), *made])
    expect_effect(
        catalog,
        table,
        [{"action": "remove-snapshot-ref", "ref-name": name} for name in (BRANCH, gone)],
        {"refs": naming(first, TAG, "main"), "snapshots": containing({"snapshot-id": named})},
        what="removed-ref",
    )


@check("update.remove-snapshot-ref.main", needs=("metadata-only-snapshots",))
def test_remove_main(catalog: Catalog) -> None:
    """A commit that removes main is accepted."""
    table, _ = given_snapshots(catalog, 1)
    commit(catalog, table, [{"action": "remove-snapshot-ref", "ref-name": "main"}]).expect(200)


@generated_check(
    "update.set-snapshot-ref.before-main",
    proves=("update.set-snapshot-ref.effect", "update.set-snapshot-ref.main-is-current"),
    needs=("metadata-only-snapshots", "snapshot-history", "branches"),
)
def test_a_branch_before_main(catalog: Catalog) -> None:
    """On a table without main, setting another branch makes no main and no current snapshot."""
    table = given_table(catalog)
    added = bodies.snapshot(table.metadata)
    snapshot_id = added["snapshot-id"]
    having = Matcher("that branch", lambda v: isinstance(v, dict) and BRANCH in v)
    alone = Matcher("that branch alone", lambda v: isinstance(v, dict) and [*v] == [BRANCH])
    table = expect_effect(
        catalog,
        table,
        [add_snapshot(added), bodies.snapshot_ref(snapshot_id, BRANCH, "branch")],
        {"refs": having},
        what="ref",
        beside={"refs": alone, "current-snapshot-id": NO_SNAPSHOT},
        requirements=[{"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": None}],
        capability="branches",
    )
    expect_effect(
        catalog,
        table,
        [bodies.snapshot_ref(snapshot_id)],
        {"refs": {"main": {"snapshot-id": snapshot_id}}, "current-snapshot-id": snapshot_id},
        what="refs",
        requirements=[{"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": None}],
    )
