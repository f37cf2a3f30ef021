"""The branch main that table metadata without refs implies, as every client reads it."""

import pytest

from tests.unit.answering import reply

CONFIG = {"defaults": {}, "overrides": {}}
MAIN = {"main": {"snapshot-id": 0, "type": "branch"}}


def read(metadata):
    return reply({**CONFIG, "metadata": metadata}).json()


def test_a_table_without_refs_has_the_branch_main_at_its_current_snapshot():
    shown = {"current-snapshot-id": 0, "location": "s3://b/t"}
    assert read(shown) == {**CONFIG, "metadata": {**shown, "refs": MAIN}}


@pytest.mark.parametrize(
    "metadata",
    [
        {"current-snapshot-id": 1, "refs": {}},
        {"current-snapshot-id": 1, "refs": {"b": {"snapshot-id": 1, "type": "branch"}}},
        {"current-snapshot-id": -1},
        {"current-snapshot-id": None},
        {"current-snapshot-id": "1"},
        {"location": "s3://b/t"},
        [],
        None,
    ],
    ids=repr,
)
def test_what_has_refs_or_no_snapshot_is_read_as_it_is(metadata):
    assert read(metadata) == {**CONFIG, "metadata": metadata}
