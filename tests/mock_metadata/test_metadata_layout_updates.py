"""Updates of schemas, partition specs and sort orders."""

import pytest
from msgspec import structs

EXTRA = {"id": 4, "name": "extra", "required": False, "type": "int"}
ADD_SPEC, ADD_ORDER = "add-spec", "add-sort-order"


def add_schema(schema, **members):
    return {"action": "add-schema", "schema": schema, **members}


def add_spec(*fields, **members):
    return {"action": ADD_SPEC, "spec": {"fields": list(fields), **members}}


def partition(name, source_id, transform="identity", **members):
    return {"name": name, "source-id": source_id, "transform": transform, **members}


def add_order(*fields, order_id=1):
    return {"action": ADD_ORDER, "sort-order": {"order-id": order_id, "fields": list(fields)}}


def sort(source_id, transform="identity", direction="asc"):
    null_order = "nulls-first" if direction == "asc" else "nulls-last"
    return {
        "source-id": source_id,
        "transform": transform,
        "direction": direction,
        "null-order": null_order,
    }


def set_current(schema_id):
    return {"action": "set-current-schema", "schema-id": schema_id}


def set_spec(spec_id):
    return {"action": "set-default-spec", "spec-id": spec_id}


def set_order(order_id):
    return {"action": "set-default-sort-order", "sort-order-id": order_id}


@pytest.fixture(scope="module")
def wider(schema_of):
    from_three = schema_of()["fields"]
    return schema_of(*from_three, EXTRA, **{"schema-id": 77})


# schemas


def test_an_added_schema_gets_the_next_id_and_is_not_current(new_table, commit, wider):
    after = commit(new_table(), add_schema(wider, **{"last-column-id": 500}))
    assert [schema.schema_id for schema in after.schemas] == [0, 1]
    assert (after.current_schema_id, after.last_column_id) == (0, 4)


def test_a_narrow_schema_does_not_lower_the_last_column_id(new_table, commit, schema_of):
    after = commit(new_table(), add_schema(schema_of({**EXTRA, "id": 1})))
    assert after.last_column_id == 3


@pytest.mark.parametrize("field_id", [-(2**31), 2**31 - 1])
def test_field_ids_have_32_bits(new_table, commit, schema_of, refused, field_id):
    assert commit(new_table(), add_schema(schema_of({**EXTRA, "id": field_id}))) is not None
    beyond = field_id + (1 if field_id > 0 else -1)
    with refused(400, "Malformed request"):
        commit(new_table(), add_schema(schema_of({**EXTRA, "id": beyond})))


def test_adding_a_schema_that_exists_changes_nothing(new_table, commit, schema_of):
    assert commit(new_table(), add_schema(schema_of(**{"schema-id": 5}))) is None


def test_another_doc_makes_another_schema(new_table, commit, schema_of):
    first, *others = schema_of()["fields"]
    after = commit(new_table(), add_schema(schema_of({**first, "doc": "key"}, *others)))
    assert len(after.schemas) == 2


def test_other_identifier_fields_make_another_schema(new_table, commit, schema_of):
    after = commit(new_table(), add_schema(schema_of(**{"identifier-field-ids": [1]})))
    assert [schema.identifier_field_ids for schema in after.schemas] == [(), (1,)]


def test_a_column_may_change_its_type_at_will(new_table, commit, schema_of):
    retyped = schema_of({"id": 1, "name": "id", "required": True, "type": "string"})
    after = commit(new_table(), add_schema(retyped), set_current(-1))
    assert after.schemas[1].fields[0].type == "string"


def test_minus_one_is_the_schema_added_last(new_table, commit, wider, schema_of):
    other = schema_of({**EXTRA, "id": 9})
    after = commit(
        new_table(), add_schema(other), add_schema(wider), add_schema(other), set_current(-1)
    )
    assert after.current_schema_id == 1


@pytest.mark.parametrize("added", [False, True])
def test_minus_one_needs_a_schema_that_this_commit_added(
    new_table, commit, schema_of, refused, added
):
    updates = [add_schema(schema_of())] if added else []
    with refused(400, "none was added"):
        commit(new_table(), *updates, set_current(-1))


