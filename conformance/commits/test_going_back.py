"""Checks that an earlier definition or value can be made current again, repeatedly."""

from collections.abc import Callable
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import given_commit, given_namespace, given_table
from icecheck.findings.shared_symptoms import EFFECT_MISSING
from icecheck.judging.check import generated_check
from icecheck.judging.probes import has_capability, is_refusal, offered
from icecheck.objects import metadata_view
from icecheck.objects.committing import (
    commit,
    expect_effect,
    given_snapshots,
    given_table_since,
)
from icecheck.objects.evolving import (
    column_id,
    last_partition_id,
    number,
    schema_addition,
    schema_id_of,
    sort_order_id_of,
    spec_id_of,
    wider_schema,
)
from icecheck.objects.reading import expect_properties, not_applicable
from icecheck.objects.views import (
    FIRST_SQL,
    View,
    add_version,
    current_versions,
    definition_of,
    given_view,
    loaded_view,
    replace_view,
    set_current_version,
    version_with,
)
from icecheck.replies.expect import Reply, equal
from icecheck.replies.matching import ABSENT

Json = dict[str, Any]

KEY = "icecheck.turn"
SECOND_SQL = "SELECT 2 AS id, 'b' AS data"


# --------------------------------------------------------------------- current definitions


def _to_and_fro(
    catalog: Catalog, table: Table, member: str, ids: tuple[int, int], make: Callable[[int], Json]
) -> None:
    """Judge that the second of two can be made current, then the first, then the second."""
    first, second = ids
    for wanted in (second, first, second):
        table = expect_effect(catalog, table, [make(wanted)], {member: wanted}, what=member)


@generated_check("update.set-current-schema.back", proves="update.set-current-schema.effect")
def test_an_earlier_schema_is_current_again(catalog: Catalog) -> None:
    """A schema that was current before can be made the current one again."""
    table = given_table(catalog)
    first = number(table, "current-schema-id")
    table = given_commit(catalog, table, [schema_addition(table.metadata, wider_schema(table))])
    ids = (first, schema_id_of(table, "extra"))
    action = "set-current-schema"
    _to_and_fro(
        catalog, table, "current-schema-id", ids, lambda i: {"action": action, "schema-id": i}
    )


@generated_check("update.set-default-spec.back", proves="update.set-default-spec.effect")
def test_an_earlier_spec_is_the_default_again(catalog: Catalog) -> None:
    """A partition spec that was the default before can be made the default again."""
    table = given_table_since(catalog, 2)
    first = number(table, "default-spec-id")
    field_id = last_partition_id(table.metadata) + 1
    field = bodies.partition_field(column_id(table, "id"), "bucket[2]", "id_bucket", field_id)
    added = {"action": "add-spec", "spec": bodies.partition_spec(field, spec_id=first + 1)}
    table = given_commit(catalog, table, [added])
    ids = (first, spec_id_of(table, "id_bucket"))
    action = "set-default-spec"
    _to_and_fro(catalog, table, "default-spec-id", ids, lambda i: {"action": action, "spec-id": i})


@generated_check(
    "update.set-default-sort-order.back", proves="update.set-default-sort-order.effect"
)
def test_an_earlier_sort_order_is_the_default_again(catalog: Catalog) -> None:
    """A sort order that was the default before can be made the default again."""
    table = given_table(catalog)
    columns = ("id", "data")
    orders = [
        bodies.sort_order(column_id(table, name), order_id=at)
        for at, name in enumerate(columns, start=1)
    ]
    added = [{"action": "add-sort-order", "sort-order": order} for order in orders]
    table = given_commit(catalog, table, added)
    # Two orders besides the first one, because some catalogs do not count "unsorted" as an order.
    first, second = (sort_order_id_of(table, name) for name in columns)
    action, member = "set-default-sort-order", "default-sort-order-id"
    ids = (first, second)
    _to_and_fro(catalog, table, member, ids, lambda i: {"action": action, "sort-order-id": i})


@generated_check(
    "update.set-snapshot-ref.back",
    proves="update.set-snapshot-ref.effect",
    needs=("metadata-only-snapshots", "snapshot-history"),
)
def test_a_branch_is_rolled_back(catalog: Catalog) -> None:
    """Main can be moved to an earlier snapshot and forth again; another branch, made once more."""
    table, [first, second] = given_snapshots(catalog, 2)
    for wanted in (first, second, first):
        due = {"current-snapshot-id": wanted, "refs": {"main": {"snapshot-id": wanted}}}
        update = bodies.snapshot_ref(wanted)
        table = expect_effect(catalog, table, [update], due, what="current-snapshot-id")
    if not has_capability(catalog, "branches"):
        return
    made = bodies.snapshot_ref(second, "audit")
    removal = {"action": "remove-snapshot-ref", "ref-name": "audit"}
    for update, snapshot_id in (
        (made, second),
        (bodies.snapshot_ref(first, "audit"), first),
        (made, second),
        (removal, None),
        (made, second),
    ):
        named = ABSENT if snapshot_id is None else {"snapshot-id": snapshot_id}
        table = expect_effect(catalog, table, [update], {"refs": {"audit": named}}, what="ref")


