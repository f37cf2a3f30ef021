"""Which flaws of a request are a catalog's duty to refuse, and which are its choice."""

import json
from collections.abc import Iterator

import pytest

from icecheck.client.catalog import Catalog
from icecheck.conformance.generated.flaws import ABSENT, Flaw, flaw_of, flaw_of_body, spot_of
from icecheck.contract import Level
from icecheck.findings.verdict import Group
from icecheck.judging.judge import judge
from icecheck.run.collect import collect
from tests.kill.killing import mock_session
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


# What a MUST demands although only a SHOULD demands it of generated requests, and why.
BOTH_READINGS_REFUSE = {
    # Without an id the requirement does not hold, even if it is read as null.
    "assertion.assert-ref-snapshot-id.without-id",
    # An id that is a word is no number that a catalog could convert.
    "commit.malformed-refused",
}
# A catalog may discard reports unread; the rules for tokens are those of OAuth2.
OF_ANOTHER_LEVEL = ("reportMetrics.", "getToken.")


def refused_bodies() -> Iterator[tuple[str, Level, Flaw]]:
    """Yield check, level and flaw of each JSON body for which checks by hand await a 400."""
    named = [
        check
        for check in collect((Group.CHECKS,), CONTRACT)
        if any(word in check.id for word in ("malformed", "missing-members", "without-id"))
        and not check.id.startswith(OF_ANOTHER_LEVEL)
    ]
    with mock_session() as (_, session):
        for check in named:
            catalog = Catalog(session, check.id)
            judge(check, catalog)
            for sent in catalog.exchanges:
                if sent.status == 400 and (body := read(sent.request_body)) is not None:
                    flaw = flaw_of_body(CONTRACT.operations[sent.operation or ""], CONTRACT, body)
                    yield check.id, check.level, flaw
            catalog.undo()


def read(body: bytes | None) -> object:
    try:
        return json.loads(body or b"null")
    except ValueError:
        return None


def test_checks_by_hand_and_generated_ones_demand_a_refusal_at_one_level() -> None:
    found = [*refused_bodies()]
    assert {Level.MUST, Level.SHOULD} == {level for _, level, _ in found}
    lax = {check for check, level, flaw in found if level is Level.MUST and flaw is Flaw.MISTYPED}
    assert lax == BOTH_READINGS_REFUSE
    assert [f for f in found if f[1] is Level.SHOULD and f[2] is Flaw.UNUSABLE] == []


def test_the_assertion_of_a_view_is_no_flaw() -> None:
    same = {"type": "assert-view-uuid", "uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1"}
    body = {"requirements": [same], "updates": []}
    operation = CONTRACT.operations["replaceView"]
    assert flaw_of_body(operation, CONTRACT, body) is Flaw.TOLERABLE
    assert flaw_of_body(operation, CONTRACT, {"requirements": [same]}) is Flaw.MISTYPED
    nameless = {"requirements": [{"type": "assert-view-uuid"}], "updates": []}
    assert flaw_of_body(operation, CONTRACT, nameless) is Flaw.UNUSABLE
