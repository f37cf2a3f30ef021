"""Commits as a whole: reading, order, creation, logs, registries."""

import importlib
import json
import pkgutil
from typing import get_args

import msgspec
import pytest
from msgspec import structs
from tests.contracts import CONTRACT

from icecheck.mock_server import updates
from icecheck.mock_server.commits.assertions import ASSERTIONS
from icecheck.mock_server.commits.commit import (
    apply_commit,
    decode_commit,
    decode_commit_transaction,
    default_registries,
)
from icecheck.mock_server.metadata.encoding import encode
from icecheck.mock_server.updates import UPDATES, registry

UUID = "77777777-2222-4333-8444-555555555555"


def properties(**updates):
    return {"action": "set-properties", "updates": updates}


def set_location(location):
    return {"action": "set-location", "location": location}


# reading


def test_every_table_update_is_registered_under_its_action():
    assert set(UPDATES) == set(CONTRACT.table_updates)
    for name, update in UPDATES.items():
        assert update.__struct_config__.tag == name
        assert update.__doc__
        assert update.apply.__doc__


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


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"updates":[]}',
        b'{"requirements":[]}',
        b'{"requirements":0,"updates":[]}',
        b'{"requirements":[],"updates":{}}',
        b'{"requirements":[],"updates":[null]}',
        b'{"requirements":[],"updates":[{}]}',
        b'{"requirements":[],"updates":[{"action":null}]}',
        b'{"requirements":[],"updates":[{"action":1}]}',
        b'{"requirements":[],"updates":[{"action":"become-better"}]}',
        b'{"requirements":[],"updates":[{"action":"SET-LOCATION","location":"x"}]}',
        b'{"requirements":[],"updates":[{"action":"add-view-version"}]}',
        b'{"requirements":[],"updates":[{"action":"set-current-view-version"}]}',
        b'{"requirements":[],"updates":[{"action":"set-location","action":"set-location"}]}',
        b'{"requirements":[],"updates":[{"action":"set-location","location":null}]}',
        b'{"requirements":[],"updates":[{"action":"set-properties","updated":{"a":"b"}}]}',
        b'{"requirements":[],"updates":[{"action":"set-properties","updates":{"a":null}}]}',
        b'{"requirements":[],"updates":[{"action":"remove-snapshots","snapshot-ids":[null]}]}',
        b'{"requirements":[],"updates":[{"action":"remove-snapshots","snapshot-ids":[1e2]}]}',
        b'{"requirements":[],"updates":[],"x":NaN}',
        b'{"requirements":[],"updates":[]} trailing',
        b'{"identifier":{"namespace":["a"]},"requirements":[],"updates":[]}',
        b'{"identifier":{"namespace":"a","name":"t"},"requirements":[],"updates":[]}',
        b'{"requirements":[],"updates":[{"action":"set-location","location":"x","y":'
        + b"[" * 100_000
        + b"]" * 100_000
        + b"}]}",
    ],
)
def test_a_commit_that_cannot_be_read_is_refused(body, refused):
    with refused(400, "Malformed request"):
        decode_commit(body)


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


def test_unknown_members_of_an_update_are_ignored():
    body = b'{"requirements":[],"updates":[{"action":"set-location","location":"x","y":1}],"z":2}'
    assert decode_commit(body).updates[0].location == "x"


def test_an_identifier_is_read_and_may_be_null():
    body = {"identifier": {"namespace": ["a", "b"], "name": "t"}, "requirements": [], "updates": []}
    identifier = decode_commit(msgspec.json.encode(body)).identifier
    assert (identifier.namespace, identifier.name) == (("a", "b"), "t")
    assert decode_commit(msgspec.json.encode(body | {"identifier": None})).identifier is None


def test_a_transaction_is_read_change_by_change(snapshot):
    def change(name, snapshot_id):
        return {
            "identifier": {"namespace": ["a"], "name": name},
            "requirements": [],
            "updates": [{"action": "add-snapshot", "snapshot": snapshot(snapshot_id)}],
        }

    body = {"table-changes": [change("t", 1), change("u", 2)]}
    changes = decode_commit_transaction(msgspec.json.encode(body))
    assert [identifier.name for identifier, _ in changes] == ["t", "u"]
    assert [change.updates[0].snapshot.snapshot_id for _, change in changes] == [1, 2]


@pytest.mark.parametrize(
    "body",
    [
        b'{"table-changes":[]}',
        b'{"table-changes":[{"requirements":[],"updates":[]}]}',
        b'{"table-changes":[{"identifier":null,"requirements":[],"updates":[]}]}',
        b'{"table-changes":null}',
        b"{}",
    ],
)
def test_a_transaction_names_a_table_in_every_change(body, refused):
    with refused(400):
        decode_commit_transaction(body)


