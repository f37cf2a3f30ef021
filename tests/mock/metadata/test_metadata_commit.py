"""Commits as a whole: what is registered, and what no check of the suite can see."""

import importlib
import json
import pkgutil
from typing import get_args

import msgspec
import pytest
from msgspec import structs

from icecheck.mock_server import updates
from icecheck.mock_server.commits.assertions import ASSERTIONS, AssertCreate, AssertTableUUID
from icecheck.mock_server.commits.commit import (
    apply_commit,
    decode_commit,
    default_registries,
)
from icecheck.mock_server.updates import UPDATES, registry
from tests.kit.contracts import CONTRACT

UUID = "77777777-2222-4333-8444-555555555555"


def properties(**updates):
    return {"action": "set-properties", "updates": updates}


def set_location(location):
    return {"action": "set-location", "location": location}


def test_every_table_update_is_registered_under_its_action():
    assert set(UPDATES) == set(CONTRACT.table_updates)
    for name, update in UPDATES.items():
        assert update.__struct_config__.tag == name
        assert update.__doc__
        assert update.apply.__doc__


def test_every_assertion_is_registered_under_its_type():
    assert set(ASSERTIONS) == set(CONTRACT.table_assertions)
    for name, assertion in ASSERTIONS.items():
        assert assertion.__struct_config__.tag == name
        assert assertion.__doc__


def test_an_absent_table_satisfies_assert_create_only(refused):
    AssertCreate().check(None)
    with refused(409, "table does not exist"):
        AssertTableUUID(uuid=UUID).check(None)


def test_every_class_with_an_action_is_an_update():
    classes = [
        value
        for found in pkgutil.iter_modules(updates.__path__, f"{updates.__name__}.")
        for value in vars(importlib.import_module(found.name)).values()
        if getattr(getattr(value, "__struct_config__", None), "tag_field", None) == "action"
    ]
    accepted = {*updates.UPDATES.values(), *updates.VIEW_UPDATES.values()}
    assert {each.__name__ for each in classes} == {each.__name__ for each in accepted}
    assert {*get_args(updates.TableUpdate), *get_args(updates.ViewUpdate)} == accepted


def test_an_action_has_one_class():
    with pytest.raises(ValueError, match="set-location"):
        registry.table_update(updates.UPDATES["set-location"])


def test_registries_are_fresh_each_time():
    first, second = default_registries(), default_registries()
    first[1].clear()
    assert set(second[1]) == set(UPDATES)
    assert set(second[0]) == set(ASSERTIONS)


def test_null_is_refused_where_java_reads_none_and_no_client_sends_it(snapshot, refused):
    key = {"key-id": "k", "encrypted-key-metadata": "Zm9v"}
    for update in (
        {"action": "add-snapshot", "snapshot": {**snapshot(1), "summary": None}},
        {"action": "add-encryption-key", "encryption-key": {**key, "properties": None}},
    ):
        with refused(400, "Expected `object`, got `null`"):
            decode_commit(msgspec.json.encode({"requirements": [], "updates": [update]}))


def test_a_type_nested_too_deeply_is_refused(new_table, commit, schema_of, refused):
    kind = "int"
    for number in range(300):
        kind = {"type": "list", "element-id": number + 2, "element": kind, "element-required": True}
    schema = schema_of({"id": 1, "name": "a", "required": True, "type": kind})
    with refused(400, "nested"):
        commit(new_table(), {"action": "add-schema", "schema": schema})


@pytest.mark.parametrize(("limit", "kept"), [("2", 2), ("0", 1), ("-5", 1)])
def test_the_metadata_log_is_cut_by_the_new_properties(new_table, commit, limit, kept):
    table = new_table()
    for number in range(4):
        table = commit(table, properties(a="b"), base_location=f"m{number}")
    update = properties(**{"write.metadata.previous-versions-max": limit})
    table = commit(table, update, base_location="m4")
    assert [entry.metadata_file for entry in table.metadata_log] == ["m3", "m4"][-kept:]


def test_a_table_does_not_begin_with_a_limit_that_its_next_commit_would_be_refused_for(
    commit, refused
):
    with refused(400, "previous-versions-max"):
        commit(
            None,
            {"action": "add-schema", "schema": {"type": "struct", "fields": []}},
            {"action": "add-spec", "spec": {"fields": []}},
            {"action": "add-sort-order", "sort-order": {"fields": []}},
            properties(**{"write.metadata.previous-versions-max": "x"}),
            requirements=({"type": "assert-create"},),
            default_location="s3://b/t",
        )


def test_the_time_of_a_table_never_runs_backwards(new_table, commit, now_ms):
    after = commit(new_table(), properties(a="b"), now_ms=now_ms - 10_000_000)
    assert after.last_updated_ms == now_ms


def applied(table, commit_body, assertions, updates):
    return apply_commit(
        table,
        decode_commit(json.dumps(commit_body).encode()),
        assertions=assertions,
        updates=updates,
        now_ms=1_700_000_009_000,
        new_uuid=lambda: UUID,
    )


def test_a_removed_entry_is_unknown(new_table, refused):
    assertions, updates = default_registries()
    del assertions["assert-table-uuid"], updates["set-location"]
    uuid = {"type": "assert-table-uuid", "uuid": new_table().table_uuid}
    with refused(400, "Unknown requirement type"):
        applied(new_table(), {"requirements": [uuid], "updates": []}, assertions, updates)
    with refused(400, "Unknown update action"):
        body = {"requirements": [], "updates": [set_location("x")]}
        applied(new_table(), body, assertions, updates)


def test_a_commit_shares_what_it_does_not_change(table_with_history, commit):
    after = commit(table_with_history, properties(a="b"))
    for member in ("schemas", "snapshots", "refs", "snapshot_log", "partition_specs"):
        assert getattr(after, member) is getattr(table_with_history, member)
    assert structs.replace(after, properties={}) != after
