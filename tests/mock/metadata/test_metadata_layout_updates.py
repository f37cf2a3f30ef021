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


def test_minus_one_is_the_schema_added_last(new_table, commit, wider, schema_of):
    other = schema_of({**EXTRA, "id": 9})
    after = commit(
        new_table(), add_schema(other), add_schema(wider), add_schema(other), set_current(-1)
    )
    assert after.current_schema_id == 1


def test_a_current_schema_must_serve_the_default_spec(new_table, commit, schema_of, refused):
    table = new_table(partition_spec={"fields": [partition("data", 2)]})
    with refused(400, "Partition field data has no source"):
        commit(table, add_schema(schema_of({**EXTRA, "id": 1})), set_current(-1))


def test_a_current_schema_must_serve_the_default_sort_order(new_table, commit, schema_of, refused):
    table = new_table(write_order={"fields": [sort(2)]})
    with refused(400, "A sort field has no source"):
        commit(table, add_schema(schema_of({**EXTRA, "id": 1})), set_current(-1))


def test_a_void_sort_field_needs_its_column_as_in_java(new_table, commit, schema_of, refused):
    table = new_table(write_order={"fields": [sort(2, "void")]})
    with refused(400, "A sort field has no source"):
        commit(table, add_schema(schema_of({**EXTRA, "id": 1})), set_current(-1))


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


def test_minus_one_needs_something_that_this_commit_added(new_table, commit, refused, kind):
    table = commit(new_table(), ADDS[kind](1))
    for updates in ((), (ADDS[kind](1),)):
        with refused(400, "none was added"):
            commit(table, *updates, SETS[kind](-1))


def test_an_old_one_added_again_after_a_new_one_is_the_last_added(new_table, commit, kind):
    table = commit(new_table(), ADDS[kind](1))
    after = commit(table, ADDS[kind](2), ADDS[kind](1), SETS[kind](-1))
    assert getattr(after, DEFAULTS[kind]) == 1


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
