"""Checks of keys on requests about views."""

from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.client.given import arrange, shared_namespace
from icecheck.conformance.idempotency.keys import require_keys
from icecheck.conformance.idempotency.repeating import (
    ANSWERED_OTHERWISE,
    Keyed,
    Names,
    again,
    carried_out_again,
    expect_same,
    first,
    keyed,
    not_carried_out,
    uuid_in,
    violation,
)
from icecheck.judging.check import check
from icecheck.objects.metadata_view import metadata_in
from icecheck.objects.reading import not_applicable
from icecheck.objects.registering import refused_as_unfit
from icecheck.objects.views import MARK, View, create_view_body, given_view, loaded_view
from icecheck.objects.views import replace_view as commit_to
from icecheck.replies.expect import Blocked, NotOffered, Reply
from icecheck.targets.target import Namespace

_UUID = "view-uuid"


def _of_view(view: View) -> Names:
    return {"namespace": view.namespace, "view": view.name}


def _marked(value: str) -> dict[str, Any]:
    return bodies.set_properties({MARK: value})


def _mark(reply: Reply) -> object:
    return (metadata_in(reply).get("properties") or {}).get(MARK)


@check("idempotency.views-replayed")
def test_a_change_of_a_view_is_answered_again(catalog: Catalog) -> None:
    """A change of a view that comes again is answered as before, and takes nothing back."""
    require_keys(catalog)
    view = given_view(catalog)
    body = bodies.commit_body(view.namespace, view.name, [_marked("first")], [view.same])
    change = keyed(catalog, "replaceView", _of_view(view), body)
    changed = first(catalog, change)
    shown = catalog.load_view(view.namespace, view.name).expect(200)
    if _mark(shown) != "first":
        raise not_carried_out(change, shown)
    _change(catalog, view, "second")
    expect_same(change, again(catalog, change, changed), changed, _UUID)
    shown = catalog.load_view(view.namespace, view.name).expect(200)
    if _mark(shown) != "second":
        _change(catalog, view, "third")
        if _mark(catalog.load_view(view.namespace, view.name).expect(200)) != "third":
            raise Blocked("replaceView.answer-is-the-view", "a changed property is not shown")
        raise carried_out_again(change, shown, "undoes a later change")


def _change(catalog: Catalog, view: View, value: str) -> None:
    """Mark a view as another client."""
    arrange(catalog, "replaceView", lambda: commit_to(catalog, view, [_marked(value)]))


@check("idempotency.view-rename-replayed")
def test_a_rename_of_a_view_is_answered_again(catalog: Catalog) -> None:
    """A rename of a view that comes again is answered as before, also when that was undone."""
    require_keys(catalog)
    view = given_view(catalog)
    source, target = ((view.namespace, name) for name in (view.name, catalog.new_name()))
    rename = keyed(catalog, "renameView", body=bodies.rename_body(source, target))
    renamed = first(catalog, rename)
    if not catalog.rename_view(target, source).ok:
        there = catalog.load_view(*target)
        if there.status == 404:
            raise not_carried_out(rename, there)
        again(catalog, rename, renamed)
        return  # a catalog may keep the old name for a while
    again(catalog, rename, renamed)
    there = catalog.load_view(*source)
    if there.status == 404 and catalog.load_view(*target).ok:
        raise carried_out_again(rename, there, "renames what has the name since")


@check("idempotency.view-drop-replayed")
def test_a_drop_of_a_view_is_answered_again(catalog: Catalog) -> None:
    """A drop of a view that comes again is answered as before; what has the name since stays."""
    require_keys(catalog)
    view = given_view(catalog)
    drop = keyed(catalog, "dropView", _of_view(view))
    dropped = first(catalog, drop)
    if not catalog.create_view(view.namespace, create_view_body(view.name, view.namespace)).ok:
        there = catalog.load_view(view.namespace, view.name)
        if there.ok:
            raise not_carried_out(drop, there)
        again(catalog, drop, dropped)
        return  # a catalog may keep the names of dropped views for a while
    again(catalog, drop, dropped)
    there = catalog.load_view(view.namespace, view.name)
    if there.status == 404:
        raise carried_out_again(drop, there, "drops what has the name since")


@check("idempotency.view-creation-replayed")
def test_the_creation_of_a_view_is_answered_again(catalog: Catalog) -> None:
    """The creation of a view that comes again is answered as before, about the same view."""
    require_keys(catalog)
    namespace = shared_namespace(catalog)
    body = create_view_body(catalog.new_name(), namespace)
    creation = keyed(catalog, "createView", {"namespace": namespace}, body)
    created = first(catalog, creation)
    repeated = again(catalog, creation, created, "creation-of-a-view")
    if uuid_in(repeated, _UUID) != uuid_in(created, _UUID):
        symptom = ANSWERED_OTHERWISE.of("creation-of-a-view")
        due, came = "the view of the first answer", "another one"
        raise violation(creation, repeated, symptom, due, came, pointer=f"/metadata/{_UUID}")
    if not catalog.claims("dropView"):
        return
    dropped = catalog.drop_view(namespace, body["name"])
    if dropped.status == 404 and catalog.load_view(namespace, body["name"]).status == 404:
        raise not_carried_out(creation, dropped, "creation-of-a-view")
    if dropped.ok:
        creation.send(catalog)
        there = catalog.load_view(namespace, body["name"])
        if there.ok and uuid_in(there, _UUID) != uuid_in(created, _UUID):
            raise carried_out_again(creation, there, "makes a second view", "creation-of-a-view")


def _given_dropped(catalog: Catalog, view: View) -> None:
    arrange(catalog, "dropView", lambda: catalog.drop_view(view.namespace, view.name))


@check("idempotency.view-registration-replayed")
def test_the_registration_of_a_view_is_answered_again(catalog: Catalog) -> None:
    """The registration of a view that comes again is answered as before, and not done again."""
    require_keys(catalog)
    for dropped in (True, False) if catalog.claims("dropView") else (False,):
        view = loaded_view(catalog, given_view(catalog))
        if view.metadata_location is None:
            raise NotOffered("the catalog tells no metadata location of a view")
        if dropped:
            _given_dropped(catalog, view)
        name = catalog.new_name()
        body = {"name": name, "metadata-location": view.metadata_location}
        registration = keyed(catalog, "registerView", {"namespace": view.namespace}, body)
        registered = registration.send(catalog)
        # A catalog may delete the file of a dropped view; then that of another one is registered.
        if refused_as_unfit(registered):
            continue
        arrange(catalog, "registerView", lambda: registered)  # noqa: B023 - called at once
        there = catalog.load_view(view.namespace, name)
        if there.status == 404 and not dropped:
            raise not_carried_out(registration, there)
        if there.ok or not dropped:
            break
    else:
        raise not_applicable(f"a file of the catalog's own is answered with {registered.status}")
    expect_same(registration, again(catalog, registration, registered), registered, _UUID)
    if catalog.claims("dropView") and catalog.drop_view(view.namespace, name).ok:
        _expect_registered_once(catalog, registration, view.namespace, name)


def _expect_registered_once(
    catalog: Catalog, registration: Keyed, namespace: Namespace, name: str
) -> None:
    """Judge that a registration which comes again brings no view back that was dropped since."""
    if catalog.load_view(namespace, name).status != 404:
        return  # a catalog may show a view for a while after it was dropped
    registration.send(catalog)
    there = catalog.load_view(namespace, name)
    if there.ok:
        raise carried_out_again(registration, there, "brings back what was dropped since")
