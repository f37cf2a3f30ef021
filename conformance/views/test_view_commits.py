"""Checks of replaceView: requirements, updates, versions, and refused commits."""

from collections.abc import Mapping, Sequence
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import NO_BODY, Catalog
from icecheck.client.given import shared_namespace as given_home
from icecheck.findings.shared_symptoms import EFFECT_MISSING
from icecheck.findings.symptoms import UNNAMED_CHANGED, Severity, declare
from icecheck.judging.check import check
from icecheck.judging.probes import is_declined, offered
from icecheck.objects import metadata_view
from icecheck.objects.comparing import expect_answer
from icecheck.objects.reading import expect_bad_request, not_applicable
from icecheck.objects.views import (
    FIRST_SQL,
    MARK,
    METADATA_LOCATION_STAYS,
    VIEW_HISTORY_LOST,
    VIEW_VERSION_WITHOUT_SCHEMA,
    View,
    add_version,
    definition_of,
    expect_view_unchanged,
    given_view,
    in_dialects,
    loaded_view,
    replace_view,
    set_current_version,
    shared_view,
    version_with,
)
from icecheck.replies.expect import Reply, equal
from icecheck.replies.matching import ABSENT, Matcher, show
from icecheck.targets.target import Namespace

_ADDED_VERSION_GOES_LIVE = declare(
    "added-version-goes-live",
    "Makes a version of a view current that was only to be added",
    Severity.FALSE_OR_LOST,
    UNNAMED_CHANGED,
)

Json = dict[str, Any]

ANOTHER_UUID = "5d0a3f3c-8b52-4a0d-9d36-7f2ab4f0c1e7"
SECOND_SQL = "SELECT 2 AS id, 'b' AS data"
THIRD_SQL = "SELECT 3 AS id, 'c' AS data"
UNKNOWN_ID = 4711
OTHER_SCHEMA = bodies.schema(bodies.struct_field(3, "other", "long"), schema_id=1)
LAST_ADDED = -1
_FOREIGN: dict[str, Json] = {
    "an unknown update": {"action": "icecheck-unknown"},
    "an update for tables": {"action": "set-current-schema", "schema-id": 0},
}
_UNKNOWN_REQUIREMENT = {"type": "assert-icecheck-option", "option": "none"}
_UNDEFINED = EFFECT_MISSING.of("view-definition")


def _mark(value: str) -> Json:
    """Return an update that every catalog can apply to every view."""
    return bodies.set_properties({MARK: value})


def _accepted(
    catalog: Catalog, updates: Sequence[Any], *, view: View | None = None, **properties: str
) -> View:
    """Commit updates to a view of the check, and return it as a load shows it."""
    before = given_view(catalog, properties=properties) if view is None else view
    replace_view(catalog, before, updates).expect(200)
    return loaded_view(catalog, before)


def _given_current(catalog: Catalog, view: View, sql: str) -> tuple[View, Any]:
    """Add a version and make it current by its assigned id; return the view and the id."""
    added = _accepted(catalog, [add_version(view, sql)], view=view)
    version_id = version_with(added.metadata, sql).get("version-id")
    if version_id is None:
        raise not_applicable("the catalog keeps no version that is not current")
    return _accepted(catalog, [set_current_version(version_id)], view=added), version_id


def _refused(
    catalog: Catalog, view: View, updates: Sequence[Any], *statuses: int, detail: str = ""
) -> None:
    """Judge that a commit of these and a valid update is refused and changes nothing.

    The refusal has one of the statuses, or any 4xx if none is given.
    """
    before = view if catalog.borrowed.has(view) else loaded_view(catalog, view)
    reply = replace_view(catalog, before, [_mark("changed"), *updates])
    reply.expect_refused(*statuses, detail=detail)
    expect_view_unchanged(catalog, before)


def _expect_members(view: View, expected: Mapping[str, Any], what: str) -> None:
    found = {member: view.metadata.get(member, ABSENT) for member in expected}
    for member, due in expected.items():
        accepts = due.accepts(found[member]) if isinstance(due, Matcher) else found[member] == due
        if not accepts:
            equal(show(found[member]), show(due), symptom=EFFECT_MISSING.of(f"view-{what}"))


# --------------------------------------------------------------------------- answers


@check("replaceView.succeeds", proves="replaceView.200")
def test_replace_view(catalog: Catalog) -> None:
    """A commit to a view is answered 200."""
    replace_view(catalog, given_view(catalog), [_mark("first")]).expect(200)


