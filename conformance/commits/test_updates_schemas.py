"""Checks of the updates of schemas: add-schema, set-current-schema, remove-schemas."""

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.client.given import given_commit, given_loaded, given_table, shared_table
from icecheck.findings.shared_symptoms import EFFECT_MISSING
from icecheck.judging.check import check
from icecheck.objects import metadata_view as view
from icecheck.objects.committing import (
    commit,
    expect_effect,
    expect_last_added,
    expect_loaded,
    expect_refused,
    expect_unchanged,
    with_ids,
)
from icecheck.objects.evolving import (
    column_id,
    last_column_id,
    number,
    schema_addition,
    schema_id_of,
    wider_schema,
)
from icecheck.replies.expect import equal
from icecheck.replies.matching import containing

UNKNOWN_ID = 4711
LAST_ADDED = {"action": "set-current-schema", "schema-id": -1}


@check("update.add-schema", proves="update.add-schema.effect")
def test_add_schema(catalog: Catalog) -> None:
    """add-schema adds a schema and leaves the current one current."""
    table = given_table(catalog)
    schema = wider_schema(table)
    expect_effect(
        catalog,
        table,
        [schema_addition(table.metadata, schema)],
        {
            "schemas": containing({"fields": schema["fields"]}),
            "current-schema-id": number(table, "current-schema-id"),
        },
        what="schema",
    )


@check("update.add-schema.identifier-fields")
def test_other_identifier_fields(catalog: Catalog) -> None:
    """A schema with the same columns and other identifier-field-ids is another schema."""
    table = given_table(catalog)
    fields = view.current_schema(table.metadata).get("fields", [])
    # Change the identifier: to none if the table has one, else to the id column.
    has = view.current_schema(table.metadata).get("identifier-field-ids") or []
    named = [] if has else [column_id(table, "id")]
    schema = bodies.schema(
        *fields,
        schema_id=number(table, "current-schema-id") + 1,
        identifier_field_ids=named,
    )
    after = expect_effect(
        catalog,
        table,
        [schema_addition(table.metadata, schema), LAST_ADDED],
        {"last-column-id": number(table, "last-column-id")},
        what="schema",
    )
    found = view.current_schema(after.metadata).get("identifier-field-ids") or []
    equal(found, named, symptom=EFFECT_MISSING.of("identifier-fields"))


@check("update.add-schema.last-column-id")
def test_last_column_id_follows(catalog: Catalog) -> None:
    """last-column-id follows an added schema, although the client does not send it."""
    table = given_table(catalog)
    expect_effect(
        catalog,
        table,
        [{"action": "add-schema", "schema": wider_schema(table)}],
        {"last-column-id": last_column_id(table.metadata) + 1},
        what="last-column-id",
    )


@check("update.add-schema.fewer-columns", proves="update.add-schema.last-column-id-never-falls")
def test_last_column_id_never_falls(catalog: Catalog) -> None:
    """A schema with fewer columns does not lower last-column-id."""
    table = given_table(catalog)
    first = bodies.struct_field(column_id(table, "id"), "id", "long", required=True)
    narrow = bodies.schema(first, schema_id=number(table, "current-schema-id") + 1)
    expect_effect(
        catalog,
        table,
        [schema_addition(table.metadata, narrow), LAST_ADDED],
        {"last-column-id": number(table, "last-column-id")},
        what="last-column-id",
    )


@check("update.set-current-schema", proves="update.set-current-schema.effect")
def test_set_current_schema(catalog: Catalog) -> None:
    """set-current-schema makes the schema with that id the current one."""
    table = given_table(catalog)
    added = schema_addition(table.metadata, wider_schema(table))
    table = given_commit(catalog, table, [added])
    schema_id = schema_id_of(table, "extra")
    expect_effect(
        catalog,
        table,
        [{"action": "set-current-schema", "schema-id": schema_id}],
        {"current-schema-id": schema_id},
        what="current-schema-id",
    )


@check("update.set-current-schema.last-added")
def test_set_last_added_schema(catalog: Catalog) -> None:
    """Schema id -1 makes the schema current that the same commit added last."""
    table = given_table(catalog)
    schemas = [wider_schema(table, name, at) for at, name in enumerate(("one", "two"), 1)]
    last, free = number(table, "last-column-id"), last_column_id(table.metadata) + 1
    after = expect_effect(
        catalog,
        table,
        [*(schema_addition(table.metadata, s) for s in schemas), LAST_ADDED],
        {"schemas": containing({"fields": schemas[1]["fields"]})},
        what="schema",
        requirements=[{"type": "assert-last-assigned-field-id", "last-assigned-field-id": last}],
    )
    columns = {**view.column_names(table.metadata), free: "two"}
    equal(
        view.column_names(after.metadata), columns, symptom=EFFECT_MISSING.of("current-schema-id")
    )


