"""Checks of keys on requests about views."""

from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.client.given import arrange, shared_namespace
from icecheck.conformance.idempotency.keys import require_keys
from icecheck.conformance.idempotency.registering import Kind, registered
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
from icecheck.objects.views import MARK, View, create_view_body, given_view, loaded_view
from icecheck.objects.views import replace_view as commit_to
from icecheck.replies.expect import Blocked, Reply
from icecheck.targets.target import Namespace

_UUID = "view-uuid"
_CREATION = "creation-of-a-view"
"""The qualifier of what the document only recommends: it forgets the key of this operation."""
_VIEWS = Kind(
    "registerView",
    "dropView",
    Catalog.drop_view,
    Catalog.load_view,
    lambda catalog: loaded_view(catalog, given_view(catalog)),
)


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
    repeated = again(catalog, creation, created, _CREATION)
    if uuid_in(repeated, _UUID) != uuid_in(created, _UUID):
        raise violation(
            creation,
            repeated,
            ANSWERED_OTHERWISE,
            *("the view of the first answer", "another one"),
            pointer=f"/metadata/{_UUID}",
            qualifier=_CREATION,
        )
    if not catalog.claims("dropView"):
        return
    dropped = catalog.drop_view(namespace, body["name"])
    if dropped.status == 404 and catalog.load_view(namespace, body["name"]).status == 404:
        raise not_carried_out(creation, dropped, _CREATION)
    if dropped.ok:
        creation.send(catalog)
        there = catalog.load_view(namespace, body["name"])
        if there.ok and uuid_in(there, _UUID) != uuid_in(created, _UUID):
            raise carried_out_again(creation, there, "makes a second view", _CREATION)


@check("idempotency.view-registration-replayed")
def test_the_registration_of_a_view_is_answered_again(catalog: Catalog) -> None:
    """The registration of a view that comes again is answered as before, and not done again."""
    require_keys(catalog)
    made_by = registered(catalog, _VIEWS)
    request, answered = made_by.request, made_by.answered
    expect_same(request, again(catalog, request, answered), answered, _UUID)
    namespace, name = made_by.namespace, made_by.name
    if catalog.claims("dropView") and catalog.drop_view(namespace, name).ok:
        _expect_registered_once(catalog, request, namespace, name)


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
