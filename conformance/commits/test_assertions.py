"""Checks of the eight requirement types of a table commit: accepted if it holds, 409 if not."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import (
    arrange,
    given_commit,
    given_dropped,
    given_loaded,
    given_table,
    shared_object,
    shared_table,
)
from icecheck.judging.check import check
from icecheck.objects import metadata_view as view
from icecheck.objects.committing import (
    creation_updates,
    expect_effect,
    expect_refused,
    expect_unchanged,
    given_snapshots,
    set_property,
    shared_snapshots,
)
from icecheck.objects.evolving import (
    column_id,
    last_partition_id,
    number,
    schema_addition,
    wider_schema,
)
from icecheck.replies.matching import show
from icecheck.targets.target import Namespace

Json = dict[str, Any]

ANOTHER_UUID = "9c12d441-03fe-4693-9a96-a0705ddf69c1"
UNKNOWN_SNAPSHOT = 7_999_999_999_999_999_999
ASSERT_CREATE = {"type": "assert-create"}
TAG = "release"


# ---- requirements on numbers of the metadata


@dataclass(frozen=True, slots=True)
class Number:
    """A requirement on one number of the metadata, with the offsets of the wrong values.

    If it is ``counted_from_zero``, a 0 is sent as a wrong value too, unless it is the right one.
    """

    type: str
    member: str
    of_table: str
    what: str
    off_by: tuple[int, ...]
    counted_from_zero: bool = False


# For the ids assigned last both a higher and a lower value are wrong.
NUMBERS = (
    Number(
        "assert-last-assigned-field-id",
        "last-assigned-field-id",
        "last-column-id",
        "last assigned column id",
        (1, -1),
    ),
    Number(
        "assert-current-schema-id",
        "current-schema-id",
        "current-schema-id",
        "current schema id",
        (1,),
        counted_from_zero=True,
    ),
    Number(
        "assert-last-assigned-partition-id",
        "last-assigned-partition-id",
        "last-partition-id",
        "last assigned partition field id",
        (1, -1),
    ),
    Number(
        "assert-default-spec-id",
        "default-spec-id",
        "default-spec-id",
        "default partition spec id",
        (1,),
        counted_from_zero=True,
    ),
    Number(
        "assert-default-sort-order-id",
        "default-sort-order-id",
        "default-sort-order-id",
        "default sort order id",
        (1,),
        counted_from_zero=True,
    ),
)


def given_laid_out_table(catalog: Catalog, namespace: Namespace | None = None) -> Table:
    """Return a table that has a partition spec and a sort order."""
    return given_table(
        catalog,
        namespace,
        spec=bodies.partition_spec(bodies.partition_field(1, "bucket[4]", "id_bucket", 1000)),
        write_order=bodies.sort_order(1),
    )


def _shared_laid_out_table(catalog: Catalog) -> Table:
    """Return a shared table whose current schema and default spec are not its first ones."""

    def make(lender: Catalog, namespace: Namespace) -> Table:
        table = given_laid_out_table(lender, namespace)
        field_id = last_partition_id(table.metadata) + 1
        field = bodies.partition_field(column_id(table, "id"), "bucket[8]", "wider", field_id)
        later: list[Json] = [
            schema_addition(table.metadata, wider_schema(table)),
            {"action": "set-current-schema", "schema-id": -1},
        ]
        if table.metadata.get("format-version", 2) > 1:  # version 1 numbers fields per spec
            spec = bodies.partition_spec(field, spec_id=1)
            later += [
                {"action": "add-spec", "spec": spec},
                {"action": "set-default-spec", "spec-id": -1},
            ]
        return given_loaded(lender, given_commit(lender, table, later))

    return shared_object(catalog, "layout", make)


def _satisfied(case: Number) -> Callable[[Catalog], None]:
    def test(catalog: Catalog) -> None:
        table = given_laid_out_table(catalog)
        requirement = {"type": case.type, case.member: number(table, case.of_table)}
        _goes_through(catalog, table, requirement)

    test.__doc__ = f"A commit that asserts the table's own {case.what} goes through."
    return test


def _violated(case: Number) -> Callable[[Catalog], None]:
    def test(catalog: Catalog) -> None:
        table = _shared_laid_out_table(catalog)
        own = number(table, case.of_table)
        # A 0 is an id like any other, not a missing requirement.
        zero = [0] if case.counted_from_zero and own not in {0, -1} else []
        for wrong in [*(own + step for step in case.off_by), *zero]:
            _conflicts(catalog, table, {"type": case.type, case.member: wrong})

    test.__doc__ = f"A commit that asserts another {case.what} is refused and changes nothing."
    return test


def _goes_through(catalog: Catalog, table: Table, requirement: Json) -> None:
    expected = {"properties": {"icecheck": "1"}}
    updates = [set_property("1")]
    expect_effect(catalog, table, updates, expected, what="properties", requirements=[requirement])


def _conflicts(catalog: Catalog, table: Table, requirement: Json) -> None:
    expect_refused(
        catalog,
        table,
        [set_property("1")],
        409,
        requirements=[requirement],
        detail=show(requirement),
    )


for _case in NUMBERS:
    _name = _case.type.replace("-", "_")
    for _outcome, _make in (("satisfied", _satisfied), ("violated", _violated)):
        _id = f"assertion.{_case.type}.{_outcome}"
        globals()[f"test_{_name}_{_outcome}"] = check(_id)(_make(_case))


# ---- assert-create


@check("assertion.assert-create.satisfied", needs=("stage-create",))
def test_assert_create_satisfied(catalog: Catalog) -> None:
    """A commit that asserts creation goes through when no table has the name, or no longer."""
    staged = given_table(catalog, stage_create=True)
    where = (staged.namespace, staged.name)
    body = bodies.create_table_body(staged.name, stage_create=True)
    for turn in ("a new name", "the name of a dropped table"):
        if turn != "a new name":
            given_dropped(catalog, *where)
            reply = arrange(catalog, "createTable", lambda: catalog.create_table(where[0], body))
            staged = Table(*where, view.metadata_in(reply), None)
        updates = creation_updates(staged.metadata)
        catalog.update_table(*where, updates, [ASSERT_CREATE]).expect(200, detail=turn)
        catalog.load_table(*where).expect(200, detail=turn)


@check("assertion.assert-create.violated")
def test_assert_create_violated(catalog: Catalog) -> None:
    """A commit that asserts creation is refused when the table exists, which stays as it was."""
    before = shared_table(catalog)
    # The requirement is the only reason to refuse this commit.
    sent = (before.namespace, before.name, [set_property("1")], [ASSERT_CREATE])
    catalog.update_table(*sent).expect(409)
    expect_unchanged(catalog, before)


# ---- assert-table-uuid


@check("assertion.assert-table-uuid.satisfied")
def test_assert_table_uuid_satisfied(catalog: Catalog) -> None:
    """A commit that asserts the table's own uuid goes through."""
    table = given_table(catalog)
    _goes_through(catalog, table, {"type": "assert-table-uuid", "uuid": table.uuid})


