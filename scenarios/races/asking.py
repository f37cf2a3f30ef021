"""The requests of a program as they are sent, and what answers to those that look show."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from icecheck.histories.history import Deed, Release, Seen
from icecheck.histories.racing import Move
from icecheck.objects.moves import load, load_namespace
from icecheck.objects.reading import namespaces_in, next_page_token, tables_in
from icecheck.replies.expect import Reply
from icecheck.scenarios.races.on_tables import change_of_table, missing
from icecheck.scenarios.races.on_views_and_namespaces import change_of_namespace, change_of_view
from icecheck.scenarios.races.programs import (
    Request,
    home_of,
    in_words,
    kind_of,
    operations_in,
)
from icecheck.scenarios.races.scene import Scene

_CHANGES: Mapping[str, Callable[[Scene, Request], Move]] = {
    "table": change_of_table,
    "view": change_of_view,
    "namespace": change_of_namespace,
}
_LISTS = {"list": "table", "list-views": "view", "list-namespaces": "namespace"}


def move_of(scene: Scene, request: Request) -> Move:
    """Return a request as it is sent."""
    return replace(_asked(scene, request), words=in_words(request))


def load_of(scene: Scene, label: str) -> Move:
    """Return a load of a label."""
    return move_of(scene, Request("load", (label,)))


def _asked(scene: Scene, request: Request) -> Move:
    if request.name in _LISTS:
        return _list(scene, request)
    label = request.on[0]
    kind, operation_id = kind_of(label), operations_in(request)[0]
    match request.name:
        case "load" if kind == "namespace":
            return load_namespace(scene.namespaces[label], label)
        case "load":
            place = scene.places[label]
            return load(place.namespace, place.name, kind, label)
        case "exists":
            return Move(operation_id, scene.names(label, kind), reads=_existence(label))
        case "drop":
            names, deeds = scene.names(label, kind), (Release(label),)
            return Move(operation_id, names, deeds=deeds, missed=missing(label))
    return _CHANGES[kind](scene, request)


def _existence(label: str) -> Callable[[Reply], tuple[Deed, ...]]:
    def reads(reply: Reply) -> tuple[Deed, ...]:
        known = reply.ok or reply.status == 404
        return (Seen(label, present=reply.ok),) if known else ()

    return reads


def _list(scene: Scene, request: Request) -> Move:
    """Return a list of what stands beside each other: in one namespace, or below one."""
    (operation_id,), kind = operations_in(request), _LISTS[request.name]
    if kind == "namespace":
        places = {label: path[-1] for label, path in scene.namespaces.items()}
        query = (("parent", scene.parent),) if scene.parent else ()
        return Move(operation_id, query=query, reads=_listed(places, _namespaces_in))
    names = {
        label: place.name
        for label, place in scene.places.items()
        if kind_of(label) == kind and not home_of(label)
    }
    where = {"namespace": scene.namespace}
    return Move(operation_id, where, reads=_listed(names, _names_in))


def _names_in(reply: Reply) -> list[str]:
    return [name for _, name in tables_in(reply)]


def _namespaces_in(reply: Reply) -> list[str]:
    return [path[-1] for path in namespaces_in(reply) if path]


def _listed(
    places: Mapping[str, str], names_in: Callable[[Reply], list[str]]
) -> Callable[[Reply], tuple[Deed, ...]]:
    """Return what reads a list: the names that are there and, if it is whole, the others."""

    def reads(reply: Reply) -> tuple[Deed, ...]:
        if reply.status != 200:
            return ()
        listed = {name.casefold() for name in names_in(reply)}
        found = {label: name.casefold() in listed for label, name in places.items()}
        whole = not next_page_token(reply)
        return tuple(
            Seen(label, present=present) for label, present in found.items() if present or whole
        )

    return reads
