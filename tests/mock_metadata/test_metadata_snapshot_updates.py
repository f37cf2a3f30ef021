"""Updates of snapshots, branches and tags; the snapshot log."""

import pytest
from msgspec import structs

from icecheck.mock_server.metadata.encoding import SnapshotRef, to_builtins

MINUTE_MS = 60_000


def add(snapshot):
    return {"action": "add-snapshot", "snapshot": snapshot}


def remove(*snapshot_ids):
    return {"action": "remove-snapshots", "snapshot-ids": list(snapshot_ids)}


def remove_ref(name):
    return {"action": "remove-snapshot-ref", "ref-name": name}


def log(table):
    return [entry.snapshot_id for entry in table.snapshot_log]


# add-snapshot


def test_an_added_snapshot_is_staged(new_table, commit, snapshot):
    after = commit(new_table(), add(snapshot(7, sequence_number=1)))
    assert [s.snapshot_id for s in after.snapshots] == [7]
    assert (after.refs, after.current_snapshot_id, after.snapshot_log) == ({}, None, ())
    assert after.last_sequence_number == 1


def test_a_snapshot_id_is_used_once(table_with_history, commit, snapshot, refused):
    with refused(400, "Snapshot id is taken: 2"):
        commit(table_with_history, add(snapshot(2, sequence_number=3)))
    with refused(400, "Snapshot id is taken: 3"):
        commit(table_with_history, *[add(snapshot(3, sequence_number=3))] * 2)


@pytest.mark.parametrize("number", [1, 2])
def test_a_child_has_a_higher_sequence_number(
    table_with_history, commit, snapshot, refused, number
):
    with refused(400, f"Sequence number {number} is not above the table's last one, 2"):
        commit(table_with_history, add(snapshot(3, sequence_number=number, parent_snapshot_id=2)))


def test_a_snapshot_without_parent_may_repeat_the_last_sequence_number(
    table_with_history, commit, snapshot
):
    after = commit(table_with_history, add(snapshot(3, sequence_number=2)))
    assert after.last_sequence_number == 2


def test_no_snapshot_may_be_ahead_of_the_last_sequence_number(
    table_with_history, commit, snapshot, refused
):
    with refused(400, "Snapshot sequence number 2 is above the table's last one, 1"):
        commit(table_with_history, add(snapshot(3, sequence_number=1)))


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


def test_a_parent_and_a_schema_need_not_exist(new_table, commit, snapshot):
    sent = snapshot(1, sequence_number=1, parent_snapshot_id=99, schema_id=99)
    assert commit(new_table(), add(sent)).snapshots[0].parent_snapshot_id == 99


# time


def test_the_time_of_a_snapshot_is_the_time_of_the_change(new_table, commit, snapshot, now_ms):
    table = new_table()
    sent = snapshot(1, timestamp_ms=now_ms + 77)
    assert commit(table, add(sent), now_ms=now_ms + 5000).last_updated_ms == now_ms + 77
    rename = {"action": "set-properties", "updates": {"a": "b"}}
    assert commit(table, rename, now_ms=now_ms + 5000).last_updated_ms == now_ms + 5000


def test_a_snapshot_may_be_a_minute_old_but_not_older(new_table, commit, snapshot, now_ms, refused):
    old = commit(new_table(), add(snapshot(1, timestamp_ms=now_ms - MINUTE_MS)))
    assert old.last_updated_ms == now_ms - MINUTE_MS
    with refused(400, "comes before the latest"):
        commit(new_table(), add(snapshot(1, timestamp_ms=now_ms - MINUTE_MS - 1)))


def test_a_snapshot_from_the_future_does_not_stop_later_commits(
    new_table, commit, add_main, now_ms
):
    future_ms = now_ms + 100 * MINUTE_MS
    table = commit(new_table(), *add_main(1, timestamp_ms=future_ms))
    after = commit(table, {"action": "set-properties", "updates": {"a": "b"}}, now_ms=now_ms)
    assert after.last_updated_ms == future_ms


def test_a_ref_dates_the_change_by_the_new_snapshot_it_names(
    new_table, commit, snapshot, set_ref, now_ms
):
    after = commit(
        new_table(),
        add(snapshot(1, sequence_number=1, timestamp_ms=now_ms + 1)),
        add(snapshot(2, sequence_number=2, timestamp_ms=now_ms + 2)),
        set_ref("audit", 1),
    )
    assert after.last_updated_ms == now_ms + 1


