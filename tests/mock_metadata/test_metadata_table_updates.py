"""Updates of uuid, format version, location, properties, statistics and encryption keys."""

import pytest

from icecheck.mock_server.metadata.encoding import to_builtins

UUID = "11111111-2222-4333-8444-555555555555"


def statistics(snapshot_id, path="s3://b/stats.puffin", **members):
    blob = {
        "type": "apache-datasketches-theta-v1",
        "snapshot-id": snapshot_id,
        "sequence-number": 1,
        "fields": [1],
    }
    return {
        "snapshot-id": snapshot_id,
        "statistics-path": path,
        "file-size-in-bytes": 100,
        "file-footer-size-in-bytes": 10,
        "blob-metadata": [blob, {**blob, "properties": {"ndv": "7"}}],
        **members,
    }


def partition_statistics(snapshot_id, path="s3://b/partitions.parquet"):
    return {"snapshot-id": snapshot_id, "statistics-path": path, "file-size-in-bytes": 100}


def key(key_id, data="c2VjcmV0", **members):
    return {"key-id": key_id, "encrypted-key-metadata": data, **members}


# assign-uuid


@pytest.mark.parametrize("uuid", [UUID, UUID.upper()])
def test_assigning_the_same_uuid_changes_nothing(new_table, commit, uuid):
    assert commit(new_table(), {"action": "assign-uuid", "uuid": uuid}) is None


def test_an_existing_table_keeps_its_uuid(new_table, commit, refused):
    with refused(400, "The table has another uuid"):
        commit(new_table(), {"action": "assign-uuid", "uuid": UUID.replace("1", "2")})


# upgrade-format-version


@pytest.mark.parametrize(("present", "wanted"), [(1, 2), (2, 3), (1, 3)])
def test_a_table_is_upgraded(new_table, commit, present, wanted):
    update = {"action": "upgrade-format-version", "format-version": wanted}
    document = to_builtins(commit(new_table(present), update))
    assert document["format-version"] == wanted
    assert document["last-sequence-number"] == 0
    assert ("next-row-id" in document) == (wanted == 3)
    assert not {"schema", "partition-spec"} & set(document)


def test_upgrading_to_the_present_version_changes_nothing(new_table, commit):
    update = {"action": "upgrade-format-version", "format-version": 2}
    assert commit(new_table(), update) is None


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        (2, "A v3 table cannot go back to v2"),
        (1, "cannot go back"),
        (0, "Unsupported format version"),
        (4, "Unsupported format version"),
        (-1, "Unsupported format version"),
    ],
)
def test_another_format_version_is_refused(new_table, commit, refused, wanted, why):
    with refused(400, why):
        commit(new_table(3), {"action": "upgrade-format-version", "format-version": wanted})


def test_old_snapshots_stay_as_they_are_in_an_upgrade(new_table, commit, add_main):
    table = commit(new_table(1), *add_main(1))
    upgraded = commit(table, {"action": "upgrade-format-version", "format-version": 3})
    assert upgraded.snapshots == table.snapshots
    assert (upgraded.next_row_id, upgraded.last_sequence_number) == (0, 0)


# set-location


def test_a_location_is_moved_and_stripped(new_table, commit):
    after = commit(new_table(), {"action": "set-location", "location": "s3://other/t//"})
    assert after.location == "s3://other/t"


def test_the_same_location_changes_nothing(new_table, commit):
    table = new_table()
    assert commit(table, {"action": "set-location", "location": table.location}) is None


def test_the_same_location_with_a_slash_makes_a_version_as_in_java(new_table, commit):
    table = new_table()
    after = commit(table, {"action": "set-location", "location": table.location + "/"})
    assert after.location == table.location


def test_an_empty_location_is_refused(new_table, commit, refused):
    with refused(400, "Invalid location"):
        commit(new_table(), {"action": "set-location", "location": ""})


def test_an_empty_location_of_a_new_table_is_refused(commit, refused):
    with refused(400, "Invalid location"):
        commit(
            None,
            {"action": "set-location", "location": ""},
            requirements=({"type": "assert-create"},),
            default_location="s3://warehouse/default",
        )


# set-properties, remove-properties


def test_properties_are_merged(new_table, commit):
    table = new_table(properties={"a": "1", "b": "1"})
    after = commit(table, {"action": "set-properties", "updates": {"b": "2", "c": "3"}})
    codec = {"write.parquet.compression-codec": "zstd"}
    assert after.properties == {"a": "1", "b": "2", "c": "3", **codec}


def test_setting_the_same_properties_is_a_change(new_table, commit):
    table = new_table(properties={"a": "1"})
    after = commit(table, {"action": "set-properties", "updates": {"a": "1"}})
    assert after.properties == table.properties