# order


def test_assertions_are_judged_before_updates(new_table, commit, refused):
    wrong = {"type": "assert-current-schema-id", "current-schema-id": 9}
    with refused(409):
        commit(new_table(), set_location(""), requirements=(wrong,))


def test_the_first_failing_assertion_is_reported(new_table, commit, refused):
    schema = {"type": "assert-current-schema-id", "current-schema-id": 9}
    spec = {"type": "assert-default-spec-id", "default-spec-id": 9}
    with refused(409, "default partition spec"):
        commit(new_table(), requirements=(spec, schema))


def test_assertions_are_about_the_table_as_it_was(new_table, commit, schema_of):
    schema = schema_of({"id": 4, "name": "x", "required": False, "type": "int"})
    after = commit(
        new_table(),
        {"action": "add-schema", "schema": schema},
        {"action": "set-current-schema", "schema-id": -1},
        requirements=({"type": "assert-current-schema-id", "current-schema-id": 0},),
    )
    assert after.current_schema_id == 1


def test_updates_are_applied_in_order(new_table, commit):
    after = commit(
        new_table(), properties(a="1"), {"action": "remove-properties", "removals": ["a"]}
    )
    assert "a" not in after.properties
    after = commit(
        new_table(), {"action": "remove-properties", "removals": ["a"]}, properties(a="1")
    )
    assert after.properties["a"] == "1"


def test_a_refused_commit_leaves_the_table_as_it_was(new_table, commit, refused):
    table = new_table()
    before = encode(table)
    with refused(400):
        commit(table, properties(a="1"), {"action": "set-default-spec", "spec-id": 9})
    assert encode(table) == before


@pytest.mark.parametrize("updates", [(), (properties(),)])
def test_a_commit_without_effect_gives_nothing(new_table, commit, updates):
    assert commit(new_table(), *updates) is None


# logs


def test_each_commit_logs_the_metadata_file_it_replaces(new_table, commit, now_ms):
    table = new_table()
    for number in range(3):
        table = commit(table, properties(a="b"), now_ms=now_ms + number, base_location=f"m{number}")
    assert [(e.timestamp_ms, e.metadata_file) for e in table.metadata_log] == [
        (now_ms, "m0"),
        (now_ms, "m1"),
        (now_ms + 1, "m2"),
    ]


@pytest.mark.parametrize(("limit", "kept"), [("2", 2), ("0", 1), ("-5", 1)])
def test_the_metadata_log_is_cut_by_the_new_properties(new_table, commit, limit, kept):
    table = new_table()
    for number in range(4):
        table = commit(table, properties(a="b"), base_location=f"m{number}")
    update = properties(**{"write.metadata.previous-versions-max": limit})
    table = commit(table, update, base_location="m4")
    assert [entry.metadata_file for entry in table.metadata_log] == ["m3", "m4"][-kept:]


def test_the_metadata_log_keeps_a_hundred_files(new_table, commit):
    table = new_table()
    for number in range(102):
        table = commit(table, properties(a="b"), base_location=f"m{number}")
    files = [entry.metadata_file for entry in table.metadata_log]
    assert (len(files), files[0], files[-1]) == (100, "m2", "m101")


def test_a_log_length_that_is_no_number_is_refused(new_table, commit, refused):
    with refused(400, "previous-versions-max"):
        commit(new_table(), properties(**{"write.metadata.previous-versions-max": "x"}))


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


def test_without_a_metadata_file_there_is_nothing_to_log(new_table, commit):
    assert commit(new_table(), properties(a="b"), base_location=None).metadata_log == ()


# registries


def applied(table, commit_body, assertions, updates):
    return apply_commit(
        table,
        decode_commit(json.dumps(commit_body).encode()),
        assertions=assertions,
        updates=updates,
        now_ms=1_700_000_009_000,
        new_uuid=lambda: UUID,
    )


def test_a_replaced_entry_changes_the_behaviour_of_one_call(new_table):
    assertions, updates = default_registries()
    assertions["assert-table-uuid"] = lambda _assertion, _metadata: None
    updates["set-location"] = lambda _update, draft: draft.change(location="elsewhere")
    body = {
        "requirements": [{"type": "assert-table-uuid", "uuid": "wrong"}],
        "updates": [set_location("s3://right")],
    }
    assert applied(new_table(), body, assertions, updates).location == "elsewhere"


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