def test_an_unknown_schema_cannot_be_current(new_table, commit, refused):
    with refused(400, "Unknown schema: 7"):
        commit(new_table(), set_current(7))


def test_the_current_schema_again_changes_nothing(new_table, commit):
    assert commit(new_table(), set_current(0)) is None


def test_a_version_3_schema_is_refused_on_version_2(new_table, commit, schema_of, refused):
    schema = schema_of({**EXTRA, "type": "timestamp_ns"})
    assert commit(new_table(3), add_schema(schema)) is not None
    with refused(400, "needs format version 3"):
        commit(new_table(2), add_schema(schema))


def test_a_current_schema_must_serve_the_default_spec(new_table, commit, schema_of, refused):
    table = new_table(partition_spec={"fields": [partition("data", 2)]})
    with refused(400, "Partition field data has no source"):
        commit(table, add_schema(schema_of({**EXTRA, "id": 1})), set_current(-1))


def test_a_current_schema_must_serve_the_default_sort_order(new_table, commit, schema_of, refused):
    table = new_table(write_order={"fields": [sort(2)]})
    with refused(400, "A sort field has no source"):
        commit(table, add_schema(schema_of({**EXTRA, "id": 1})), set_current(-1))


def test_a_void_field_outlives_its_column(new_table, commit, schema_of):
    table = new_table(partition_spec={"fields": [partition("data", 2, "void")]})
    after = commit(table, add_schema(schema_of({**EXTRA, "id": 1})), set_current(-1))
    assert after.partition_specs == table.partition_specs


def test_a_void_sort_field_needs_its_column_as_in_java(new_table, commit, schema_of, refused):
    table = new_table(write_order={"fields": [sort(2, "void")]})
    with refused(400, "A sort field has no source"):
        commit(table, add_schema(schema_of({**EXTRA, "id": 1})), set_current(-1))


def test_a_spec_that_is_not_the_default_may_lose_its_column(new_table, commit, schema_of):
    table = commit(new_table(), add_spec(partition("data", 2)))
    after = commit(table, add_schema(schema_of({**EXTRA, "id": 1})), set_current(-1))
    assert len(after.partition_specs) == 2


def test_schemas_are_removed(new_table, commit, wider):
    table = commit(new_table(), add_schema(wider))
    after = commit(table, {"action": "remove-schemas", "schema-ids": [1, 99]})
    assert [schema.schema_id for schema in after.schemas] == [0]
    assert after.last_column_id == 4


def test_a_removed_schema_that_comes_back_is_the_last_added_one(new_table, commit, wider):
    after = commit(
        new_table(),
        add_schema(wider),
        {"action": "remove-schemas", "schema-ids": [1]},
        add_schema(wider),
        set_current(-1),
    )
    assert after.current_schema_id == 1


@pytest.mark.parametrize(
    ("action", "member", "why"),
    [
        ("remove-schemas", "schema-ids", "The current schema stays"),
        ("remove-partition-specs", "spec-ids", "The default spec stays"),
    ],
)
def test_what_is_in_use_cannot_be_removed(new_table, commit, refused, action, member, why):
    with refused(400, why):
        commit(new_table(), {"action": action, member: [7, 0]})


@pytest.mark.parametrize(
    ("action", "member"), [("remove-schemas", "schema-ids"), ("remove-partition-specs", "spec-ids")]
)
def test_removing_unknown_ids_is_a_change_and_removing_none_is_not(
    new_table, commit, action, member
):
    table = new_table()
    assert commit(table, {"action": action, member: []}) is None
    after = commit(table, {"action": action, member: [99]})
    assert (after.schemas, after.partition_specs) == (table.schemas, table.partition_specs)


def test_no_schema_id_is_left_after_the_highest(new_table, commit, wider, schema_of, refused):
    table = new_table()
    nearly_full = structs.replace(
        table,
        current_schema_id=2**31 - 2,
        schemas=(structs.replace(table.schemas[0], schema_id=2**31 - 2),),
    )
    full = commit(nearly_full, add_schema(wider))
    assert full.schemas[1].schema_id == 2**31 - 1
    with refused(400, "no id is left"):
        commit(full, add_schema(schema_of(EXTRA)))