# set-snapshot-ref


def test_setting_main_makes_the_snapshot_current(new_table, commit, add_main, now_ms):
    after = commit(new_table(), *add_main(1, timestamp_ms=now_ms + 9))
    assert after.current_snapshot_id == 1
    assert after.refs == {"main": SnapshotRef(snapshot_id=1, type="branch")}
    assert [(e.timestamp_ms, e.snapshot_id) for e in after.snapshot_log] == [(now_ms + 9, 1)]


def test_another_branch_leaves_main_and_the_log_alone(table_with_history, commit, set_ref):
    after = commit(table_with_history, set_ref("audit", 1))
    assert after.current_snapshot_id == 2
    assert after.snapshot_log == table_with_history.snapshot_log
    assert set(after.refs) == {"main", "audit"}


def test_a_rollback_is_dated_by_the_server(table_with_history, commit, set_ref, now_ms):
    after = commit(table_with_history, set_ref("main", 1), now_ms=now_ms + 9000)
    assert log(after) == [1, 2, 1]
    assert after.snapshot_log[-1].timestamp_ms == after.last_updated_ms == now_ms + 9000


def test_a_ref_that_is_set_again_loses_its_retention(table_with_history, commit, set_ref):
    kept = {"min_snapshots_to_keep": 3, "max_snapshot_age_ms": 5, "max_ref_age_ms": 7}
    table = commit(table_with_history, set_ref("audit", 1, **kept))
    assert table.refs["audit"] == SnapshotRef(snapshot_id=1, type="branch", **kept)
    assert commit(table, set_ref("audit", 1, **kept)) is None
    after = commit(table, set_ref("audit", 1))
    assert after.refs["audit"] == SnapshotRef(snapshot_id=1, type="branch")


def test_retention_of_main_is_logged_as_a_change_of_main(table_with_history, commit, set_ref):
    after = commit(table_with_history, set_ref("main", 2, max_ref_age_ms=5))
    assert log(after) == [1, 2, 2]


def test_a_ref_may_become_a_tag_and_a_tag_may_move(table_with_history, commit, set_ref):
    table = commit(table_with_history, set_ref("x", 1))
    table = commit(table, set_ref("x", 1, type="tag", max_ref_age_ms=1))
    assert commit(table, set_ref("x", 2, type="tag")).refs["x"].snapshot_id == 2


def test_main_as_a_tag_is_accepted(table_with_history, commit, set_ref):
    after = commit(table_with_history, set_ref("main", 2, type="tag"))
    assert after.refs["main"].type == "tag"


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


# remove-snapshot-ref


def test_removing_a_ref_that_is_not_there_changes_nothing(table_with_history, commit):
    assert commit(table_with_history, remove_ref("nope")) is None


def test_removing_main_leaves_snapshots_and_log(table_with_history, commit):
    after = commit(table_with_history, remove_ref("main"))
    assert (after.refs, after.current_snapshot_id) == ({}, None)
    assert (log(after), len(after.snapshots)) == ([1, 2], 2)
    assert to_builtins(after)["current-snapshot-id"] == -1


def test_a_replaced_table_starts_again_on_main(table_with_history, commit, add_main):
    after = commit(table_with_history, remove_ref("main"), *add_main(3, sequence_number=3))
    assert (after.current_snapshot_id, log(after)) == (3, [1, 2, 3])


# remove-snapshots


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


def test_refs_fall_with_their_snapshot(table_with_history, commit, set_ref):
    table = commit(table_with_history, set_ref("audit", 2), set_ref("old", 1, type="tag"))
    after = commit(table, remove(2))
    assert set(after.refs) == {"old"}
    assert after.current_snapshot_id is None


@pytest.mark.parametrize("ids", [(), (99,), (99, 98, 97, 96)])
def test_removing_nothing_that_exists_changes_nothing(table_with_history, commit, ids):
    assert commit(table_with_history, remove(*ids)) is None


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


def test_snapshots_of_a_table_without_a_log_can_be_removed(table_with_history, commit):
    table = structs.replace(table_with_history, snapshot_log=())
    assert commit(table, remove(1)).snapshot_log == ()
