"""Checks of keys on requests about views."""

from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.client.given import arrange, shared_namespace
from icecheck.conformance.idempotency.keys import require_keys
from icecheck.conformance.idempotency.repeating import (
    ANSWERED_OTHERWISE,
    Names,
    again,
    carried_out_again,
    expect_same,
    first,
    keyed,
    violation,
)
from icecheck.judging.check import check
from icecheck.objects.metadata_view import metadata_in
from icecheck.objects.views import MARK, View, create_view_body, given_view, loaded_view
from icecheck.objects.views import replace_view as commit_to
from icecheck.replies.expect import Blocked, NotOffered, Reply

_UUID = "view-uuid"


def _of_view(view: View) -> Names:
    return {"namespace": view.namespace, "view": view.name}


def _marked(value: str) -> dict[str, Any]:
    return bodies.set_properties({MARK: value})


def _mark(view: View) -> object:
    return (view.metadata.get("properties") or {}).get(MARK)


@check("idempotency.views-replayed")
def test_changes_and_drops_of_views_are_answered_again(catalog: Catalog) -> None:
    """A change and a drop of a view are answered again as they were, and nothing is done again."""
    require_keys(catalog)
    view = given_view(catalog)
    body = bodies.commit_body(view.namespace, view.name, [_marked("first")], [view.same])
    change = keyed(catalog, "replaceView", _of_view(view), body)
    changed = first(catalog, change)
    arrange(catalog, "replaceView", lambda: commit_to(catalog, view, [_marked("second")]))
    if _mark(loaded_view(catalog, view)) != "second":
        raise Blocked("replaceView.answer-is-the-view", "a changed property is not shown")
    expect_same(change, again(catalog, change, changed), changed, _UUID)
    shown = catalog.load_view(view.namespace, view.name).expect(200)
    if (metadata_in(shown).get("properties") or {}).get(MARK) != "second":
        raise carried_out_again(change, shown, "undoes a later change")
    drop = keyed(catalog, "dropView", _of_view(view))
    again(catalog, drop, first(catalog, drop))


@check("idempotency.view-creation-replayed")
def test_the_creation_of_a_view_is_answered_again(catalog: Catalog) -> None:
    """The creation of a view that comes again is answered as before, about the same view."""
    require_keys(catalog)
    namespace = shared_namespace(catalog)
    body = create_view_body(catalog.new_name(), namespace)
    creation = keyed(catalog, "createView", {"namespace": namespace}, body)
    created = first(catalog, creation)
    repeated = again(catalog, creation, created, "creation-of-a-view")
    if _uuid(repeated) != _uuid(created):
        symptom = ANSWERED_OTHERWISE.of("creation-of-a-view")
        due, came = "the view of the first answer", "another one"
        raise violation(creation, repeated, symptom, due, came, pointer=f"/metadata/{_UUID}")


def _uuid(reply: Reply) -> str:
    return str(metadata_in(reply).get(_UUID)).lower()


def _given_dropped(catalog: Catalog, view: View) -> None:
    arrange(catalog, "dropView", lambda: catalog.drop_view(view.namespace, view.name))


@check("idempotency.view-registration-replayed")
def test_the_registration_of_a_view_is_answered_again(catalog: Catalog) -> None:
    """The registration of a view that comes again is answered as before."""
    require_keys(catalog)
    for dropped in (True, False):
        view = loaded_view(catalog, given_view(catalog))
        if view.metadata_location is None:
            raise NotOffered("the catalog tells no metadata location of a view")
        if dropped:
            _given_dropped(catalog, view)
        body = {"name": catalog.new_name(), "metadata-location": view.metadata_location}
        registration = keyed(catalog, "registerView", {"namespace": view.namespace}, body)
        registered = registration.send(catalog)
        # A catalog may delete the file of a dropped view; then that of another one is registered.
        if not 400 <= registered.status < 500:
            break
    arrange(catalog, "registerView", lambda: registered)
    expect_same(registration, again(catalog, registration, registered), registered, _UUID)