@pytest.mark.parametrize("member", ["partition_spec", "write_order"])
def test_an_existing_schema_must_serve_the_defaults_to_become_current(
    new_table, commit, schema_of, refused, member
):
    field = partition("data", 2) if member == "partition_spec" else sort(2)
    table = new_table(**{member: {"fields": [field]}})
    table = commit(table, add_schema(schema_of({**EXTRA, "id": 1})))
    with refused(400, "no column"):
        commit(table, set_current(1))


@pytest.mark.parametrize("kind", [ADD_SPEC, ADD_ORDER])
def test_a_default_that_lost_its_column_is_refused(new_table, commit, schema_of, refused, kind):
    table = commit(new_table(), ADDS[kind](2))
    table = commit(table, add_schema(schema_of({**EXTRA, "id": 1})), set_current(-1))
    with refused(400, "no column"):
        commit(table, SETS[kind](1))


# partition specs


def test_an_added_spec_gets_ids_and_is_not_the_default(new_table, commit):
    after = commit(new_table(), add_spec(partition("d", 3, "day"), partition("id", 1)))
    spec = after.partition_specs[1]
    assert (spec.spec_id, after.default_spec_id) == (1, 0)
    assert [field.field_id for field in spec.fields] == [1000, 1001]
    assert after.last_partition_id == 1001


def test_field_ids_that_were_sent_are_kept(new_table, commit):
    after = commit(
        new_table(),
        add_spec(
            partition("d", 3, "day", **{"field-id": 1007}),
            partition("id", 1, **{"field-id": 1003}),
            **{"spec-id": 44},
        ),
    )
    assert [field.field_id for field in after.partition_specs[1].fields] == [1007, 1003]
    assert (after.partition_specs[1].spec_id, after.last_partition_id) == (1, 1007)


def test_field_ids_continue_and_an_equal_field_keeps_its_id(new_table, commit):
    table = commit(new_table(), add_spec(partition("d", 3, "day"), partition("id", 1)))
    after = commit(
        table,
        add_spec(partition("h", 3, "hour"), partition("renamed", 1), partition("again", 1)),
    )
    assert [field.field_id for field in after.partition_specs[2].fields] == [1002, 1001, 1003]
    assert after.last_partition_id == 1003


def test_adding_a_spec_that_exists_changes_nothing(new_table, commit):
    table = new_table(partition_spec={"fields": [partition("id", 1)]})
    again = add_spec(partition("id", 1, "IDENTITY", **{"field-id": 1009}))
    assert commit(table, again) is None


def test_version_1_numbers_the_fields_of_every_spec_from_1000(new_table, commit, refused):
    table = new_table(1, partition_spec={"fields": [partition("id", 1)]})
    after = commit(table, add_spec(partition("d", 3, "day"), partition("id", 1)))
    assert [field.field_id for field in after.partition_specs[1].fields] == [1000, 1001]
    with refused(400, "Version 1 needs partition field ids"):
        commit(table, add_spec(partition("d", 3, "day", **{"field-id": 1001})))


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ((partition("x", 9),), "no column 9"),
        ((partition("x", 1, "year"),), "year does not apply to type long"),
        ((partition("", 1),), "has no name"),
        ((partition("x", 1), partition("x", 2)), "Two partition fields are named x"),
        ((partition("data", 1),), "not its source"),
        (
            (partition("x", 1, **{"field-id": 1000}), partition("y", 2)),
            "for all fields or for none",
        ),
        (
            (partition("x", 1, **{"field-id": 1000}), partition("y", 2, **{"field-id": 1000})),
            "not unique",
        ),
    ],
)
def test_a_spec_that_does_not_fit_is_refused(new_table, commit, refused, fields, why):
    with refused(400, why):
        commit(new_table(), add_spec(*fields))


