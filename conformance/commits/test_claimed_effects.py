"""Checks that an optional change which a catalog accepts takes effect in full.

Other checks judge whether the change is accepted: a catalog that refuses it lacks a feature, and a
catalog that answers a success without the effect reports a false result.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import given_commit, given_table, shared_namespace
from icecheck.conformance.kit.demanding_values import (
    LARGE_BYTES,
    MANY,
    large_property,
    wide_schema,
    zero_based,
)
from icecheck.findings.shared_symptoms import EFFECT_MISSING
from icecheck.judging.check import check, generated_check
from icecheck.objects import metadata_view as view
from icecheck.objects.committing import (
    NO_SNAPSHOT,
    commit,
    expect_loaded,
    given_snapshots,
    given_table_since,
    with_ids,
)
from icecheck.objects.evolving import column_id
from icecheck.objects.reading import not_applicable
from icecheck.objects.views import (
    VIEW_SCHEMA,
    add_version,
    current_versions,
    definition_of,
    given_view,
    loaded_view,
    replace_view,
    set_current_version,
)
from icecheck.replies.expect import Reply, equal
from icecheck.replies.matching import Matcher, containing

_LAST_ADDED = -1


def _claimed(reply: Reply) -> Reply:
    """Return a successful answer; end the check if the catalog refuses the request."""
    if not reply.ok:
        raise not_applicable(f"the catalog refuses it with {reply.status}, and claims no effect")
    return reply


def _expect_if_claimed(
    catalog: Catalog, table: Table, updates: Sequence[Any], due: Mapping[str, Any], what: str
) -> None:
    _claimed(commit(catalog, table, updates))
    expect_loaded(catalog, table, due, what=what)


@check(
    "update.remove-snapshot-ref.main-effect",
    proves="update.remove-snapshot-ref.effect",
    needs=("metadata-only-snapshots",),
)
def test_main_that_was_removed_is_gone(catalog: Catalog) -> None:
    """After an accepted removal of main there is no main, and no current snapshot."""
    table, _ = given_snapshots(catalog, 1)
    removal = {"action": "remove-snapshot-ref", "ref-name": "main"}
    gone = Matcher("no ref main", lambda refs: not isinstance(refs, dict) or "main" not in refs)
    due = {"refs": gone, "current-snapshot-id": NO_SNAPSHOT}
    _expect_if_claimed(catalog, table, [removal], due, "removed-main")


@generated_check(
    "update.remove-snapshots.named-effect",
    proves="update.remove-snapshots.effect",
    needs=("metadata-only-snapshots", "snapshot-history", "tags"),
)
def test_named_snapshots_that_were_removed_are_gone(catalog: Catalog) -> None:
    """After an accepted removal of a snapshot that a tag names, the table does not have it."""
    table, [first, second] = given_snapshots(catalog, 2)
    table = given_commit(catalog, table, [bodies.snapshot_ref(first, "kept", "tag")])
    removal = {"action": "remove-snapshots", "snapshot-ids": [first]}
    due = {"snapshots": with_ids("snapshot-id", second)}
    _expect_if_claimed(catalog, table, [removal], due, "removed-snapshot")


@generated_check("update.add-spec.without-field-ids", proves="update.add-spec.effect")
def test_a_spec_without_field_ids_is_there(catalog: Catalog) -> None:
    """After an accepted add-spec whose fields have no ids, the table has that spec."""
    table = given_table_since(catalog, 2)
    field = bodies.partition_field(column_id(table, "data"), "truncate[2]", "data_trunc")
    update = {"action": "add-spec", "spec": bodies.partition_spec(field, spec_id=1)}
    due = {"partition-specs": containing({"fields": [field]})}
    _expect_if_claimed(catalog, table, [update], due, "partition-spec")


@generated_check("update.set-properties.large-value-effect", proves="update.set-properties.effect")
def test_a_large_property_is_kept_whole(catalog: Catalog) -> None:
    """A property with an accepted value of 100 KiB is kept as it was sent."""
    update = large_property()
    ((key, value),) = update["updates"].items()
    whole = Matcher(f"the {LARGE_BYTES} characters that were sent", lambda v: v == value)
    due = {"properties": {key: whole}}
    _expect_if_claimed(catalog, given_table(catalog), [update], due, "large-property")


@generated_check("createTable.thousand-columns-effect", proves="createTable.schema-kept")
def test_a_thousand_columns_are_kept(catalog: Catalog) -> None:
    """A table that was created with a thousand columns has all of them, in their order."""
    namespace, name, wide = shared_namespace(catalog), catalog.new_name(), wide_schema()
    _claimed(catalog.create_table(namespace, bodies.create_table_body(name, table_schema=wide)))
    reply = catalog.load_table(namespace, name).expect(200)
    fields = view.current_schema(view.metadata_in(reply)).get("fields", [])
    found = [field.get("name") for field in fields]
    if found != [field["name"] for field in wide["fields"]]:
        raise reply.violation(
            EFFECT_MISSING.of("wide-schema"),
            f"{MANY} columns in their order",
            f"{len(found)} columns" if len(found) != MANY else "another order",
        )


@generated_check("createTable.field-ids-from-zero-effect", proves="createTable.partition-spec-kept")
def test_a_partition_by_column_zero_is_kept(catalog: Catalog) -> None:
    """A table that was created partitioned by the column with id 0 is partitioned by that one."""
    namespace, name = shared_namespace(catalog), catalog.new_name()
    _claimed(catalog.create_table(namespace, bodies.create_table_body(name, **zero_based())))
    metadata = view.metadata_in(catalog.load_table(namespace, name).expect(200))
    due = [("day", "identity", "day")]
    equal(view.partition_fields(metadata), due, symptom=EFFECT_MISSING.of("partition-spec"))


@generated_check(
    "view-update.set-current-view-version.last-added",
    proves="view-update.set-current-view-version.effect",
)
def test_the_version_added_last_is_current(catalog: Catalog) -> None:
    """After an accepted commit that makes version -1 current, that is the version it added."""
    before = given_view(catalog)
    schema = bodies.schema(*VIEW_SCHEMA["fields"][:1], schema_id=1)
    added = add_version(before, "SELECT 4 AS id", schema_id=_LAST_ADDED)
    updates = [
        {"action": "add-schema", "schema": schema, "last-column-id": 0},
        added,
        set_current_version(_LAST_ADDED),
    ]
    _claimed(replace_view(catalog, before, updates))
    after = loaded_view(catalog, before).metadata
    current = [definition_of(version) for version in current_versions(after)]
    due = [definition_of(added["view-version"])]
    equal(current, due, symptom=EFFECT_MISSING.of("view-definition"))


@generated_check("dropTable.as-pyiceberg-effect", proves="dropTable.gone")
def test_what_pyiceberg_dropped_is_gone(catalog: Catalog) -> None:
    """After an accepted drop with purgeRequested=False, written so, the table is gone."""
    table = given_table(catalog)
    query = [("purgeRequested", "False")]
    _claimed(catalog.drop_table(table.namespace, table.name, query))
    catalog.load_table(table.namespace, table.name).expect(404, detail="a dropped table")
