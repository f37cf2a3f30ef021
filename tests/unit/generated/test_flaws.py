"""Which flaws of a request are a catalog's duty to refuse, and which are its choice."""

import pytest

from icecheck.conformance.generated.flaws import ABSENT, Flaw, flaw_of, spot_of
from tests.kit.contracts import CONTRACT


def spot(operation_id, location, body):
    schema = CONTRACT.operations[operation_id].request_schema
    return spot_of(operation_id, CONTRACT, schema, location, body)


def flaw(operation_id, location, body):
    return flaw_of(spot(operation_id, location, body))


def test_a_spot_is_the_path_of_members_with_its_value_and_declared_types():
    found = spot("createTable", "/properties/name/type", {"name": 7, "schema": {}})
    assert (found.path, found.keyword, found.value) == ("createTable.name", "type", 7)
    assert found.declared == {"string"}
    assert found.required


def test_an_update_is_told_apart_by_its_action():
    body = {"requirements": [], "updates": [{"action": "set-location", "location": {}}]}
    location = "/properties/updates/items/anyOf/12/properties/location/type"
    found = spot("updateTable", location, body)
    assert found.path == "updateTable.updates.*.set-location.location"


def test_the_spot_of_a_missing_member_is_the_member():
    found = spot("createTable", "/required", {"name": "t"})
    assert (found.path, found.value) == ("createTable.schema", ABSENT)


def test_a_location_without_a_place_is_refused():
    with pytest.raises(ValueError, match="no place"):
        spot("createTable", "/", {})


@pytest.mark.parametrize(
    ("operation_id", "location", "body"),
    [
        ("createNamespace", "/type", "AAA"),
        ("createNamespace", "/type", None),
        ("createNamespace", "/required", {"properties": {}}),
        ("createNamespace", "/properties/namespace/type", {"namespace": None}),
        ("createNamespace", "/properties/properties/type", {"namespace": ["n"], "properties": 0}),
        ("createTable", "/properties/name/type", {"name": {}, "schema": {}}),
        ("createTable", "/properties/stage-create/type", {"name": "t", "stage-create": []}),
        ("renameTable", "/properties/source/required", {"source": {"name": "t"}}),
    ],
)
def test_what_nobody_can_serve_is_unusable(operation_id, location, body):
    assert flaw(operation_id, location, body) is Flaw.UNUSABLE


@pytest.mark.parametrize("action", ["AAA", 0, None, {}])
def test_an_unknown_update_is_unusable_however_it_is_written(action):
    body = {"requirements": [], "updates": [{"action": action}]}
    keyword = "const" if action == "AAA" else "type"
    location = f"/properties/updates/items/anyOf/0/properties/action/{keyword}"
    assert flaw("updateTable", location, body) is Flaw.UNUSABLE


@pytest.mark.parametrize(
    ("operation_id", "location", "body"),
    [
        ("createNamespace", "/properties/namespace/items/type", {"namespace": [0]}),
        ("createTable", "/properties/name/type", {"name": 7}),
        ("createTable", "/properties/stage-create/type", {"stage-create": "AAA"}),
        ("updateTable", "/required", {"updates": []}),
        (
            "updateProperties",
            "/properties/updates/additionalProperties/k/type",
            {"updates": {"k": 1}},
        ),
    ],
)
def test_what_some_convert_or_read_as_empty_is_mistyped(operation_id, location, body):
    assert flaw(operation_id, location, body) is Flaw.MISTYPED


@pytest.mark.parametrize(
    ("operation_id", "location", "body"),
    [
        ("createTable", "/properties/location/type", {"location": None}),
        ("createTable", "/properties/partition-spec/type", {"partition-spec": None}),
        ("updateTable", "/properties/identifier/type", {"identifier": 0}),
        ("registerTable", "/properties/overwrite/type", {"overwrite": {}}),
        ("updateProperties", "/properties/removals/uniqueItems", {"removals": ["a", "a"]}),
    ],
)
def test_explicit_nulls_and_members_that_need_not_be_read_are_tolerable(
    operation_id, location, body
):
    assert flaw(operation_id, location, body) is Flaw.TOLERABLE


def update(action, **members):
    return {"requirements": [], "updates": [{"action": action, **members}]}


def place_of(operation_id, body, *members):
    """The schema location of a member of the first update of a body."""
    (sent,) = body["updates"]
    schema = CONTRACT.corrected(("repair", "strict"))["components"]["schemas"]
    union = "TableUpdate" if operation_id == "updateTable" else "ViewUpdate"
    for at, branch in enumerate(schema[union]["anyOf"]):
        name = branch["$ref"].rpartition("/")[2]
        action = schema[name]["properties"].get("action", {}).get("const")
        if action == sent["action"]:
            below = "".join(f"/properties/{member}" for member in members)
            return f"/properties/updates/items/anyOf/{at}{below}/type"
    raise AssertionError(sent["action"])


@pytest.mark.parametrize("operation_id", ["updateTable", "replaceView"])
@pytest.mark.parametrize("member", ["requirements", "updates"])
def test_null_for_what_a_commit_has_none_of_is_tolerable(operation_id, member):
    location = f"/properties/{member}/type"
    assert flaw(operation_id, location, {member: None}) is Flaw.TOLERABLE


@pytest.mark.parametrize("member", ["requirements", "updates"])
def test_null_for_what_a_change_has_none_of_is_tolerable(member):
    location = f"/properties/table-changes/items/properties/{member}/type"
    body = {"table-changes": [{member: None}]}
    assert flaw("commitTransaction", location, body) is Flaw.TOLERABLE


@pytest.mark.parametrize(
    ("operation_id", "action", "members"),
    [
        ("updateTable", "set-properties", ["updates"]),
        ("updateTable", "remove-properties", ["removals"]),
        ("updateTable", "remove-snapshots", ["snapshot-ids"]),
        ("updateTable", "remove-partition-specs", ["spec-ids"]),
        ("updateTable", "remove-schemas", ["schema-ids"]),
        ("replaceView", "set-properties", ["updates"]),
        ("replaceView", "remove-properties", ["removals"]),
    ],
)
def test_null_for_a_list_or_map_of_an_update_is_tolerable_and_its_absence_is_not(
    operation_id, action, members
):
    body = update(action, **{members[0]: None})
    location = place_of(operation_id, body, *members)
    assert flaw(operation_id, location, body) is Flaw.TOLERABLE
    location = location.rpartition("/properties/")[0] + "/required"
    assert flaw(operation_id, location, update(action)) is Flaw.UNUSABLE


@pytest.mark.parametrize(
    ("operation_id", "location", "body"),
    [
        ("commitTransaction", "/properties/table-changes/type", {"table-changes": None}),
        ("createNamespace", "/properties/namespace/type", {"namespace": None}),
        (
            "createView",
            "/properties/view-version/properties/representations/type",
            {"view-version": {"representations": None}},
        ),
    ],
)
def test_null_for_a_list_that_may_not_be_empty_stays_unusable(operation_id, location, body):
    assert flaw(operation_id, location, body) is Flaw.UNUSABLE


def test_the_absence_of_requirements_or_updates_should_be_refused():
    assert flaw("updateTable", "/required", {"updates": []}) is Flaw.MISTYPED
    assert flaw("updateTable", "/required", {"requirements": []}) is Flaw.MISTYPED