@check(
    "update.set-current-schema.nothing-added",
    proves="update.set-current-schema.last-added-without-one-refused",
)
def test_last_added_without_a_schema(catalog: Catalog) -> None:
    """Schema id -1 in a commit that adds none is refused, or is the table's last added schema."""
    table = given_table(catalog)
    expect_last_added(catalog, table, LAST_ADDED, "current-schema-id", "schemas", "schema-id")


@check(
    "update.set-current-schema.unknown-id", proves="update.set-current-schema.unknown-id-refused"
)
def test_unknown_schema_id(catalog: Catalog) -> None:
    """A schema that the table does not have cannot become current."""
    updates = [{"action": "set-current-schema", "schema-id": UNKNOWN_ID}]
    expect_refused(catalog, shared_table(catalog), updates)


@check(
    "update.set-current-schema.column-of-layout",
    proves="update.set-current-schema.column-of-layout",
)
def test_a_column_of_a_layout_is_dropped(catalog: Catalog) -> None:
    """Dropping a column that the default spec or sort order uses is done as sent, or refused."""
    partitioned = bodies.partition_spec(bodies.partition_field(2, "identity", "data", 1000))
    sorted_by_data = bodies.sort_order(2)
    for what, table in (
        ("a column of the default spec", given_table(catalog, spec=partitioned)),
        ("a column of the default sort order", given_table(catalog, write_order=sorted_by_data)),
    ):
        before = given_loaded(catalog, table)
        fields = view.current_schema(before.metadata).get("fields", [])
        kept = [field for field in fields if field["name"] != "data"]
        narrower = bodies.schema(*kept, schema_id=number(before, "current-schema-id") + 1)
        answer = commit(catalog, before, [schema_addition(before.metadata, narrower), LAST_ADDED])
        if answer.ok:
            layout = ("partition-specs", "sort-orders", "default-spec-id", "default-sort-order-id")
            was = {each: before.metadata[each] for each in layout if before.metadata.get(each)}
            due = {"schemas": containing({"fields": kept}), **was}
            after = expect_loaded(catalog, before, due, what="dropped-column")
            shown = view.current_schema(after.metadata).get("fields")
            equal(shown, kept, symptom=EFFECT_MISSING.of("dropped-column"), detail=what)
        elif answer.status < 500:
            expect_unchanged(catalog, before)
        else:
            # What became of the commit is unknown, but not that there is a table.
            catalog.load_table(before.namespace, before.name).expect(200, detail=what)


@check(
    "update.remove-schemas",
    proves=("update.remove-schemas.effect", "update.add-schema.last-column-id-never-falls"),
)
def test_remove_schemas(catalog: Catalog) -> None:
    """remove-schemas removes the named schemas, leaves the others, and keeps last-column-id."""
    table = given_table(catalog)
    first = number(table, "current-schema-id")
    names = ("one", "other", "two")
    wide, other, wider = (wider_schema(table, name, at) for at, name in enumerate(names, 1))
    # The removed schema has the column with the highest id, which must stay assigned.
    last = last_column_id(table.metadata) + 2
    wide["fields"].append(bodies.struct_field(last, "gone", "string"))
    # Older clients send last-column-id, and older catalogs need it: the second schema lacks that
    # column.
    added = [
        {"action": "add-schema", "schema": schema, "last-column-id": last}
        for schema in (wide, other, wider)
    ]
    table = given_commit(catalog, table, [*added, LAST_ADDED])
    one, also, two = (schema_id_of(table, name) for name in ("one", "other", "two"))
    expect_effect(
        catalog,
        table,
        [{"action": "remove-schemas", "schema-ids": [one, also]}],
        {
            "schemas": with_ids("schema-id", first, two),
            "current-schema-id": two,
            "last-column-id": last,
        },
        what="removed-schema",
    )


@check("update.remove-schemas.current", proves="update.remove-schemas.current-refused")
def test_current_schema_stays(catalog: Catalog) -> None:
    """The current schema cannot be removed."""
    table = shared_table(catalog)
    current = number(table, "current-schema-id")
    updates = [{"action": "remove-schemas", "schema-ids": [current]}]
    expect_refused(catalog, table, updates, 400)
