"""Checks of whole commits: requirements first, all or nothing, update order, and other writers."""

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.client.given import given_table, reloaded, shared_table
from icecheck.findings.shared_symptoms import REQUIREMENT_IGNORED
from icecheck.findings.symptoms import Severity, declare
from icecheck.judging.check import check, generated_check
from icecheck.judging.probes import is_refusal
from icecheck.objects.committing import (
    commit,
    expect_effect,
    expect_loaded,
    expect_refused,
    expect_unchanged,
    given_snapshots,
    same_table,
    set_property,
)
from icecheck.objects.evolving import last_column_id, number, schema_addition, wider_schema
from icecheck.objects.reading import not_applicable
from icecheck.replies.matching import ABSENT, Matcher

_SEVERAL_VERSIONS = declare(
    "several-versions",
    "Carries out one commit in several versions",
    Severity.FALSE_OR_LOST,
    "every client: it may load a state that nobody committed",
)

UNKNOWN_ID = 4711
IMPOSSIBLE = {"action": "set-current-schema", "schema-id": UNKNOWN_ID}
WRONG_UUID = {"type": "assert-table-uuid", "uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1"}
LAST_ADDED = {"action": "set-current-schema", "schema-id": -1}


def schema_is(schema_id: int) -> dict[str, object]:
    """Return the requirement that this schema is the current one."""
    return {"type": "assert-current-schema-id", "current-schema-id": schema_id}


# ---- all or nothing


@check("commit.atomic-on-failed-requirement")
def test_nothing_is_applied_when_a_requirement_fails(catalog: Catalog) -> None:
    """When one requirement fails, none of the updates is applied."""
    table = shared_table(catalog)
    updates = [set_property("1"), schema_addition(table.metadata, wider_schema(table))]
    accepted = REQUIREMENT_IGNORED
    expect_refused(catalog, table, updates, requirements=[WRONG_UUID], accepted=accepted)


@check("commit.atomic-on-refused-update")
def test_nothing_is_applied_when_an_update_is_refused(catalog: Catalog) -> None:
    """When one update cannot be applied, none of the others is."""
    table = shared_table(catalog)
    expect_refused(catalog, table, [set_property("1"), IMPOSSIBLE, set_property("2", "after")])


@check("commit.requirements-before-updates")
def test_requirements_come_first(catalog: Catalog) -> None:
    """A commit with a failing requirement and an impossible update is a conflict."""
    table = shared_table(catalog)
    expect_refused(catalog, table, [IMPOSSIBLE], 409, requirements=[WRONG_UUID])


@check("commit.requirements-against-base")
def test_requirements_are_about_the_version_before(catalog: Catalog) -> None:
    """Requirements are judged against the table as it was before the commit's own updates."""
    table = given_table(catalog)
    before = number(table, "current-schema-id")
    evolve = [schema_addition(table.metadata, wider_schema(table)), LAST_ADDED]
    expect_refused(catalog, table, evolve, 409, requirements=[schema_is(before + 1)])
    changed = Matcher(f"another id than {before}", lambda v: isinstance(v, int) and v != before)
    expect_effect(
        catalog,
        table,
        evolve,
        {"current-schema-id": changed},
        what="current-schema-id",
        requirements=[schema_is(before)],
    )


@check("commit.every-requirement-counts")
def test_every_requirement_counts(catalog: Catalog) -> None:
    """One failing requirement fails the commit, wherever it stands among those that hold."""
    table = shared_table(catalog)
    holds = [same_table(table), schema_is(number(table, "current-schema-id"))]
    before = reloaded(catalog, table)
    for position in range(len(holds) + 1):
        requirements = [*holds[:position], WRONG_UUID, *holds[position:]]
        reply = catalog.update_table(table.namespace, table.name, [set_property("1")], requirements)
        reply.expect(409, detail=f"requirement {position + 1} of {len(requirements)} fails")
        expect_unchanged(catalog, before)


# ---- in order


@check("commit.updates-in-order")
def test_updates_are_applied_in_order(catalog: Catalog) -> None:
    """Updates are applied in the order sent: a later one overrides an earlier one."""
    table = given_table(catalog)
    updates = [
        set_property("first", "set-twice"),
        set_property("once", "removed"),
        set_property("before", "set-again"),
        {"action": "remove-properties", "removals": ["removed", "set-again"]},
        set_property("last", "set-twice"),
        set_property("again", "set-again"),
    ]
    expected = {"set-twice": "last", "removed": ABSENT, "set-again": "again"}
    expect_effect(catalog, table, updates, {"properties": expected}, what="update-order")


@check(
    "commit.ref-removed-and-set-again",
    proves="commit.updates-in-order",
    needs=("metadata-only-snapshots",),
)
def test_a_ref_is_removed_and_set_again(catalog: Catalog) -> None:
    """A ref that a commit removes and then sets exists afterwards.

    Another check judges whether main may be removed.
    """
    table, _ = given_snapshots(catalog, 1)
    added = bodies.snapshot(table.metadata, 2)
    updates = [
        {"action": "remove-snapshot-ref", "ref-name": "main"},
        {"action": "add-snapshot", "snapshot": added},
        bodies.snapshot_ref(added["snapshot-id"]),
    ]
    expected = {
        "current-snapshot-id": added["snapshot-id"],
        "refs": {"main": {"snapshot-id": added["snapshot-id"], "type": "branch"}},
    }
    reply = commit(catalog, table, updates)
    if is_refusal(reply):
        raise not_applicable(f"the catalog answers a removal of main with {reply.status}")
    reply.expect(200)
    expect_loaded(catalog, table, expected, what="update-order")


