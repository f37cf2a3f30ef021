"""Create commits: a staged table becomes a table, once and whole."""

import pytest

CREATE = ({"type": "assert-create"},)
UUID = "77777777-2222-4333-8444-555555555555"


def properties(**updates):
    return {"action": "set-properties", "updates": updates}


def set_location(location):
    return {"action": "set-location", "location": location}


def creation(schema, *more, format_version=2, **members):
    """Give the updates that a Java client sends to commit a staged table."""
    updates = [
        {"action": "assign-uuid", "uuid": UUID},
        {"action": "upgrade-format-version", "format-version": format_version},
        {"action": "add-schema", "schema": schema, "last-column-id": 3},
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": members.get("spec", {"spec-id": 0, "fields": []})},
        {"action": "set-default-spec", "spec-id": -1},
        {"action": "add-sort-order", "sort-order": {"order-id": 0, "fields": []}},
        {"action": "set-default-sort-order", "sort-order-id": -1},
        set_location("s3://b/staged/"),
        properties(owner="me"),
    ]
    missing = members.get("without", ())
    return [update for update in updates if update["action"] not in missing] + list(more)


def test_a_creation_without_uuid_version_or_location_gets_them(commit, schema_of, refused):
    without = {"assign-uuid", "upgrade-format-version", "set-location"}
    updates = creation(schema_of(), without=without)
    after = commit(None, *updates, requirements=CREATE, default_location="s3://b/default/")
    assert after.table_uuid == "99999999-2222-4333-8444-555555555555"
    assert (after.format_version, after.location) == (2, "s3://b/default")
    with refused(400, "location"):
        commit(None, *updates, requirements=CREATE)


def test_a_creation_with_an_empty_uuid_is_refused(commit, schema_of, refused):
    empty = {"action": "assign-uuid", "uuid": ""}
    with refused(400, "Cannot set uuid: empty"):
        commit(None, empty, *creation(schema_of()), requirements=CREATE)


@pytest.mark.parametrize("action", ["add-schema", "add-spec", "add-sort-order"])
def test_a_creation_lacks_nothing_essential(commit, schema_of, refused, action):
    setter = {
        "add-schema": "set-current-schema",
        "add-spec": "set-default-spec",
        "add-sort-order": "set-default-sort-order",
    }[action]
    with refused(400):
        commit(None, *creation(schema_of(), without={action, setter}), requirements=CREATE)


@pytest.mark.parametrize("present", [0, 4, 6])
def test_a_snapshot_needs_a_schema_a_spec_and_an_order(
    commit, schema_of, snapshot, refused, present
):
    updates = creation(schema_of())[:present]
    added = {"action": "add-snapshot", "snapshot": snapshot(1)}
    with refused(400, "A snapshot needs a schema"):
        commit(None, *updates, added, requirements=CREATE)


def test_what_a_creation_adds_first_is_what_it_uses(commit, schema_of):
    setters = {"set-current-schema", "set-default-spec", "set-default-sort-order"}
    after = commit(None, *creation(schema_of(), without=setters), requirements=CREATE)
    ids = (after.current_schema_id, after.default_spec_id, after.default_sort_order_id)
    assert ids == (0, 0, 0)


def test_a_creation_may_not_go_back_to_a_lower_version(commit, schema_of, refused):
    lower = {"action": "upgrade-format-version", "format-version": 1}
    with refused(400, "cannot go back"):
        commit(None, *creation(schema_of(), lower), requirements=CREATE)


@pytest.mark.parametrize("exists", [False, True])
def test_assert_create_stands_alone(new_table, commit, schema_of, refused, exists):
    other = {"type": "assert-current-schema-id", "current-schema-id": 0}
    base = new_table() if exists else None
    with refused(400, "assert-create stands alone"):
        commit(base, *creation(schema_of()), requirements=(*CREATE, other))
    with refused(400, "assert-create stands alone"):
        commit(base, *creation(schema_of()), requirements=(other, *CREATE))


def test_a_commit_to_no_table_is_not_found(commit, refused):
    uuid = {"type": "assert-table-uuid", "uuid": UUID}
    for requirements in ((), (uuid,)):
        with refused(404, type_name="NoSuchTableException"):
            commit(None, set_location(""), requirements=requirements)
