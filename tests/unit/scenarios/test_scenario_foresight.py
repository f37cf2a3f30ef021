"""Shown metadata are compared with the foreseen ones, and with themselves."""

import pytest

from icecheck.objects.after_updates import after_updates
from icecheck.scenarios.model.foresight import contradictions, unforeseen

COLUMNS = [
    {"id": 1, "name": "id", "type": "long", "required": True},
    {"id": 2, "name": "data", "type": "string", "required": False},
]
SNAPSHOT = {"snapshot-id": 7, "sequence-number": 3, "timestamp-ms": 1, "schema-id": 0}
TABLE = {
    "format-version": 2,
    "table-uuid": "u",
    "location": "file:/t",
    "last-column-id": 2,
    "last-partition-id": 999,
    "last-sequence-number": 3,
    "schemas": [{"type": "struct", "schema-id": 0, "fields": COLUMNS}],
    "current-schema-id": 0,
    "partition-specs": [{"spec-id": 0, "fields": []}],
    "default-spec-id": 0,
    "sort-orders": [{"order-id": 0, "fields": []}],
    "default-sort-order-id": 0,
    "snapshots": [SNAPSHOT],
    "current-snapshot-id": 7,
    "refs": {"main": {"type": "branch", "snapshot-id": 7}},
    "properties": {},
}


def contradicting(shown, before=None, *, whole_history=True):
    found = contradictions(before or {}, TABLE | shown, whole_history=whole_history)
    return [member for member, _ in found]


def test_metadata_that_fit_together_do_not_contradict_themselves():
    assert contradicting({}, TABLE) == []
    assert contradicting({"sort-orders": []}) == []
    assert list(contradictions({}, {}, whole_history=True)) == []


def test_what_the_document_lets_a_catalog_leave_out_contradicts_nothing():
    without_id = [{"type": "struct", "fields": COLUMNS[:1]}, {"type": "struct", "fields": COLUMNS}]
    assert contradicting({"schemas": without_id, "current-schema-id": 1}) == []
    assert contradicting({"partition-specs": [{"fields": []}, {"fields": []}]}) == []
    assert contradicting({"current-snapshot-id": None}) == []


@pytest.mark.parametrize(
    ("shown", "member"),
    [
        ({"current-schema-id": 4}, "current-schema-id"),
        ({"default-spec-id": 4}, "default-spec-id"),
        ({"default-sort-order-id": 4}, "default-sort-order-id"),
        ({"last-column-id": 1}, "last-column-id"),
        ({"last-sequence-number": 2}, "last-sequence-number"),
        ({"snapshots": [SNAPSHOT, SNAPSHOT]}, "snapshots"),
        ({"current-snapshot-id": 8}, "current-snapshot-id"),
        (
            {"refs": TABLE["refs"] | {"b1": {"type": "branch", "snapshot-id": 8}}},
            "refs",
        ),
    ],
)
def test_a_contradiction_is_named_after_its_member(shown, member):
    assert contradicting(shown) == [member]


@pytest.mark.parametrize(
    "member",
    ["format-version", "last-column-id", "last-partition-id", "last-sequence-number"],
)
def test_counters_never_fall(member):
    assert contradicting({}, TABLE | {member: TABLE[member] + 1}) == [member]


def test_a_catalog_that_hides_snapshots_may_show_refs_to_them():
    refs = TABLE["refs"] | {"b1": {"type": "branch", "snapshot-id": 8}}
    assert contradicting({"refs": refs}, whole_history=False) == []


UPDATES = [
    {"action": "set-properties", "updates": {"icecheck.mark": "1"}},
    {"action": "add-sort-order", "sort-order": {"order-id": 1, "fields": [{"source-id": 1}]}},
    {"action": "set-default-sort-order", "sort-order-id": -1},
]


def shown_as(**members):
    return after_updates(TABLE, UPDATES) | members


def difference(shown, *, whole_history=True):
    due = after_updates(TABLE, UPDATES)
    return unforeseen("table", TABLE, due, shown, whole_history=whole_history)


def test_what_is_foreseen_is_no_difference_under_whatever_id():
    orders = [{"order-id": 0, "fields": []}, {"order-id": 9, "fields": [{"source-id": 1}]}]
    assert difference(shown_as()) is None
    found = shown_as(**{"sort-orders": orders, "default-sort-order-id": 9})
    assert difference(found) is None


def test_what_was_named_comes_before_what_was_to_stay():
    found = difference(shown_as(**{"default-sort-order-id": 0, "location": "file:/other"}))
    assert (found.about, found.beside) == ("default-sort-order-id", False)
    found = difference(shown_as(location="file:/other"))
    assert (found.about, found.beside) == ("location", True)
    found = difference(shown_as(properties={}))
    assert (found.about, found.beside) == ("properties", False)


def test_snapshots_that_are_hidden_by_design_are_no_difference():
    assert difference(shown_as(snapshots=[]), whole_history=False) is None
    assert difference(shown_as(snapshots=[])).about == "snapshots"
