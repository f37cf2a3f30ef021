"""Which commits cannot be carried out, by what the catalog has told of the object."""

import pytest

from icecheck.conformance.fuzzed.impossible import why_impossible

UUID = "0b9a5bfa-7b1e-4a3c-9d5e-2f6c8e1d4a70"
TABLE = {
    "table-uuid": UUID,
    "current-schema-id": 0,
    "default-spec-id": 0,
    "default-sort-order-id": 0,
    "last-column-id": 2,
    "last-partition-id": 999,
    "schemas": [{"schema-id": 0}],
    "partition-specs": [{"spec-id": 0}],
    "sort-orders": [{"order-id": 0}],
    "snapshots": [{"snapshot-id": 5}],
    "refs": {"main": {"snapshot-id": 5}},
}


def commit(*updates, requirements=()):
    return {"requirements": [*requirements], "updates": [*updates]}


IMPOSSIBLE = [
    commit(requirements=[{"type": "assert-create"}]),
    commit(requirements=[{"type": "assert-table-uuid", "uuid": UUID.replace("0", "1")}]),
    commit(requirements=[{"type": "assert-current-schema-id", "current-schema-id": 1}]),
    commit(requirements=[{"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": None}]),
    commit(requirements=[{"type": "assert-ref-snapshot-id", "ref": "no", "snapshot-id": 5}]),
    commit({"action": "set-current-schema", "schema-id": 7}),
    commit({"action": "set-default-spec", "spec-id": 7}),
    commit({"action": "set-default-sort-order", "sort-order-id": 7}),
    commit({"action": "set-snapshot-ref", "ref-name": "b", "type": "tag", "snapshot-id": 7}),
]
POSSIBLE = [
    commit(),
    commit(requirements=[{"type": "assert-table-uuid", "uuid": UUID.upper()}]),
    commit(requirements=[{"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 5}]),
    commit(requirements=[{"type": "assert-ref-snapshot-id", "ref": "no", "snapshot-id": None}]),
    commit({"action": "set-current-schema", "schema-id": 0}),
    # Only a SHOULD refuses it.
    commit({"action": "set-current-schema", "schema-id": -1}),
    # The catalog may have given the schema the id 7.
    commit(
        {"action": "add-schema", "schema": {}}, {"action": "set-current-schema", "schema-id": 7}
    ),
    commit({"action": "remove-schemas", "schema-ids": [7]}),
]


@pytest.mark.parametrize("body", IMPOSSIBLE)
def test_what_does_not_hold_or_is_not_there_is_impossible(body):
    assert why_impossible("updateTable", body, TABLE)
    change = {"table-changes": [{"identifier": {}, **body}]}
    assert why_impossible("commitTransaction", change, TABLE)


@pytest.mark.parametrize("body", POSSIBLE)
def test_what_may_be_carried_out_is_possible(body):
    assert why_impossible("updateTable", body, TABLE) is None


@pytest.mark.parametrize("body", IMPOSSIBLE[1:])
def test_of_what_the_catalog_does_not_tell_nothing_is_said(body):
    assert why_impossible("updateTable", body, {"format-version": 2}) is None


def test_the_second_change_of_a_table_may_meet_what_the_first_one_made():
    changes = {
        "table-changes": [{"identifier": {}, **commit()}, {"identifier": {}, **IMPOSSIBLE[0]}]
    }
    assert why_impossible("commitTransaction", changes, TABLE) is None


def test_views_have_requirements_and_versions_too():
    view = {"view-uuid": UUID, "versions": [{"version-id": 1}]}
    other = {"type": "assert-view-uuid", "uuid": UUID.replace("0", "1")}
    assert why_impossible("replaceView", commit(requirements=[other]), view)
    unknown = {"action": "set-current-view-version", "view-version-id": 7}
    assert why_impossible("replaceView", commit(unknown), view)
    assert why_impossible("replaceView", commit({**unknown, "view-version-id": 1}), view) is None
    # A commit to a view needs no list of requirements.
    assert why_impossible("replaceView", {"updates": [unknown]}, view)


@pytest.mark.parametrize("operation_id", ["createTable", "planTableScan"])
def test_other_requests_are_never_called_impossible(operation_id):
    assert why_impossible(operation_id, IMPOSSIBLE[0], TABLE) is None