@check("assertion.assert-table-uuid.violated")
def test_assert_table_uuid_violated(catalog: Catalog) -> None:
    """A commit that asserts another uuid is refused and changes nothing."""
    table = shared_table(catalog)
    _conflicts(catalog, table, {"type": "assert-table-uuid", "uuid": ANOTHER_UUID})


# ---- assert-ref-snapshot-id


def ref_is(snapshot_id: int | None, ref: str = "main") -> Json:
    """Return the requirement that a ref names this snapshot, or with None does not exist."""
    return {"type": "assert-ref-snapshot-id", "ref": ref, "snapshot-id": snapshot_id}


@check("assertion.assert-ref-snapshot-id.satisfied", needs=("metadata-only-snapshots",))
def test_assert_ref_satisfied(catalog: Catalog) -> None:
    """A commit that asserts the snapshot which main names goes through."""
    table, [snapshot_id] = given_snapshots(catalog, 1)
    _goes_through(catalog, table, ref_is(snapshot_id))


@check(
    "assertion.assert-ref-snapshot-id.tag-satisfied",
    proves="assertion.assert-ref-snapshot-id.satisfied",
    needs=("metadata-only-snapshots", "tags"),
)
def test_assert_tag_satisfied(catalog: Catalog) -> None:
    """A commit that asserts the snapshot which a tag names goes through."""
    table, [first, _] = given_snapshots(catalog, 2)
    table = given_commit(catalog, table, [bodies.snapshot_ref(first, TAG, "tag")])
    _goes_through(catalog, table, ref_is(first, TAG))


