"""Updates of format version, location and encryption keys."""

import pytest

from icecheck.mock_server.metadata.encoding import to_builtins


def key(key_id, data="c2VjcmV0", **members):
    return {"key-id": key_id, "encrypted-key-metadata": data, **members}


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


def test_the_same_location_with_a_slash_makes_a_version_as_in_java(new_table, commit):
    table = new_table()
    after = commit(table, {"action": "set-location", "location": table.location + "/"})
    assert after.location == table.location


def test_an_empty_location_of_a_new_table_is_refused(commit, refused):
    with refused(400, "Invalid location"):
        commit(
            None,
            {"action": "set-location", "location": ""},
            requirements=({"type": "assert-create"},),
            default_location="s3://warehouse/default",
        )


def test_empty_properties_of_a_key_are_none(new_table, commit):
    sent = key("k1", properties={})
    table = commit(new_table(), {"action": "add-encryption-key", "encryption-key": sent})
    assert to_builtins(table)["encryption-keys"] == [key("k1")]


@pytest.mark.parametrize("data", ["*", "abc", "c2Vj cmV0", "é"])
def test_a_key_that_is_not_base64_is_refused(new_table, commit, refused, data):
    with refused(400, "encrypted-key-metadata"):
        commit(new_table(), {"action": "add-encryption-key", "encryption-key": key("k", data)})