@check(
    "commit.main-moved-twice",
    proves="commit.updates-in-order",
    needs=("metadata-only-snapshots",),
)
def test_main_is_moved_twice(catalog: Catalog) -> None:
    """Two appends in one commit are applied in the order in which they were sent."""
    table = given_table(catalog)
    first = bodies.snapshot(table.metadata)
    second = bodies.snapshot(table.metadata, 2, parent=first["snapshot-id"])
    updates = [
        update
        for added in (first, second)
        for update in (
            {"action": "add-snapshot", "snapshot": added},
            bodies.snapshot_ref(added["snapshot-id"]),
        )
    ]
    expected = {
        "current-snapshot-id": second["snapshot-id"],
        "refs": {"main": {"snapshot-id": second["snapshot-id"], "type": "branch"}},
    }
    expect_effect(catalog, table, updates, expected, what="update-order")


@generated_check(
    "commit.other-refs-in-order",
    proves="commit.updates-in-order",
    needs=("metadata-only-snapshots", "snapshot-history", "branches", "tags"),
)
def test_other_refs_are_changed_in_order(catalog: Catalog) -> None:
    """In one commit a branch is moved twice, and a tag is removed and set again."""
    table, [first, second] = given_snapshots(catalog, 2)
    updates = [
        bodies.snapshot_ref(first, "audit"),
        bodies.snapshot_ref(second, "audit"),
        bodies.snapshot_ref(first, "mark", "tag"),
        {"action": "remove-snapshot-ref", "ref-name": "mark"},
        bodies.snapshot_ref(second, "mark", "tag"),
    ]
    kept = {"audit": {"type": "branch", "snapshot-id": second}}
    kept["mark"] = {"type": "tag", "snapshot-id": second}
    expected = {"current-snapshot-id": second, "refs": kept}
    expect_effect(catalog, table, updates, expected, what="update-order")


@check("commit.several-updates", needs=("metadata-only-snapshots",))
def test_several_updates(catalog: Catalog) -> None:
    """A commit of several updates applies every one of them in one new version."""
    table = given_table(catalog)
    added = bodies.snapshot(table.metadata)
    last = last_column_id(table.metadata)
    updates = [
        set_property("1"),
        schema_addition(table.metadata, wider_schema(table)),
        {"action": "add-sort-order", "sort-order": bodies.sort_order(1)},
        {"action": "set-default-sort-order", "sort-order-id": -1},
        {"action": "add-snapshot", "snapshot": added},
        bodies.snapshot_ref(added["snapshot-id"]),
    ]
    answer = commit(catalog, table, updates).expect(200)
    sorted_now = Matcher("a sorted order's id", lambda v: isinstance(v, int) and v != 0)
    expected = {
        "properties": {"icecheck": "1"},
        "last-column-id": last + 1,
        "default-sort-order-id": sorted_now,
        "current-snapshot-id": added["snapshot-id"],
    }
    after = expect_loaded(catalog, table, expected, what="one-of-several-updates")
    answered = answer.member("metadata-location")
    replaced = [each.get("metadata-file") for each in after.metadata.get("metadata-log") or ()]
    if after.metadata_location != answered and answered in replaced:
        raise answer.violation(
            _SEVERAL_VERSIONS,
            "one new version for all updates",
            "a further one",
            detail="the metadata log names the file of the answered version as replaced",
        )


# ---- other writers


@check("commit.one-winner", needs=("metadata-only-snapshots",))
def test_one_winner(catalog: Catalog) -> None:
    """Of two appends to the same base, the first succeeds and the second is a conflict."""
    table, [first] = given_snapshots(catalog, 1)
    still_first = {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": first}
    winner, loser = (bodies.snapshot(table.metadata, n, parent=first) for n in (2, 3))
    appends = [
        [{"action": "add-snapshot", "snapshot": s}, bodies.snapshot_ref(s["snapshot-id"])]
        for s in (winner, loser)
    ]
    commit(catalog, table, appends[0], [still_first]).expect(200)
    commit(catalog, table, appends[1], [still_first]).expect(409, detail="the second writer")
    expect_loaded(
        catalog, table, {"current-snapshot-id": winner["snapshot-id"]}, what="first-writer"
    )


@check("commit.independent-writers")
def test_independent_writers(catalog: Catalog) -> None:
    """Commits of writers that loaded the same version and change different things are all kept."""
    table = given_table(catalog)
    kept = {}
    for writer in ("one", "two", "three"):
        reply = commit(catalog, table, [set_property("1", writer)])
        if reply.status != 409:
            reply.expect(200, 409, detail=f"writer {writer}")
            kept[writer] = "1"
    expect_loaded(catalog, table, {"properties": kept}, what="acknowledged-commit")


@check("commit.same-commit-twice", needs=("metadata-only-snapshots",))
def test_the_same_commit_twice(catalog: Catalog) -> None:
    """A commit that is sent again after it succeeded is refused, and changes nothing."""
    table = given_table(catalog)
    added = bodies.snapshot(table.metadata)
    updates = [
        {"action": "add-snapshot", "snapshot": added},
        bodies.snapshot_ref(added["snapshot-id"]),
    ]
    empty = {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": None}
    commit(catalog, table, updates, [empty]).expect(200)
    # Its snapshot exists already: 409 and 400 are both correct, and
    # commit.requirements-before-updates judges which one comes first.
    expect_refused(catalog, table, updates, 400, 409, requirements=[empty])
