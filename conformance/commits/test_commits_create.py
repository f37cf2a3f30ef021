"""Checks of updateTable with assert-create: the commit that creates a staged table."""

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import given_namespace, given_table, reloaded
from icecheck.findings.shared_symptoms import EFFECT_MISSING
from icecheck.judging.check import check
from icecheck.objects import metadata_view as view
from icecheck.objects.committing import creation_updates
from icecheck.replies.expect import Reply, equal
from icecheck.replies.matching import ANY_STRING, containing
from icecheck.targets.target import Namespace

NEEDS = ("stage-create",)
ASSERT_CREATE = {"type": "assert-create"}


def given_staged_table(catalog: Catalog, namespace: Namespace | None = None) -> Table:
    """Stage a table with everything that a CREATE statement may give it."""
    return given_table(
        catalog,
        namespace,
        spec=bodies.partition_spec(bodies.partition_field(1, "bucket[4]", "id_bucket", 1000)),
        write_order=bodies.sort_order(2),
        properties={"owner": "icecheck"},
        stage_create=True,
    )


def complete(catalog: Catalog, staged: Table, *more: object) -> Reply:
    """Commit the updates that complete a staged table, and further updates with them."""
    updates = [*creation_updates(staged.metadata), *more]
    return catalog.update_table(staged.namespace, staged.name, updates, [ASSERT_CREATE])


@check("commit.completes-staged-table", proves="createTable.stage-then-commit", needs=NEEDS)
def test_complete_a_staged_table(catalog: Catalog) -> None:
    """Committing what staging answered makes the table exist as it was staged."""
    staged = given_staged_table(catalog, given_namespace(catalog))
    complete(catalog, staged).expect(200).expect_json({"metadata-location": ANY_STRING})
    after = reloaded(catalog, staged).metadata
    before = staged.metadata
    for what, seen in (
        ("schema", lambda m: view.shape(view.current_schema(m))),
        ("partition-spec", view.partition_fields),
        ("sort-order", view.sort_fields),
        ("location", lambda m: view.place(m.get("location"))),
        ("properties", lambda m: (m.get("properties") or {}).get("owner")),
    ):
        equal(seen(after), seen(before), symptom=EFFECT_MISSING.of(f"staged-{what}"))
    listed = catalog.list_tables(staged.namespace).expect(200)
    listed.expect_json(
        {"identifiers": containing(staged.identifier)},
        symptom=EFFECT_MISSING.of("table-not-listed"),
    )


@check(
    "commit.completes-staged-table-with-data",
    proves="createTable.stage-then-commit-with-data",
    needs=("metadata-only-snapshots", *NEEDS),
)
def test_complete_a_staged_table_with_its_first_snapshot(catalog: Catalog) -> None:
    """The commit that completes a staged table may add its first snapshot, as CTAS does."""
    staged = given_staged_table(catalog)
    added = bodies.snapshot(staged.metadata)
    snapshot_id = added["snapshot-id"]
    more = ({"action": "add-snapshot", "snapshot": added}, bodies.snapshot_ref(snapshot_id))
    complete(catalog, staged, *more).expect(200)
    reply = catalog.load_table(staged.namespace, staged.name).expect(200)
    reply.expect_json(
        {"current-snapshot-id": snapshot_id, "refs": {"main": {"snapshot-id": snapshot_id}}},
        at=("metadata",),
        symptom=EFFECT_MISSING.of("first-snapshot"),
    )


@check("commit.create-missing-namespace", needs=NEEDS)
def test_create_in_a_missing_namespace(catalog: Catalog) -> None:
    """A commit that creates a table in a namespace that does not exist is refused."""
    staged = given_table(catalog, stage_create=True)
    nowhere = catalog.new_namespace_name()
    updates = creation_updates(staged.metadata)
    catalog.update_table(nowhere, staged.name, updates, [ASSERT_CREATE]).expect(404)
    catalog.load_table(nowhere, staged.name).expect(404, detail="after the refused creation")
