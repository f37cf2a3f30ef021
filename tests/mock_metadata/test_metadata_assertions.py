"""The assertions of a commit: each both ways, and what an absent table means to them."""

import pytest
from tests.contracts import CONTRACT

from icecheck.mock_server.commits.assertions import ASSERTIONS, AssertCreate, AssertTableUUID

UUID = "11111111-2222-4333-8444-555555555555"
HOLDING = [
    {"type": "assert-table-uuid", "uuid": UUID.upper()},
    {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 2},
    {"type": "assert-ref-snapshot-id", "ref": "audit", "snapshot-id": None},
    {"type": "assert-last-assigned-field-id", "last-assigned-field-id": 3},
    {"type": "assert-current-schema-id", "current-schema-id": 0},
    {"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": 999},
    {"type": "assert-default-spec-id", "default-spec-id": 0},
    {"type": "assert-default-sort-order-id", "default-sort-order-id": 0},
]
FAILING = [
    ({"type": "assert-create"}, "table already exists"),
    (
        {"type": "assert-table-uuid", "uuid": "other"},
        f"UUID does not match: expected {UUID} != other",
    ),
    (
        {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 1},
        "branch main has changed: expected id 1 != 2",
    ),
    (
        {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": None},
        "branch main was created concurrently",
    ),
    (
        {"type": "assert-ref-snapshot-id", "ref": "audit", "snapshot-id": 1},
        "branch or tag audit is missing, expected 1",
    ),
    (
        {"type": "assert-last-assigned-field-id", "last-assigned-field-id": 2},
        "last assigned field id changed: expected id 2 != 3",
    ),
    (
        {"type": "assert-current-schema-id", "current-schema-id": 1},
        "current schema changed: expected id 1 != 0",
    ),
    (
        {"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": 1000},
        "last assigned partition id changed: expected id 1000 != 999",
    ),
    (
        {"type": "assert-default-spec-id", "default-spec-id": 1},
        "default partition spec changed: expected id 1 != 0",
    ),
    (
        {"type": "assert-default-sort-order-id", "default-sort-order-id": 1},
        "default sort order changed: expected id 1 != 0",
    ),
]
CHANGE = {"action": "set-properties", "updates": {"a": "b"}}


@pytest.mark.parametrize("requirement", HOLDING, ids=lambda each: each["type"])
def test_an_assertion_that_holds_lets_the_commit_through(table_with_history, commit, requirement):
    after = commit(table_with_history, CHANGE, requirements=(requirement,))
    assert after.properties["a"] == "b"


@pytest.mark.parametrize(("requirement", "why"), FAILING, ids=lambda each: str(each)[:60])
def test_an_assertion_that_does_not_hold_is_a_conflict(
    table_with_history, commit, refused, requirement, why
):
    with refused(409, f"Requirement failed: {why}"):
        commit(table_with_history, CHANGE, requirements=(requirement,))


def test_a_tag_is_called_a_tag_in_the_refusal(table_with_history, commit, set_ref, refused):
    tagged = commit(table_with_history, set_ref("v1", 1, type="tag"))
    requirement = {"type": "assert-ref-snapshot-id", "ref": "v1", "snapshot-id": 2}
    with refused(409, "tag v1 has changed: expected id 2 != 1"):
        commit(tagged, requirements=(requirement,))


@pytest.mark.parametrize(
    "requirement",
    [
        {"type": "assert-everything"},
        {"type": "assert-view-uuid", "uuid": UUID},
        {"type": "ASSERT-CREATE"},
        {"type": None},
        {},
        {"type": "assert-table-uuid"},
        {"type": "assert-table-uuid", "uuid": None},
        {"type": "assert-ref-snapshot-id", "ref": "main"},
        {"type": "assert-ref-snapshot-id", "snapshot-id": None},
        {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 2**63},
        {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 2.0},
        {"type": "assert-last-assigned-field-id", "last-assigned-field-id": "3"},
        {"type": "assert-current-schema-id"},
        {"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": None},
        {"type": "assert-default-spec-id", "default-spec-id": True},
        {"type": "assert-default-sort-order-id", "default-sort-order-id": 2**31},
    ],
)
def test_an_assertion_that_cannot_be_read_is_refused(new_table, commit, refused, requirement):
    with refused(400, "Malformed request"):
        commit(new_table(), CHANGE, requirements=(requirement,))


def test_an_absent_table_satisfies_assert_create_only(refused):
    AssertCreate().check(None)
    with refused(409, "table does not exist"):
        AssertTableUUID(uuid=UUID).check(None)


def test_every_assertion_is_registered_under_its_type():
    assert set(ASSERTIONS) == set(CONTRACT.table_assertions)
    assert set(ASSERTIONS) == {each["type"] for each in HOLDING} | {"assert-create"}
    for name, assertion in ASSERTIONS.items():
        assert assertion.__struct_config__.tag == name
        assert assertion.__doc__
