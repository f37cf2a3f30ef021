"""Checks of registerView: a metadata file becomes a view in its place."""

from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import NO_BODY, Catalog
from icecheck.client.given import another_shared_namespace, arrange, shared_table
from icecheck.findings.shared_symptoms import EFFECT_MISSING, EFFECT_ON_ANOTHER
from icecheck.findings.statuses import ANY_REFUSAL
from icecheck.findings.symptoms import Severity, declare
from icecheck.judging.check import check
from icecheck.judging.probes import is_refusal
from icecheck.objects import metadata_view
from icecheck.objects.comparing import expect_answer
from icecheck.objects.reading import not_applicable, object_in, tables_in
from icecheck.objects.registering import due, file_of, refused_as_unfit, registered
from icecheck.objects.round_trip import shown_of
from icecheck.objects.views import (
    MARK,
    METADATA_LOCATION_STAYS,
    VIEW_HISTORY_LOST,
    View,
    add_version,
    current_versions,
    definition_of,
    expect_view_unchanged,
    given_view,
    loaded_view,
    replace_view,
    set_current_version,
    settled_view,
    shared_view,
)
from icecheck.replies.expect import Reply, equal
from icecheck.replies.matching import show

_REGISTERED_ELSEWHERE = declare(
    "view-registered-elsewhere",
    "Gives a registered view another metadata location than the file named",
    Severity.SHAPE,
)

_LOST = EFFECT_MISSING.of("registered-view")
_SECOND_SQL = "SELECT 2 AS id, 'b' AS data"
_NOTE = "icecheck.note"
_OTHER_SCHEMA = bodies.schema(bodies.struct_field(3, "other", "long"), schema_id=1)


def _redefined(view: View) -> list[dict[str, Any]]:
    """Return the updates that give a view another query, and make it the current one."""
    return [add_version(view, _SECOND_SQL), set_current_version(-1)]


def _with_history(catalog: Catalog, view: View) -> list[View]:
    """Commit to a view as far as the catalog does, and return the states whose files to register.

    A second version has a schema of its own, another dialect and a default catalog, or none of the
    latter if the catalog refuses them. The view is then set back to its first version, and the
    state after that is the first one returned. The last one is the newest.
    """
    if not catalog.claims("replaceView"):
        return [loaded_view(catalog, view)]
    schema = {"action": "add-schema", "schema": _OTHER_SCHEMA, "last-column-id": 3}
    # Without the second of these, Java's servers refuse a version in fewer dialects.
    properties = {_NOTE: "said later", "replace.drop-dialect.allowed": "true"}
    said = bodies.set_properties(properties)
    plain = add_version(view, _SECOND_SQL, schema_id=-1)
    rich = add_version(view, _SECOND_SQL, schema_id=-1, dialects=("spark", "trino"))
    rich["view-version"]["default-catalog"] = "icecheck_other"

    def commit(version: dict[str, Any]) -> Reply:
        updates = [schema, version, set_current_version(-1), said]
        return replace_view(catalog, view, updates)

    reply = commit(rich)
    if is_refusal(reply):
        reply = commit(plain)
    second = shown_of(arrange(catalog, "replaceView", lambda: reply), view)
    back = replace_view(catalog, view, [set_current_version(1)])
    third = replace_view(catalog, view, _redefined(second))
    newest = shown_of(third, view) if third.ok else loaded_view(catalog, view)
    return [shown_of(back, view), newest] if back.ok else [newest]


@check("registerView.succeeds", proves=("registerView.200", "registerView.answer-is-the-view"))
def test_register_view(catalog: Catalog) -> None:
    """Registering a view's metadata file is answered with the view that a load then shows."""
    made = registered(catalog, namespace=another_shared_namespace(catalog))
    uuid = metadata_view.same_uuid(made.view.uuid)
    made.reply.expect(200).expect_json({"metadata": {"view-uuid": uuid}})
    expect_answer(made.reply, made.made, "a registered view")
    if catalog.claims("listViews"):
        reply = catalog.list_views(made.namespace).expect(200)
        whole = not object_in(reply).get("next-page-token")
        if whole and (made.namespace, made.name) not in tables_in(reply):
            raise reply.violation(_LOST, "a list with it", "one without it")


@check("registerView.keeps-identity", proves="registerView.same-view")
def test_same_view(catalog: Catalog) -> None:
    """A registered view has the uuid, the schemas, the versions and the log of its file."""
    made = registered(catalog, lambda view: _with_history(catalog, view))
    made.reply.expect(200)
    before, after = made.view.metadata, made.made.metadata
    settled = [settled_view(each, MARK, _NOTE) for each in (after, before)]
    for each in settled:
        del each["location"]  # where later files go is the catalog's business
    equal(*settled, symptom=_LOST)
    equal(*(_told_of_versions(each) for each in (after, before)), symptom=VIEW_HISTORY_LOST)
    logged = [_logged(each) for each in (after, before)]
    equal(logged[0][: len(logged[1])], logged[1], symptom=VIEW_HISTORY_LOST)