def test_a_spec_is_bound_to_the_schema_that_is_current_at_that_point(
    new_table, commit, wider, refused
):
    spec = add_spec(partition("extra", 4))
    after = commit(new_table(), add_schema(wider), set_current(-1), spec, set_spec(-1))
    assert after.default_spec_id == 1
    with refused(400, "no column"):
        commit(new_table(), add_schema(wider), spec, set_current(-1))


def test_no_partition_field_id_is_left_after_the_highest(new_table, commit, refused):
    table = commit(new_table(), add_spec(partition("w", 1, **{"field-id": 2**31 - 2})))
    table = commit(table, add_spec(partition("x", 2)))
    assert table.last_partition_id == 2**31 - 1
    with refused(400, "no id is left"):
        commit(table, add_spec(partition("y", 3)))


def test_removed_specs_leave_the_last_partition_id(new_table, commit):
    table = commit(new_table(), add_spec(partition("id", 1)))
    after = commit(table, {"action": "remove-partition-specs", "spec-ids": [1]})
    assert (len(after.partition_specs), after.last_partition_id) == (1, 1000)


# sort orders


def test_sorted_orders_are_numbered_from_1(new_table, commit):
    after = commit(new_table(), add_order(sort(1), order_id=44), add_order(sort(2)))
    assert [order.order_id for order in after.sort_orders] == [0, 1, 2]
    assert after.default_sort_order_id == 0


def test_adding_an_order_that_exists_changes_nothing(new_table, commit):
    table = new_table(write_order={"fields": [sort(1)]})
    assert commit(table, add_order(sort(1), order_id=5)) is None


def test_the_unsorted_order_is_added_as_0(new_table, commit):
    table = new_table(write_order={"fields": [sort(1)]})
    after = commit(table, add_order(order_id=0), set_order(-1))
    assert [order.order_id for order in after.sort_orders] == [1, 0]
    assert after.default_sort_order_id == 0


@pytest.mark.parametrize(
    ("update", "why"),
    [
        (add_order(sort(1), order_id=0), "cannot have fields"),
        (add_order(order_id=3), "has id 0"),
        (add_order(sort(9)), "no column 9"),
        (add_order(sort(1, "hour")), "does not apply to type"),
    ],
)
def test_an_order_that_does_not_fit_is_refused(new_table, commit, refused, update, why):
    with refused(400, why):
        commit(new_table(), update)


# the same rules for specs and orders

ADDS = {ADD_SPEC: lambda source: add_spec(partition(f"p{source}", source)),
        ADD_ORDER: lambda source: add_order(sort(source))}  # fmt: skip
SETS = {ADD_SPEC: set_spec, ADD_ORDER: set_order}
DEFAULTS = {ADD_SPEC: "default_spec_id", ADD_ORDER: "default_sort_order_id"}


@pytest.fixture(params=[ADD_SPEC, ADD_ORDER])
def kind(request):
    return request.param


def test_a_default_is_set_by_id_and_by_minus_one(new_table, commit, kind):
    add, set_default = ADDS[kind], SETS[kind]
    table = commit(new_table(), add(1), add(2), set_default(-1))
    assert getattr(table, DEFAULTS[kind]) == 2
    assert getattr(commit(table, set_default(1)), DEFAULTS[kind]) == 1
    assert commit(table, set_default(2)) is None


def test_an_unknown_default_is_refused(new_table, commit, refused, kind):
    with refused(400, "Unknown"):
        commit(new_table(), SETS[kind](7))


def test_minus_one_needs_something_that_this_commit_added(new_table, commit, refused, kind):
    table = commit(new_table(), ADDS[kind](1))
    for updates in ((), (ADDS[kind](1),)):
        with refused(400, "none was added"):
            commit(table, *updates, SETS[kind](-1))


def test_an_old_one_added_again_after_a_new_one_is_the_last_added(new_table, commit, kind):
    table = commit(new_table(), ADDS[kind](1))
    after = commit(table, ADDS[kind](2), ADDS[kind](1), SETS[kind](-1))
    assert getattr(after, DEFAULTS[kind]) == 1