def test_reserved_names_are_plain_properties_in_a_commit(new_table, commit):
    after = commit(new_table(), {"action": "set-properties", "updates": {"format-version": "3"}})
    assert (after.format_version, after.properties["format-version"]) == (2, "3")


def test_properties_are_removed_and_unknown_ones_ignored(new_table, commit):
    table = new_table(properties={"a": "1", "b": "1"})
    after = commit(table, {"action": "remove-properties", "removals": ["a", "nope"]})
    assert set(table.properties) - set(after.properties) == {"a"}


def test_removing_only_unknown_properties_is_a_change(new_table, commit):
    assert commit(new_table(), {"action": "remove-properties", "removals": ["nope"]}) is not None


@pytest.mark.parametrize(
    "update",
    [
        {"action": "set-properties", "updates": {}},
        {"action": "remove-properties", "removals": []},
    ],
)
def test_no_properties_are_no_change(new_table, commit, update):
    assert commit(new_table(), update) is None


# statistics


def test_statistics_are_set_replaced_and_removed(new_table, commit):
    table = commit(
        new_table(),
        {"action": "set-statistics", "statistics": statistics(1), "snapshot-id": 99},
        {"action": "set-statistics", "statistics": statistics(2, **{"key-metadata": "k"})},
    )
    assert to_builtins(table)["statistics"] == [
        statistics(1),
        statistics(2, **{"key-metadata": "k"}),
    ]
    table = commit(table, {"action": "set-statistics", "statistics": statistics(1, "s3://b/new")})
    assert {file.snapshot_id: file.statistics_path for file in table.statistics} == {
        1: "s3://b/new",
        2: "s3://b/stats.puffin",
    }
    table = commit(table, {"action": "remove-statistics", "snapshot-id": 1})
    assert [file.snapshot_id for file in table.statistics] == [2]


def test_setting_the_same_statistics_is_a_change(new_table, commit):
    update = {"action": "set-statistics", "statistics": statistics(1)}
    table = commit(new_table(), update)
    assert commit(table, update).statistics == table.statistics


def test_removing_statistics_that_are_not_there_changes_nothing(new_table, commit):
    assert commit(new_table(), {"action": "remove-statistics", "snapshot-id": 1}) is None


def test_partition_statistics_are_set_replaced_and_removed(new_table, commit):
    def put(*arguments):
        file = partition_statistics(*arguments)
        return {"action": "set-partition-statistics", "partition-statistics": file}

    table = commit(new_table(), put(1), put(2))
    table = commit(table, put(1, "s3://b/new"))
    assert {file.snapshot_id: file.statistics_path for file in table.partition_statistics} == {
        1: "s3://b/new",
        2: "s3://b/partitions.parquet",
    }
    table = commit(table, {"action": "remove-partition-statistics", "snapshot-id": 2})
    assert to_builtins(table)["partition-statistics"] == [partition_statistics(1, "s3://b/new")]


def test_removing_partition_statistics_that_are_not_there_changes_nothing(new_table, commit):
    update = {"action": "remove-partition-statistics", "snapshot-id": 1}
    assert commit(new_table(), update) is None


@pytest.mark.parametrize("missing", list(statistics(1)))
def test_statistics_without_a_required_member_are_refused(new_table, commit, refused, missing):
    file = {name: value for name, value in statistics(1).items() if name != missing}
    with refused(400, missing):
        commit(new_table(), {"action": "set-statistics", "statistics": file})


# encryption keys


def test_keys_are_added_once_and_removed(new_table, commit):
    sent = key("k1", **{"encrypted-by-id": "k0", "properties": {"a": "b"}})
    table = commit(new_table(), {"action": "add-encryption-key", "encryption-key": sent})
    assert to_builtins(table)["encryption-keys"] == [sent]
    again = {"action": "add-encryption-key", "encryption-key": key("k1", "bmV3")}
    assert commit(table, again) is None
    table = commit(table, {"action": "remove-encryption-key", "key-id": "k1"})
    assert "encryption-keys" not in to_builtins(table)


def test_empty_properties_of_a_key_are_none(new_table, commit):
    sent = key("k1", properties={})
    table = commit(new_table(), {"action": "add-encryption-key", "encryption-key": sent})
    assert to_builtins(table)["encryption-keys"] == [key("k1")]


def test_removing_a_key_that_is_not_there_changes_nothing(new_table, commit):
    assert commit(new_table(), {"action": "remove-encryption-key", "key-id": "k"}) is None


@pytest.mark.parametrize("data", ["*", "abc", "c2Vj cmV0", "é"])
def test_a_key_that_is_not_base64_is_refused(new_table, commit, refused, data):
    with refused(400, "encrypted-key-metadata"):
        commit(new_table(), {"action": "add-encryption-key", "encryption-key": key("k", data)})