@check("replaceView.answer-agrees-with-load", proves="replaceView.answer-is-the-view")
def test_answer_is_what_load_returns(catalog: Catalog) -> None:
    """The answer to a commit is what a load returns right after it."""
    view = given_view(catalog)
    reply = replace_view(catalog, view, [_mark("first")]).expect(200)
    expect_answer(reply, loaded_view(catalog, view), "after a commit")


@check("replaceView.new-location", proves="replaceView.new-metadata-location")
def test_new_metadata_location(catalog: Catalog) -> None:
    """A commit that changes a view changes its metadata location."""
    before = given_view(catalog)
    reply = replace_view(catalog, before, [_mark("first")]).expect(200)
    if reply.json().get("metadata-location") == before.metadata_location:
        due = "a new metadata location"
        raise reply.violation(METADATA_LOCATION_STAYS, due, "the one before the commit")


@check("replaceView.minimal-body-accepted", proves="replaceView.minimal-body")
def test_minimal_body(catalog: Catalog) -> None:
    """Updates are enough to commit to a view."""
    view = given_view(catalog)
    names: dict[str, str | Namespace] = {"namespace": view.namespace, "view": view.name}
    catalog.call("replaceView", names, body={"updates": [_mark("first")]}).expect(200)


@check("replaceView.malformed-refused", proves="replaceView.400")
def test_malformed_bodies(catalog: Catalog) -> None:
    """A commit to a view with an unusable body is refused with 400, and the view stays."""
    view = shared_view(catalog)
    names: dict[str, str | Namespace] = {"namespace": view.namespace, "view": view.name}
    wrong: dict[str, Any] = {
        "no body": NO_BODY,
        "no JSON": b'{"updates": [',
        "no object": [_mark("changed")],
        "updates that are no list": {"updates": _mark("changed")},
        "an update without its action": {"updates": [{"updates": {MARK: "changed"}}]},
    }
    for what, body in wrong.items():
        catalog.call("replaceView", names, body=body).expect(400, detail=f"sent {what}")
    expect_view_unchanged(catalog, view)


@check("replaceView.missing", proves="replaceView.404")
def test_missing_view(catalog: Catalog) -> None:
    """A commit to a view that does not exist is refused, and makes none."""
    missing = View(given_home(catalog), catalog.new_name(), {"versions": []}, None)
    replace_view(catalog, missing, [_mark("first")], []).expect(404)
    catalog.load_view(missing.namespace, missing.name).expect(404, detail="nothing may come of it")


@check("replaceView.foreign-update", proves="replaceView.unknown-update-refused")
def test_foreign_updates(catalog: Catalog) -> None:
    """An update that is unknown, or for tables only, is refused, and the view stays."""
    view = shared_view(catalog)
    for what, update in _FOREIGN.items():
        _refused(catalog, view, [update], detail=f"sent {what}")


@check("replaceView.all-or-nothing")
def test_all_or_nothing(catalog: Catalog) -> None:
    """A commit with an update that cannot be applied changes nothing at all."""
    before = shared_view(catalog)
    updates = [_mark("changed"), add_version(before, SECOND_SQL), set_current_version(UNKNOWN_ID)]
    replace_view(catalog, before, updates).expect_refused()
    expect_view_unchanged(catalog, before)


@check("replaceView.replaces-as-spark", proves="replaceView.as-spark-replaces")
def test_replace_as_spark_does(catalog: Catalog) -> None:
    """A commit that adds a schema and a version, and makes the last of each current, is taken."""
    view = given_view(catalog)
    updates = [
        {"action": "add-schema", "schema": OTHER_SCHEMA, "last-column-id": 3},
        add_version(view, "SELECT 4 AS other", schema_id=LAST_ADDED),
        set_current_version(LAST_ADDED),
    ]
    replace_view(catalog, view, updates).expect(200)


# ---------------------------------------------------------------------- requirements


@check("view-assertion.assert-view-uuid.satisfied")
def test_uuid_satisfied(catalog: Catalog) -> None:
    """A commit that asserts the view's own uuid goes through."""
    view = given_view(catalog)
    replace_view(catalog, view, [_mark("first")], [view.same]).expect(200)


