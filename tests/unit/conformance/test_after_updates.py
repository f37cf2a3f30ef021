"""What is due after a commit to a table or a view, and how an answer is compared with it."""

from typing import Any

import pytest

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.conformance.states.view_stages import OTHER_DOC, UNUSED
from icecheck.conformance.states.walk import expect_grown
from icecheck.objects.after_updates import (
    LAST_ADDED,
    after_updates,
    as_assigned,
    without_expired,
)
from icecheck.objects.comparing import ANYTHING
from icecheck.objects.round_trip import loaded_answer
from icecheck.objects.views import MARK, View, given_view, set_current_version, view_version
from icecheck.replies.expect import Reply, Violation
from tests.kill.killing import mock_session

Json = dict[str, Any]

COLUMN = {"id": 1, "name": "a", "type": "int", "required": False}
BEFORE: Json = {
    "view-uuid": "u",
    "format-version": 1,
    "location": "file:/v",
    "current-version-id": 1,
    "schemas": [{"type": "struct", "schema-id": 0, "fields": [COLUMN]}],
    "versions": [view_version(namespace=["ns"])],
    "properties": {"kept": "1", "gone": "1"},
}
TABLE: Json = {
    "table-uuid": "u",
    "format-version": 1,
    "last-column-id": 1,
    "last-partition-id": 999,
    "schemas": [{"type": "struct", "schema-id": 0, "fields": [COLUMN]}],
    "current-schema-id": 0,
}


def added(schema: Json) -> Json:
    return {"action": "add-schema", "schema": schema}


def version(sql: str, schema_id: int) -> Json:
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
    due = after_updates(BEFORE, updates)
    assert [each["schema-id"] for each in due["schemas"]] == [0, 1, 2]
    assert [each["schema-id"] for each in due["versions"]] == [0, 1, 2, 0]
    assert [each["version-id"] for each in due["versions"]] == [1, 2, 3, 4]
    assert due["current-version-id"] == 1


def test_the_version_added_last_is_the_last_before_it_is_made_current() -> None:
    updates = [version("SELECT 1", 0), set_current_version(LAST_ADDED), version("SELECT 2", 0)]
    assert after_updates(BEFORE, updates)["current-version-id"] == 2


def test_only_what_is_named_changes() -> None:
    update = {"action": "remove-properties", "removals": ["gone"]}
    assert after_updates(BEFORE, [update]) == BEFORE | {"properties": {"kept": "1"}}


def test_what_begins_with_a_format_version_is_the_servers_choice() -> None:
    update = {"action": "upgrade-format-version", "format-version": 3}
    due = after_updates(TABLE, [update])
    assert (due["next-row-id"], due["last-sequence-number"]) == (ANYTHING, ANYTHING)
    assert "next-row-id" not in after_updates(TABLE, [{**update, "format-version": 1}])


def test_ids_that_were_assigned_never_go_down() -> None:
    spec = bodies.partition_spec(bodies.partition_field(1, "identity", "a", 998), spec_id=1)
    narrow = {"type": "struct", "schema-id": 1, "fields": []}
    due = after_updates(TABLE, [added(narrow), {"action": "add-spec", "spec": spec}])
    assert (due["last-column-id"], due["last-partition-id"]) == (1, 999)


def test_a_server_may_give_its_own_ids_to_what_is_new() -> None:
    sent = {"type": "struct", "schema-id": 1, "fields": [{**COLUMN, "name": "b"}]}
    update = {"action": "set-current-schema", "schema-id": LAST_ADDED}
    due = after_updates(TABLE, [added(sent), update])
    after = {**due, "schemas": [*TABLE["schemas"], {**sent, "schema-id": 7}]}
    assert as_assigned(TABLE, due, after) == after | {"current-schema-id": 7}


def test_a_server_may_give_again_the_id_that_the_same_commit_removes() -> None:
    second = {"type": "struct", "schema-id": 55, "fields": [COLUMN | {"id": 2}]}
    third = {"type": "struct", "schema-id": 0, "fields": [COLUMN | {"id": 3}]}
    before = TABLE | {"schemas": [*TABLE["schemas"], second]}
    updates: list[Json] = [
        {"action": "remove-schemas", "schema-ids": [55]},
        {"action": "add-schema", "schema": third},
    ]
    shown = before | {"schemas": [*TABLE["schemas"], third | {"schema-id": 55}]}
    due = as_assigned(before, after_updates(before, updates), shown)
    assert due["schemas"] == shown["schemas"]


def test_a_server_may_give_its_own_ids_to_the_schemas_and_versions_of_a_view() -> None:
    due = after_updates(BEFORE, [added(UNUSED), version("SELECT 1", LAST_ADDED)])
    schema = {**due["schemas"][1], "schema-id": 7}
    made = {**due["versions"][1], "schema-id": 7, "version-id": 9}
    after = {
        **due,
        "schemas": [BEFORE["schemas"][0], schema],
        "versions": [BEFORE["versions"][0], made],
    }
    assert as_assigned(BEFORE, due, after) == after


def test_only_versions_that_were_there_and_are_not_current_may_expire() -> None:
    update = version("SELECT 1", 0)
    due = after_updates(BEFORE, [update])
    gone = {**due, "versions": []}
    assert without_expired(BEFORE, due, gone)["versions"] == due["versions"]
    due = due | {"current-version-id": 2}
    assert without_expired(BEFORE, due, gone)["versions"] == due["versions"][1:]


def loaded_first() -> tuple[Reply, View]:
    with mock_session() as (_, session):
        catalog = Catalog(session, "first")
        view = given_view(catalog, properties={MARK: "1"})
        reply = loaded_answer(catalog, view)
        catalog.undo()
    return reply, view


def test_what_was_not_named_is_told_from_what_has_no_effect() -> None:
    reply, view = loaded_first()
    update = {"action": "set-properties", "updates": {MARK: "2"}}
    with pytest.raises(Violation, match="what was sent") as missing:
        expect_grown(reply, view, after_updates(view.metadata, [update]), "a commit")
    assert missing.value.finding.symptom.slug == "effect-missing:view-properties"
    view.metadata["current-version-id"] = 2
    with pytest.raises(Violation, match="what was not named, as it was") as beside:
        expect_grown(reply, view, view.metadata, "a commit")
    assert beside.value.finding.symptom.slug == "changed-beside:view-definition"


def test_a_schema_that_is_not_shown_is_missed() -> None:
    reply, view = loaded_first()
    due = after_updates(view.metadata, [added(UNUSED)])
    with pytest.raises(Violation) as missing:
        expect_grown(reply, view, due, "a commit")
    assert missing.value.finding.symptom.slug == "effect-missing:view-schema"
    assert "schemas/1" in missing.value.finding.detail
