"""What a view is to be after a commit: what the ids of what is added last mean, and what stays."""

from typing import Any

import pytest
from tests.kill.killing import mock_session

from icecheck.client.catalog import Catalog
from icecheck.conformance.views.test_view_states import _Walk
from icecheck.conformance.views.view_stages import KEYS, OTHER_DOC, UNUSED
from icecheck.conformance.views.view_states import LAST_ADDED, after_commit, expect_state
from icecheck.objects.views import set_current_version, view_version
from icecheck.replies.expect import Reply, Violation

BEFORE: dict[str, Any] = {
    "view-uuid": "u",
    "format-version": 1,
    "location": "file:/v",
    "current-version-id": "1",
    "schemas": {"0": ("columns", [1])},
    "versions": {"1": {"schema-id": "0"}},
    "properties": {"kept": "1", "gone": "1"},
}


def added(schema: dict[str, Any]) -> dict[str, Any]:
    return {"action": "add-schema", "schema": schema}


def version(sql: str, schema_id: int) -> dict[str, Any]:
    made = view_version(sql, schema_id=schema_id, namespace=["ns"])
    return {"action": "add-view-version", "view-version": made}


def test_the_schema_added_last_is_the_last_before_the_version() -> None:
    updates = [
        added(OTHER_DOC),
        version("SELECT 1", LAST_ADDED),
        added(UNUSED),
        version("SELECT 2", LAST_ADDED),
        version("SELECT 3", 0),
    ]
    due = after_commit(BEFORE, updates)
    first, second = list(due["schemas"])[1:]
    named = [each["schema-id"] for each in due["versions"].values()]
    assert named == ["0", first, second, "0"]
    assert due["current-version-id"] == "1"


def test_the_version_added_last_is_the_last_before_it_is_made_current() -> None:
    updates = [version("SELECT 1", 0), set_current_version(LAST_ADDED), version("SELECT 2", 0)]
    due = after_commit(BEFORE, updates)
    assert due["current-version-id"] == list(due["versions"])[1]


def test_only_what_is_named_changes() -> None:
    update = {"action": "remove-properties", "removals": ["gone"]}
    due = after_commit(BEFORE, [update])
    assert due == BEFORE | {"properties": {"kept": "1", "gone": None}}


def loaded_first() -> tuple[Reply, _Walk]:
    with mock_session() as (_, session):
        walk = _Walk(Catalog(session, "first"))
        reply = walk.catalog.load_view(walk.view.namespace, walk.view.name)
        walk.catalog.undo()
    return reply, walk


def test_what_was_not_named_is_told_from_what_has_no_effect() -> None:
    reply, walk = loaded_first()
    update = {"action": "set-properties", "updates": {KEYS[0]: "2"}}
    with pytest.raises(Violation, match="what was sent") as missing:
        expect_state(reply, walk.before, after_commit(walk.before, [update]), "a commit")
    assert missing.value.finding.symptom.slug == "effect-missing:view-properties"
    before = {**walk.before, "current-version-id": "2"}
    with pytest.raises(Violation, match="the view as it was") as beside:
        expect_state(reply, before, before, "a commit")
    assert beside.value.finding.symptom.slug == "changed-beside:view-definition"


def test_a_schema_that_is_not_shown_is_missed() -> None:
    reply, walk = loaded_first()
    due = after_commit(walk.before, [added(UNUSED)])
    with pytest.raises(Violation) as missing:
        expect_state(reply, walk.before, due, "a commit")
    assert missing.value.finding.symptom.slug == "effect-missing:view-schema"
    assert "schemas/the new 1" in missing.value.finding.detail