@check(
    "view-assertion.assert-view-uuid.violated",
    proves=("replaceView.409", "view-assertion.assert-view-uuid.violated"),
)
def test_uuid_violated(catalog: Catalog) -> None:
    """A commit that asserts another uuid is refused and changes nothing."""
    view = shared_view(catalog)
    asserted = {"type": "assert-view-uuid", "uuid": ANOTHER_UUID}
    replace_view(catalog, view, [_mark("changed")], [asserted]).expect(409)
    both = [asserted, view.same]
    replace_view(catalog, view, [_mark("changed")], both).expect(409, detail="the first of two")
    expect_view_unchanged(catalog, view)


@check("view-assertion.unknown", proves="view-assertion.unknown-refused")
def test_unknown_requirement(catalog: Catalog) -> None:
    """A commit with a requirement that views do not have is refused and changes nothing."""
    view = shared_view(catalog)
    required = [view.same, _UNKNOWN_REQUIREMENT]
    replace_view(catalog, view, [_mark("changed")], required).expect_refused()
    expect_view_unchanged(catalog, view)


@check("replaceView.unknown-ids", proves="replaceView.unknown-ids-are-400")
def test_status_of_unknown_ids(catalog: Catalog) -> None:
    """What names something that the view does not have is refused with 400, if it is refused."""
    view = shared_view(catalog)
    updates: dict[str, Json] = {
        "an unknown schema": add_version(view, SECOND_SQL, schema_id=UNKNOWN_ID),
        "an unknown version": set_current_version(UNKNOWN_ID),
    }
    for what, update in updates.items():
        expect_bad_request(replace_view(catalog, view, [update]), what)
    stays = set_current_version(view.metadata.get("current-version-id"))
    unknown = replace_view(catalog, view, [stays], [view.same, _UNKNOWN_REQUIREMENT])
    foreign = {what: replace_view(catalog, view, [update]) for what, update in _FOREIGN.items()}
    for what, reply in {**foreign, "an unknown requirement": unknown}.items():
        if reply.status != 406:  # unsupported (L4563); for tables alone a 400 is demanded (L1009)
            expect_bad_request(reply, what)


# --------------------------------------------------- identity, location and properties


@check("view-update.assign-uuid.same")
def test_assign_same_uuid(catalog: Catalog) -> None:
    """A commit that assigns a view its own uuid is accepted, and the uuid stays."""
    view = given_view(catalog)
    updates = [{"action": "assign-uuid", "uuid": view.uuid}, _mark("first")]
    after = _accepted(catalog, updates, view=view)
    _expect_members(after, {"view-uuid": metadata_view.same_uuid(view.uuid)}, "uuid")


@check("view-update.assign-uuid.reassign", proves="view-update.assign-uuid.reassign-refused")
def test_reassign_uuid(catalog: Catalog) -> None:
    """An existing view cannot be given another uuid."""
    update = {"action": "assign-uuid", "uuid": ANOTHER_UUID}
    _refused(catalog, shared_view(catalog), [update], 400)


@check("view-update.upgrade-format-version.same")
def test_same_format_version(catalog: Catalog) -> None:
    """A commit that names the format version that a view has is accepted."""
    updates = [{"action": "upgrade-format-version", "format-version": 1}, _mark("first")]
    _expect_members(_accepted(catalog, updates), {"format-version": 1}, "format-version")


@check(
    "view-update.upgrade-format-version.unknown",
    proves="view-update.upgrade-format-version.unknown-refused",
)
def test_unknown_format_version(catalog: Catalog) -> None:
    """The format version of a view cannot be raised to one that does not exist."""
    update = {"action": "upgrade-format-version", "format-version": 99}
    _refused(catalog, shared_view(catalog), [update], 400)


@check("view-update.set-location", proves="view-update.set-location.effect")
def test_set_location(catalog: Catalog) -> None:
    """set-location changes a view's location."""
    view = given_view(catalog)
    location = f"{str(view.metadata.get('location', '')).rstrip('/')}_moved"
    reply = replace_view(catalog, view, [{"action": "set-location", "location": location}])
    offered(catalog, "view-relocation", reply).expect(200)
    there = Matcher("the new location", lambda v: metadata_view.place(v) == due)
    due = metadata_view.place(location)
    _expect_members(loaded_view(catalog, view), {"location": there}, "location")


@check("view-update.set-properties", proves="view-update.set-properties.effect")
def test_set_properties(catalog: Catalog) -> None:
    """set-properties adds and replaces properties of a view and leaves the others alone."""
    sent = {"replaced": " 2 ", "Added": "3"}
    updates = [bodies.set_properties(sent)]
    after = _accepted(catalog, updates, kept="1", replaced="1").metadata.get("properties") or {}
    due = {"kept": "1", **sent}
    equal({key: after.get(key) for key in due}, due, symptom=EFFECT_MISSING.of("view-properties"))