def _told_of_versions(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return when each version was made, and what the engine that made it said of itself."""
    engine = bodies.view_version(namespace=())["summary"]
    return {
        str(each.get("version-id")): {
            "timestamp-ms": each.get("timestamp-ms"),
            "summary": {key: (each.get("summary") or {}).get(key) for key in engine},
        }
        for each in metadata["versions"]
    }


def _logged(metadata: dict[str, Any]) -> list[Any]:
    entries = metadata.get("version-log") or ()
    return [(each.get("version-id"), each.get("timestamp-ms")) for each in entries]


@check("registerView.keeps-location", proves="registerView.in-place")
def test_in_place(catalog: Catalog) -> None:
    """A registered view's metadata location is the file that was given."""
    made = registered(catalog)
    places = [metadata_view.place(file_of(each)) for each in (made.made, made.view)]
    equal(*places, symptom=_REGISTERED_ELSEWHERE)


@check("registerView.accepts-commits", proves="registerView.replaceable")
def test_registered_view_is_replaceable(catalog: Catalog) -> None:
    """A registered view accepts commits like any other, and they are not written over its file."""
    made = registered(catalog).made
    reply = replace_view(catalog, made, _redefined(made)).expect(200)
    after = loaded_view(catalog, made)
    found = [definition_of(each)["representations"] for each in current_versions(after.metadata)]
    sent = bodies.view_version(_SECOND_SQL, namespace=made.namespace)["representations"]
    equal(found, [sent], symptom=EFFECT_MISSING.of("view-definition"))
    if after.metadata_location == made.metadata_location is not None:
        seen = "the file that was registered"
        raise reply.violation(METADATA_LOCATION_STAYS, "a new metadata location", seen)


@check("registerView.leaves-others", proves="registerView.replaceable")
def test_views_of_one_file_are_two(catalog: Catalog) -> None:
    """A commit to a view that was registered from another's file leaves the other as it was."""
    first = loaded_view(catalog, given_view(catalog, properties={MARK: "first"}))
    name = catalog.new_name()
    reply = catalog.register_view(first.namespace, name, file_of(first))
    if refused_as_unfit(reply):
        raise not_applicable(f"the file of a view is answered with {reply.status}")
    arrange(catalog, "registerView", lambda: reply)
    second = loaded_view(catalog, View(first.namespace, name, {}, None))
    replace_view(catalog, second, _redefined(second)).expect(200)
    # What the catalog does not show of the other, it cannot show to be altered.
    answer = catalog.load_view(first.namespace, first.name).expect(200)
    after = settled_view(metadata_view.metadata_in(answer), MARK)
    symptom = EFFECT_ON_ANOTHER.of("view")
    equal(after, settled_view(first.metadata, MARK), symptom=symptom)
    location = answer.json().get("metadata-location")
    if location is not None and metadata_view.place(location) != metadata_view.place(
        first.metadata_location
    ):
        raise answer.violation(symptom, show(first.metadata_location), show(location))


# --------------------------------------------------------------------------- refusals


@check("registerView.malformed-refused", proves="registerView.400")
def test_malformed_bodies(catalog: Catalog) -> None:
    """The registration of a view with an unusable body is refused with 400."""
    view, name = shared_view(catalog), catalog.new_name()
    wrong: dict[str, Any] = {
        "no body": NO_BODY,
        "no JSON": b"{",
        "no object": ["x"],
        "no name": {"metadata-location": file_of(view)},
        "no metadata location": {"name": name},
    }
    for what, body in wrong.items():
        reply = catalog.call("registerView", {"namespace": view.namespace}, body=body)
        reply.expect(400, detail=f"sent {what}")
    _expect_nothing_there(catalog, view, name)


@check("registerView.missing-namespace", proves="registerView.404")
def test_missing_namespace(catalog: Catalog) -> None:
    """Registering a view in a namespace that does not exist is refused, and makes none."""
    view = shared_view(catalog)
    missing, name = catalog.new_namespace_name(), catalog.new_name()
    due(catalog, catalog.register_view(missing, name, file_of(view)), view, 404)
    catalog.load_view(missing, name).expect(404, detail="nothing may be registered")
    if catalog.claims("loadNamespaceMetadata"):
        reply = catalog.load_namespace_metadata(missing)
        if reply.ok:
            catalog.ledger_namespace(missing)
        reply.expect(404, detail="no namespace may spring into being")


@check(
    "registerView.already-exists",
    proves=("registerView.409", "registerView.conflict-changes-nothing"),
)
def test_existing_view(catalog: Catalog) -> None:
    """Registering a view under the name of another is refused, and leaves that as it was."""
    view = shared_view(catalog)
    existing = loaded_view(catalog, given_view(catalog, properties={MARK: "first"}))
    reply = catalog.register_view(existing.namespace, existing.name, file_of(view))
    expect_view_unchanged(catalog, existing)
    due(catalog, reply, view, 409)


@check("registerView.unreadable", proves="registerView.unreadable-refused")
def test_unreadable_files(catalog: Catalog) -> None:
    """A metadata location without a view's metadata file registers nothing."""
    view, name = shared_view(catalog), catalog.new_name()
    nowhere = file_of(view).rpartition("/")[0] + f"/{name}.metadata.json"
    unread: dict[str, str | None] = {"no such file": nowhere, "an empty location": ""}
    if catalog.claims("createTable"):
        unread["the metadata file of a table"] = shared_table(catalog).metadata_location
    for what, location in unread.items():
        if location is not None:
            reply = catalog.register_view(view.namespace, name, location)
            if reply.ok:
                raise reply.wrong_status(ANY_REFUSAL, detail=what)
    _expect_nothing_there(catalog, view, name)


def _expect_nothing_there(catalog: Catalog, view: View, name: str) -> Reply:
    answer = catalog.load_view(view.namespace, name)
    return answer.expect(404, detail="nothing may be registered")
