"""The requests of a program that change views and namespaces, as they are sent."""

from icecheck.client import bodies
from icecheck.histories.history import Take, Write
from icecheck.histories.racing import Move
from icecheck.objects.moves import MARK, QUERY
from icecheck.objects.views import View, add_version, set_current_version, view_version
from icecheck.scenarios.races.on_tables import missing, rename_to
from icecheck.scenarios.races.programs import Request
from icecheck.scenarios.races.scene import Json, Scene, mark_of, query_with, view_body
from icecheck.targets.target import Namespace


def change_of_view(scene: Scene, request: Request) -> Move:
    """Return a request that changes views as it is sent."""
    match request.name, request.on, request.values:
        case "create", (label,), (mark,):
            place = scene.places[label]
            names: dict[str, str | Namespace] = {"namespace": place.namespace}
            deeds = (Take(label, mark), Write(label, QUERY, mark))
            body, besides = view_body(place, mark, mark), scene.made_besides(label)
            return Move("createView", names, body, deeds=deeds, besides=besides)
        case "rename", (source, target), _:
            return rename_to(scene, source, target, "view")
        case "set", (label,), (key, value, asserted):
            key = f"icecheck.{key}"
            return _commit(
                scene, label, [bodies.set_properties({key: value})], asserted, key, value
            )
        case "define", (label,), (number, asserted):
            updates = [_version(scene, label, number), set_current_version(-1)]
            return _commit(scene, label, updates, asserted, QUERY, number)
    raise ValueError(f"{request.name} changes no view")


def _version(scene: Scene, label: str, number: str) -> Json:
    """Return the update that adds a version to a view, as that of a given one or the second."""
    if label in scene.views:
        return add_version(scene.views[label], query_with(number))
    namespace = scene.places[label].namespace
    version = view_version(query_with(number), namespace=namespace, version_id=2)
    return {"action": "add-view-version", "view-version": version}


def _commit(
    scene: Scene, label: str, updates: list[Json], asserted: str, field: str, value: str
) -> Move:
    """Return a commit that asserts the uuid of a given view, if there is one of that label."""
    same: View | None = scene.views.get(asserted)
    body = {
        "identifier": scene.places[label].identifier,
        "requirements": [] if same is None else [same.same],
        "updates": updates,
    }
    write = Write(label, field, value, holder=None if same is None else mark_of(asserted))
    # To a commit for another view than the one that is there, it may be missing.
    missed = missing(label) if same is None else ()
    names = scene.names(label, "view")
    return Move("replaceView", names, body, deeds=(write,), missed=missed)


def change_of_namespace(scene: Scene, request: Request) -> Move:
    """Return a request that changes namespaces as it is sent."""
    match request.name, request.on, request.values:
        case "create", (label,), (mark,):
            properties = {MARK: mark} if scene.marked else {}
            body = {"namespace": [*scene.namespaces[label]], "properties": properties}
            return Move("createNamespace", body=body, deeds=(Take(label, mark),))
        case "set", (label,), (key, value, _):
            key = f"icecheck.{key}"
            body = {"removals": [], "updates": {key: value}}
            names, deeds = scene.names(label, "namespace"), (Write(label, key, value),)
            return Move("updateProperties", names, body, deeds=deeds, missed=missing(label))
    raise ValueError(f"{request.name} changes no namespace")