@check("view-update.remove-properties", proves="view-update.remove-properties.effect")
def test_remove_properties(catalog: Catalog) -> None:
    """remove-properties removes properties of a view and leaves the others alone."""
    gone = {"gone": "1", "also": "1"}
    view = given_view(catalog, properties={**gone, "gone.not": "2", "kept": "3"})
    updates = [{"action": "remove-properties", "removals": [*gone]}]
    after = _accepted(catalog, updates, view=view).metadata.get("properties") or {}
    due = {**dict.fromkeys(gone), "gone.not": "2", "kept": "3"}
    equal({key: after.get(key) for key in due}, due, symptom=EFFECT_MISSING.of("view-properties"))


# -------------------------------------------------------------- schemas and versions


@check("view-update.add-schema", proves="view-update.add-schema.effect")
def test_add_schema(catalog: Catalog) -> None:
    """add-schema adds a schema to those of a view."""
    updates = [{"action": "add-schema", "schema": OTHER_SCHEMA, "last-column-id": 3}]
    after = _accepted(catalog, updates).metadata
    shapes = [metadata_view.shape(each) for each in after.get("schemas") or ()]
    due = metadata_view.shape(OTHER_SCHEMA)
    equal([each for each in shapes if each == due], [due], symptom=EFFECT_MISSING.of("view-schema"))


@check("view-update.add-view-version", proves="view-update.add-view-version.effect")
def test_add_version(catalog: Catalog) -> None:
    """add-view-version adds a version as it was sent, and leaves the current one current."""
    view = given_view(catalog)
    version = add_version(view, SECOND_SQL, dialects=("spark", "trino"))["view-version"]

    def send(version: Json) -> Reply:
        update = {"action": "add-view-version", "view-version": version}
        return replace_view(catalog, view, [update])

    sent, reply = in_dialects(catalog, version | {"default-catalog": "Prod"}, send)
    if is_declined(reply):  # no catalog has this name
        sent, reply = in_dialects(catalog, version, send)
    reply.expect(200)
    after = loaded_view(catalog, view).metadata
    added = version_with(after, SECOND_SQL)
    equal(definition_of(added), definition_of(sent), symptom=_UNDEFINED)
    current = view.metadata.get("current-version-id")
    equal(after.get("current-version-id"), current, symptom=_ADDED_VERSION_GOES_LIVE)


@check("view-update.add-view-version.last-added-schema")
def test_last_added_schema(catalog: Catalog) -> None:
    """A version with the schema id -1 refers to the schema that the commit added last."""
    view = given_view(catalog)
    updates = [
        {"action": "add-schema", "schema": OTHER_SCHEMA, "last-column-id": 3},
        # The same query with another schema is another version.
        add_version(view, FIRST_SQL, schema_id=LAST_ADDED),
    ]
    after = _accepted(catalog, updates, view=view).metadata
    first = view.metadata.get("current-version-id")
    named = [v.get("schema-id") for v in after["versions"] if v.get("version-id") != first]
    schemas = [s for s in after.get("schemas") or () if s.get("schema-id", 0) in named]
    due = [metadata_view.shape(OTHER_SCHEMA)]
    equal([metadata_view.shape(s) for s in schemas], due, symptom=VIEW_VERSION_WITHOUT_SCHEMA)


@check("view-update.set-current-view-version", proves="view-update.set-current-view-version.effect")
def test_set_current_version(catalog: Catalog) -> None:
    """set-current-view-version makes the version with that id the current one."""
    after, version_id = _given_current(catalog, given_view(catalog), SECOND_SQL)
    equal(after.metadata.get("current-version-id"), version_id, symptom=_UNDEFINED)


@check("view-update.set-current-view-version.history")
def test_history(catalog: Catalog) -> None:
    """Versions that were replaced are still there, and the log tells of each in its order."""
    view = given_view(catalog)
    for sql in (SECOND_SQL, THIRD_SQL):
        view, _ = _given_current(catalog, view, sql)
    metadata = view.metadata
    versions = [version_with(metadata, sql) for sql in (FIRST_SQL, SECOND_SQL, THIRD_SQL)]
    due = [version.get("version-id", ABSENT) for version in versions]
    logged = [entry.get("version-id") for entry in metadata.get("version-log") or ()]
    equal([each for each in logged if each in due], due, symptom=VIEW_HISTORY_LOST)
