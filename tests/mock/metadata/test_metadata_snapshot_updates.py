"""Updates of snapshots, branches and tags; row ids; the snapshot log."""

import pytest
from msgspec import structs

from icecheck.mock_server.metadata.encoding import to_builtins


def add(snapshot):
    return {"action": "add-snapshot", "snapshot": snapshot}


def remove(*snapshot_ids):
    return {"action": "remove-snapshots", "snapshot-ids": list(snapshot_ids)}


def remove_ref(name):
    return {"action": "remove-snapshot-ref", "ref-name": name}


def log(table):
    return [entry.snapshot_id for entry in table.snapshot_log]


def test_a_negative_sequence_number_is_refused(new_table, commit, snapshot, refused):
    with refused(400, "Invalid sequence number"):
        commit(new_table(), add(snapshot(3, sequence_number=-1)))


def test_version_1_has_no_sequence_numbers(new_table, commit, snapshot, refused):
    assert commit(new_table(1), add(snapshot(1))).last_sequence_number == 0
    with refused(400, "Version 1 has no sequence numbers"):
        commit(new_table(1), add(snapshot(1, sequence_number=1)))


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ({"manifest_list": None}, "missing manifest-list"),
        ({"manifest_list": None, "manifests": ["m"]}, "missing manifest-list"),
        ({"summary": None}, "missing summary"),
        ({"summary": {}}, "summary.operation is None"),
        ({"summary": {"operation": "vacuum"}}, "summary.operation is 'vacuum'"),
        ({"summary": {"operation": 1}}, "Malformed request"),
        ({"timestamp_ms": None}, "timestamp-ms"),
        ({"snapshot_id": 2**63}, "Malformed request"),
        ({"parent_snapshot_id": "1"}, "Malformed request"),
        ({"schema_id": 1.0}, "Malformed request"),
    ],
)
def test_a_snapshot_lacking_what_the_document_demands_is_refused(
    new_table, commit, snapshot, refused, members, why
):
    with refused(400, why):
        commit(new_table(), add(snapshot(1, **members)))


def test_a_version_1_snapshot_may_list_manifests_and_lack_a_summary(new_table, commit, snapshot):
    sent = snapshot(1, manifest_list=None, manifests=["m"], summary=None)
    assert to_builtins(commit(new_table(1), add(sent)))["snapshots"] == [sent]


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ({"snapshot_id": 9}, "Ref x cannot name snapshot 9"),
        ({"type": "tag", "min_snapshots_to_keep": 1}, "is a tag and cannot have"),
        ({"type": "tag", "max_snapshot_age_ms": 1}, "is a tag and cannot have"),
        ({"min_snapshots_to_keep": 0}, "must be positive"),
        ({"max_snapshot_age_ms": -1}, "must be positive"),
        ({"max_ref_age_ms": 0}, "must be positive"),
        ({"type": "fork"}, "Malformed request"),
        ({"type": "TAG"}, "Malformed request"),
        ({"min_snapshots_to_keep": 1.5}, "Malformed request"),
    ],
)
def test_a_ref_that_cannot_be_is_refused(
    table_with_history, commit, set_ref, refused, members, why
):
    update = set_ref("x", 1) | {key.replace("_", "-"): value for key, value in members.items()}
    with refused(400, why):
        commit(table_with_history, update)


def test_only_the_last_of_several_appends_is_logged(new_table, commit, add_main):
    after = commit(
        new_table(),
        *add_main(1, sequence_number=1),
        *add_main(2, sequence_number=2, parent_snapshot_id=1),
    )
    assert log(after) == [2]
    assert [s.snapshot_id for s in after.snapshots] == [1, 2]


def test_an_append_that_is_rolled_back_at_once_is_not_logged(
    table_with_history, commit, add_main, set_ref
):
    after = commit(
        table_with_history,
        *add_main(3, sequence_number=3, parent_snapshot_id=2),
        set_ref("main", 2),
    )
    assert log(after) == [1, 2, 2]


def test_removing_main_leaves_snapshots_and_log(table_with_history, commit):
    after = commit(table_with_history, remove_ref("main"))
    assert (after.refs, after.current_snapshot_id) == ({}, None)
    assert (log(after), len(after.snapshots)) == ([1, 2], 2)
    assert to_builtins(after)["current-snapshot-id"] == -1


def test_a_removed_snapshot_takes_its_statistics_along(table_with_history, commit):
    file = {"snapshot-id": 1, "statistics-path": "s", "file-size-in-bytes": 1}
    other = {**file, "snapshot-id": 2}
    table = commit(
        table_with_history,
        *(
            {"action": "set-partition-statistics", "partition-statistics": each}
            for each in (file, other)
        ),
        *(
            {
                "action": "set-statistics",
                "statistics": {**each, "file-footer-size-in-bytes": 1, "blob-metadata": []},
            }
            for each in (file, other)
        ),
    )
    after = commit(table, remove(1, 99))
    for kept in (after.snapshots, after.statistics, after.partition_statistics):
        assert [each.snapshot_id for each in kept] == [2]
    assert after.snapshots[0].parent_snapshot_id == 1
    assert (after.last_sequence_number, log(after)) == (2, [2])


def test_the_log_forgets_what_came_before_a_removed_snapshot(table_with_history, commit, add_main):
    table = commit(
        table_with_history, *add_main(3, sequence_number=3, timestamp_ms=1_700_000_003_000)
    )
    assert log(commit(table, remove(2))) == [3]
    assert log(commit(table, remove(1))) == [2, 3]


def test_a_log_that_ends_elsewhere_cannot_be_rewritten(
    table_with_history, commit, set_ref, refused
):
    table = structs.replace(table_with_history, snapshot_log=table_with_history.snapshot_log[:1])
    tagged = commit(table, {"action": "set-properties", "updates": {"a": "b"}})
    with refused(400, "would not end with the current snapshot"):
        commit(
            tagged,
            add({"snapshot-id": 4, "timestamp-ms": 1_700_000_003_000, "sequence-number": 3,
                 "manifest-list": "m", "summary": {"operation": "append"}}),
            remove(4),
        )  # fmt: skip


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


def test_a_snapshot_with_manifests_in_place_has_no_rows_and_no_key(new_table, commit, add_main):
    newer = {"first_row_id": 0, "added_rows": 1, "key_id": "k"}
    manifests = ["s3://b/m.avro"]
    table = commit(new_table(1), *add_main(1, manifest_list=None, manifests=manifests, **newer))
    (written,) = to_builtins(table)["snapshots"]
    assert written["manifests"] == manifests
    assert written.keys().isdisjoint({"first-row-id", "added-rows", "key-id"})