# ----------------------------------------------------------------------- values

_TURNS = ("1", "2", "1", None, "1")
"""The values of a property, in turn; None stands for its removal."""


def _turned(value: str | None) -> Json:
    if value is None:
        return {"action": "remove-properties", "removals": [KEY]}
    return bodies.set_properties({KEY: value})


@generated_check("update.set-properties.back", proves="update.set-properties.effect")
def test_a_property_has_an_earlier_value_again(catalog: Catalog) -> None:
    """A table's property can be set to a value that it had before, also after its removal."""
    table = given_table(catalog)
    for value in _TURNS:
        due = {"properties": {KEY: ABSENT if value is None else value}}
        table = expect_effect(catalog, table, [_turned(value)], due, what="properties")


@generated_check("update.set-location.back", proves="update.set-location.effect")
def test_a_table_is_back_at_its_location(catalog: Catalog) -> None:
    """A table that was moved can be moved back to where it was."""
    table = given_table(catalog)
    home = str(table.metadata.get("location", "")).rstrip("/")
    _moved(catalog, lambda update: commit(catalog, table, [update]), home, "table-relocation")
    reply = catalog.load_table(table.namespace, table.name).expect(200)
    _expect_home(metadata_view.metadata_in(reply), home)


def _moved(catalog: Catalog, send: Callable[[Json], Reply], home: str, capability: str) -> None:
    """Move an object away and back; end the check where the catalog refuses the other location."""
    away, back = ({"action": "set-location", "location": f"{home}{end}"} for end in ("_moved", ""))
    offered(catalog, capability, send(away)).expect(200)
    reply = send(back)
    if is_refusal(reply):
        raise not_applicable(f"the catalog refuses the old location with {reply.status}")
    reply.expect(200)


def _expect_home(metadata: Json, home: str) -> None:
    found = metadata_view.place(metadata.get("location"))
    equal(found, metadata_view.place(home), symptom=EFFECT_MISSING.of("location"))


@generated_check(
    "updateProperties.back", proves="updateProperties.set", needs=("namespace-properties",)
)
def test_a_namespace_has_an_earlier_value_again(catalog: Catalog) -> None:
    """A namespace's property can be set to a value that it had before, also after its removal."""
    namespace = given_namespace(catalog)
    for value in _TURNS:
        change: Json = {"removals": [KEY]} if value is None else {"updates": {KEY: value}}
        catalog.update_properties(namespace, **change).expect(200)
        expect_properties(catalog, namespace, {KEY: value})


# ------------------------------------------------------------------------------- views


@generated_check(
    "view-update.set-current-view-version.back",
    proves="view-update.set-current-view-version.effect",
)
def test_an_earlier_version_is_current_again(catalog: Catalog) -> None:
    """A version of a view that was current before can be made the current one again."""
    view = given_view(catalog)
    replace_view(catalog, view, [add_version(view, SECOND_SQL)]).expect(200)
    added = loaded_view(catalog, view).metadata
    ids = {sql: version_with(added, sql).get("version-id") for sql in (FIRST_SQL, SECOND_SQL)}
    if None in ids.values():
        raise not_applicable("the catalog keeps no version that is not current")
    for sql in (SECOND_SQL, FIRST_SQL, SECOND_SQL):
        replace_view(catalog, view, [set_current_version(ids[sql])]).expect(200)
        _expect_current(catalog, view, sql)


def _expect_current(catalog: Catalog, view: View, sql: str) -> None:
    after = loaded_view(catalog, view).metadata
    shown = [definition_of(version) for version in current_versions(after)]
    queries = [definition["representations"][0]["sql"] for definition in shown]
    equal(queries, [sql], symptom=EFFECT_MISSING.of("view-definition"))


@generated_check("view-update.set-properties.back", proves="view-update.set-properties.effect")
def test_a_views_property_has_an_earlier_value_again(catalog: Catalog) -> None:
    """A view's property can be set to a value that it had before, also after its removal."""
    view = given_view(catalog)
    for value in _TURNS:
        replace_view(catalog, view, [_turned(value)]).expect(200)
        properties = loaded_view(catalog, view).metadata.get("properties") or {}
        equal(properties.get(KEY), value, symptom=EFFECT_MISSING.of("view-properties"))


@generated_check("view-update.set-location.back", proves="view-update.set-location.effect")
def test_a_view_is_back_at_its_location(catalog: Catalog) -> None:
    """A view that was moved can be moved back to where it was."""
    view = given_view(catalog)
    home = str(view.metadata.get("location", "")).rstrip("/")
    _moved(catalog, lambda update: replace_view(catalog, view, [update]), home, "view-relocation")
    _expect_home(loaded_view(catalog, view).metadata, home)
