"""Steps that create views and commit to them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from icecheck.objects.committing import keeps_updates, set_property
from icecheck.objects.views import (
    View,
    add_version,
    create_view_body,
    replace_view,
    set_current_version,
    version_with,
    view_version,
)
from icecheck.replies.expect import Reply
from icecheck.scenarios.model.observer import Observer
from icecheck.scenarios.model.world import KEPT, MARK, Thing, World, marked
from icecheck.scenarios.steps.commits import sent_updates
from icecheck.scenarios.steps.step import (
    ANOTHER_UUID,
    NOT_SUPPORTED,
    Step,
    own_uuid,
    refused,
    spoiled,
    world_has,
)
from icecheck.targets.target import Namespace

Json = dict[str, Any]

_UNWANTED = "SELECT 0 AS id, 'unwanted' AS data"


def _body(thing: Thing, sql: str, properties: Mapping[str, str]) -> Json:
    version = view_version(sql, namespace=thing.namespace)
    return create_view_body(thing.name, thing.namespace, version=version, properties=properties)


def _unwanted(observer: Observer, thing: Thing) -> Json:
    unwanted = {MARK: "unwanted", KEPT: "unwanted too"}
    return _body(thing, _UNWANTED, observer.begins_with("view", unwanted))


def _create(observer: Observer, thing: Thing, body: Json) -> Reply:
    return observer.catalog.create_view(thing.namespace, body)


def create_view(thing: Thing, sql: str, mark: str) -> Step:
    """Create a view with a query under a free name."""
    properties = {MARK: mark, KEPT: f"{mark} too"}

    def send(observer: Observer) -> Reply:
        return _create(observer, thing, _body(thing, sql, observer.begins_with("view", properties)))

    def after(world: World, reply: Reply) -> World:
        uuid = own_uuid(world, reply, "view-uuid")
        due = {"view-uuid": uuid, "query": [sql], "properties": marked(properties)}
        return world.made(thing, due)

    return Step(
        "creating a view",
        "createView",
        send,
        lambda world: world.is_free(thing),
        (200,),
        after,
        (thing,),
        NOT_SUPPORTED,
    )


def spoiled_view(thing: Thing) -> Step:
    """Try to create a view without a usable version."""

    def send(observer: Observer) -> Reply:
        body = _unwanted(observer, thing) | {"view-version": {"version-id": 1}}
        return _create(observer, thing, body)

    return spoiled("a creation that cannot be", "createView", send, thing)


def refused_create_view(thing: Thing, status: int) -> Step:
    """Create a view where one exists (409), or in a missing namespace (404)."""

    def possible(world: World) -> bool:
        return world.has(thing) if status == 409 else not world.has_namespace(thing.namespace)

    return refused(
        "a creation of a view, which was to be refused",
        "createView",
        lambda observer: _create(observer, thing, _unwanted(observer, thing)),
        status,
        possible=possible,
        around=(thing,),
    )


def _shown(observer: Observer, thing: Thing) -> View | None:
    metadata = observer.metadata.get(thing)
    return None if metadata is None else View(thing.namespace, thing.name, metadata, None)


def _replaced(
    what: str,
    thing: Thing,
    updates: Callable[[View], Sequence[Json] | None],
) -> Step:
    def send(observer: Observer) -> Reply | None:
        view = _shown(observer, thing)
        sent = None if view is None else updates(view)
        if view is None or sent is None:
            return None
        if not keeps_updates(observer.catalog, sent, "view-update"):
            return None
        return replace_view(observer.catalog, view, sent)

    return Step(
        what,
        "replaceView",
        send,
        world_has(thing),
        (200,),
        lambda world, reply: world.committed(thing, sent_updates(reply)),
        (thing,),
        NOT_SUPPORTED,
    )


def replace_query(thing: Thing, sql: str) -> Step:
    """Give a view another query."""
    return _replaced(
        "replacing a view's query",
        thing,
        lambda view: [add_version(view, sql), set_current_version(-1)],
    )


def roll_back(thing: Thing, sql: str) -> Step:
    """Make the version with an earlier query current again, if the view has kept it."""

    def updates(view: View) -> list[Json] | None:
        version_id = version_with(view.metadata, sql).get("version-id")
        is_new = version_id != view.metadata.get("current-version-id")
        return [set_current_version(version_id)] if version_id is not None and is_new else None

    return _replaced(
        "rolling a view back",
        thing,
        updates,
    )


def set_on_view(thing: Thing, change: Mapping[str, str]) -> Step:
    """Set properties of a view."""
    return _replaced(
        "setting a view's properties",
        thing,
        lambda _: [{"action": "set-properties", "updates": dict(change)}],
    )


def refused_replace(thing: Thing, status: int) -> Step:
    """Commit to a view with another view's uuid (409), or to a missing view (404)."""

    def send(observer: Observer) -> Reply:
        body = {
            "identifier": thing.identifier,
            "requirements": [{"type": "assert-view-uuid", "uuid": ANOTHER_UUID}],
            "updates": [set_property("unwanted", MARK)],
        }
        names: dict[str, str | Namespace] = {"namespace": thing.namespace, "view": thing.name}
        return observer.catalog.call("replaceView", names, body=body)

    return refused(
        "a refused commit to a view",
        "replaceView",
        send,
        status,
        possible=lambda world: world.has(thing) is (status == 409),
        around=(thing,),
    )