@check("assertion.assert-ref-snapshot-id.violated", needs=("metadata-only-snapshots",))
def test_assert_ref_violated(catalog: Catalog) -> None:
    """A commit that asserts another snapshot for main is refused and changes nothing."""
    table, [first, _] = shared_snapshots(catalog)
    for snapshot_id in (first, UNKNOWN_SNAPSHOT):
        _conflicts(catalog, table, ref_is(snapshot_id))


@check(
    "assertion.assert-ref-snapshot-id.missing-ref",
    proves="assertion.assert-ref-snapshot-id.violated",
    needs=("metadata-only-snapshots",),
)
def test_assert_missing_ref(catalog: Catalog) -> None:
    """A commit that asserts a snapshot for a ref that does not exist is refused."""
    table, [first, _] = shared_snapshots(catalog)
    _conflicts(catalog, table, ref_is(first, TAG))


@check("assertion.assert-ref-snapshot-id.without-id", needs=("metadata-only-snapshots",))
def test_assert_ref_without_id(catalog: Catalog) -> None:
    """A requirement on a ref that exists, with no snapshot id in it, stops the commit."""
    table, _ = shared_snapshots(catalog)
    requirement = {"type": "assert-ref-snapshot-id", "ref": "main"}
    # It does not hold if the missing id is read as null either.
    expect_refused(catalog, table, [set_property("1")], 400, 409, requirements=[requirement])


@check("assertion.assert-ref-snapshot-id.null-satisfied")
def test_assert_no_ref_satisfied(catalog: Catalog) -> None:
    """A commit that asserts that main does not exist goes through on an empty table."""
    _goes_through(catalog, given_table(catalog), ref_is(None))


@check(
    "assertion.assert-ref-snapshot-id.tag-null-satisfied",
    proves="assertion.assert-ref-snapshot-id.null-satisfied",
    needs=("tags",),
)
def test_assert_no_tag_satisfied(catalog: Catalog) -> None:
    """A commit that asserts that a tag does not exist goes through on an empty table."""
    _goes_through(catalog, given_table(catalog), ref_is(None, TAG))


@check("assertion.assert-ref-snapshot-id.null-violated", needs=("metadata-only-snapshots",))
def test_assert_no_ref_violated(catalog: Catalog) -> None:
    """A commit that asserts that main does not exist is refused when it does."""
    table, _ = shared_snapshots(catalog)
    _conflicts(catalog, table, ref_is(None))


@check(
    "assertion.assert-ref-snapshot-id.tag-null-violated",
    proves="assertion.assert-ref-snapshot-id.null-violated",
    needs=("metadata-only-snapshots", "tags"),
)
def test_assert_no_tag_violated(catalog: Catalog) -> None:
    """A commit that asserts that a tag does not exist is refused when it does."""
    table, [first] = given_snapshots(catalog, 1)
    table = given_commit(catalog, table, [bodies.snapshot_ref(first, TAG, "tag")])
    _conflicts(catalog, table, ref_is(None, TAG))
