"""Row ids of snapshots, and which members of a snapshot are kept."""

import pytest

from icecheck.mock_server.metadata.encoding import to_builtins


def test_row_ids_are_counted_on_version_3(new_table, commit, add_main):
    table = commit(new_table(3), *add_main(1, sequence_number=1, first_row_id=0, added_rows=10))
    assert table.next_row_id == 10
    table = commit(table, *add_main(2, sequence_number=2, first_row_id=10, added_rows=0))
    assert table.next_row_id == 10
    assert to_builtins(table)["next-row-id"] == 10


def test_row_ids_reach_the_highest_number(new_table, commit, add_main):
    rows = {"first_row_id": 2**63 - 2, "added_rows": 1}
    assert commit(new_table(3), *add_main(1, sequence_number=1, **rows)).next_row_id == 2**63 - 1


def test_the_next_row_id_is_higher_than_every_assigned_one(new_table, commit, add_main):
    table = commit(new_table(3), *add_main(1, sequence_number=1, first_row_id=100, added_rows=5))
    assert table.next_row_id == 105


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ({}, "first-row-id is missing"),
        ({"first_row_id": 10}, "added-rows is missing"),
        ({"first_row_id": 9, "added_rows": 1}, "first-row-id 9 is behind next-row-id 10"),
        ({"first_row_id": 10, "added_rows": -1}, "added-rows is negative"),
        ({"first_row_id": 2**63 - 2, "added_rows": 2}, "added-rows is out of range"),
    ],
)
def test_a_version_3_snapshot_says_which_rows_it_adds(
    new_table, commit, add_main, refused, members, why
):
    table = commit(new_table(3), *add_main(1, sequence_number=1, first_row_id=0, added_rows=10))
    with refused(400, why):
        commit(table, *add_main(2, sequence_number=2, **members))


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ({"first_row_id": -1, "added_rows": 1}, "first-row-id is negative"),
        ({"first_row_id": 0, "added_rows": -1}, "added-rows is negative"),
        ({"added_rows": -1}, "added-rows is negative"),
        ({"first_row_id": 0}, "added-rows is missing"),
    ],
)
def test_rows_that_java_clients_could_not_read_are_refused_on_every_version(
    new_table, commit, add_main, refused, members, why
):
    with refused(400, why):
        commit(new_table(2), *add_main(1, sequence_number=1, **members))


def test_added_rows_without_a_first_row_id_are_not_kept(new_table, commit, add_main):
    table = commit(new_table(2), *add_main(1, sequence_number=1, added_rows=3))
    assert "added-rows" not in to_builtins(table)["snapshots"][0]


def test_of_two_ways_to_list_manifests_the_list_is_kept(new_table, commit, add_main):
    table = commit(new_table(1), *add_main(1, manifests=["s3://b/m.avro"]))
    (written,) = to_builtins(table)["snapshots"]
    assert "manifest-list" in written
    assert "manifests" not in written


def test_a_snapshot_with_manifests_in_place_has_no_rows_and_no_key(new_table, commit, add_main):
    newer = {"first_row_id": 0, "added_rows": 1, "key_id": "k"}
    manifests = ["s3://b/m.avro"]
    table = commit(new_table(1), *add_main(1, manifest_list=None, manifests=manifests, **newer))
    (written,) = to_builtins(table)["snapshots"]
    assert written["manifests"] == manifests
    assert written.keys().isdisjoint({"first-row-id", "added-rows", "key-id"})


def test_removing_snapshots_never_lowers_the_next_row_id(new_table, commit, add_main):
    table = commit(new_table(3), *add_main(1, sequence_number=1, first_row_id=0, added_rows=10))
    after = commit(table, {"action": "remove-snapshots", "snapshot-ids": [1]})
    assert (after.next_row_id, after.last_sequence_number) == (10, 1)
