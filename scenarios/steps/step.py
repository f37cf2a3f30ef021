"""Steps over namespaces, tables and views: the request, its condition and its expected effect.

A step names things by their paths. It is sent only where its outcome is certain and skipped
elsewhere: no later step needs what the catalog has lawfully refused.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from icecheck.client.catalog import Catalog
from icecheck.findings.symptoms import ANOTHER_THING, Severity, declare
from icecheck.judging.probes import DOES_NOT
from icecheck.objects.metadata_view import metadata_in
from icecheck.objects.reading import CHANGE_REPORT
from icecheck.replies.expect import Reply
from icecheck.replies.matching import containing, lacking
from icecheck.scenarios.model.observer import Observer
from icecheck.scenarios.model.world import ADDED, MARK, Thing, World, marked
from icecheck.targets.target import Namespace

_UUID_USED_TWICE = declare(
    "uuid-used-twice",
    "Gives two objects one uuid",
    Severity.FALSE_OR_LOST,
    ANOTHER_THING,
)

ANOTHER_UUID = "00000000-0000-4000-8000-000000000000"
DONE = (200, 202, 204)
"""The statuses of a success without a body; other checks judge which of them is due."""
NOT_SUPPORTED = frozenset({406})
_ANY = frozenset(range(400, 600))
_DROPS = {"namespace": "dropNamespace", "table": "dropTable", "view": "dropView"}
_RENAMES = {"table": "renameTable", "view": "renameView"}

Send = Callable[[Observer], Reply | None]
"""Sends a step; returns None if the step cannot be sent."""
After = Callable[[World, Reply], World]


@dataclass(frozen=True, slots=True)
class Step:
    """One step: its description, its operation and its expected effect.

    ``possible`` gets the state and returns whether the step can be sent. ``due`` are the statuses
    of its outcome, ``lawful`` those by which a catalog may decline the step. ``after`` turns the
    state before into the state after; it is None for a request that must be refused and change
    nothing. ``touched`` are the things that a success may change; they are read after a refusal
    too. Once a step of a ``sort`` has succeeded, its lawful refusals count no longer: the catalog
    supports that sort. The check cannot be judged without a ``given`` step. ``judge`` gets the
    state before and the answer, where more than the thing is to be judged. ``unseen``: nothing is
    read before the step, because a catalog may show a thing with a similar name. ``relies`` are the
    effects without which the step means nothing (``Catalog.keeps``).
    """

    what: str
    operation: str
    send: Send
    possible: Callable[[World], bool]
    due: tuple[int, ...]
    after: After | None
    touched: tuple[Thing, ...]
    lawful: frozenset[int] = frozenset()
    given: bool = False
    needs: str = ""
    judge: Callable[[World, Reply], None] | None = None
    unseen: bool = False
    sort: str = ""
    relies: tuple[str, ...] = ()

    def as_given(self) -> "Step":
        """Return the step as a setup step, whose failure blocks the check."""
        return replace(self, given=True)

    def if_nested(self) -> "Step":
        """Return the step for catalogs with nested namespaces; a refusal of the depth is lawful."""
        return replace(self, needs="nested-namespaces", lawful=self.lawful | DOES_NOT)

    def if_accepted(self, sort: str = "") -> "Step":
        """Return the step with every refusal lawful, until a step of the sort has its outcome."""
        return replace(self, lawful=_ANY, sort=sort or self.sort)

    def in_capitals(self, twin: Thing) -> "Step":
        """Return the step beside a lower-case twin; a case-insensitive catalog may refuse it."""
        return replace(
            self,
            possible=lambda world: world.has(twin) and self.possible(world),
            lawful=DOES_NOT | {409},
            unseen=True,
        )


def refused(
    what: str,
    operation: str,
    send: Send,
    *statuses: int,
    possible: Callable[[World], bool],
    around: tuple[Thing, ...],
    needs: str = "",
    relies: tuple[str, ...] = (),
) -> Step:
    """Return a step that must be refused with one of these statuses, and change nothing."""
    return Step(
        what,
        operation,
        send,
        possible,
        statuses,
        None,
        around,
        NOT_SUPPORTED,
        needs=needs,
        relies=relies,
    )


def spoiled(what: str, operation: str, send: Send, thing: Thing) -> Step:
    """Return a step that must make nothing, whatever status it has: the name stays free.

    If it makes something, that is dropped again: other checks judge it. Where nothing is dropped,
    such a step is left out.
    """

    def tried(observer: Observer) -> Reply | None:
        reply = send(observer)
        if reply is not None and reply.ok:
            send_drop(observer.catalog, thing).expect(*DONE, detail=f"after {what}")
            return None
        return reply

    def possible(world: World) -> bool:
        return world.is_free(thing)

    drops = (f"{_DROPS[thing.kind]}.204",)
    return Step(what, operation, tried, possible, (400,), None, (thing,), _ANY, relies=drops)


# -------------------------------------------------------------------------- namespaces


def spoiled_namespace(path: Namespace) -> Step:
    """Try to create a namespace with properties that are not a map."""
    body = {"namespace": [*path], "properties": "none"}
    return spoiled(
        "a creation that cannot be",
        "createNamespace",
        lambda observer: observer.catalog.call("createNamespace", body=body),
        Thing("namespace", path),
    )


def create_namespace(path: Namespace, properties: Mapping[str, str]) -> Step:
    """Create a namespace with these properties, possibly none, in an existing one."""
    thing = Thing("namespace", path)

    def send(observer: Observer) -> Reply:
        sent = observer.begins_with("namespace", properties)
        return observer.catalog.create_namespace(path, sent)

    def after(world: World, _reply: Reply) -> World:
        return world.made(thing, {"namespace": [*path], "properties": marked(properties)})

    return Step(
        "creating a namespace" + (" with properties" if properties else " without properties"),
        "createNamespace",
        send,
        lambda world: world.is_free(thing),
        (200,),
        after,
        (thing,),
    )


def refused_namespace(path: Namespace) -> Step:
    """Create a namespace that exists."""
    thing = Thing("namespace", path)

    def send(observer: Observer) -> Reply:
        unwanted = observer.begins_with("namespace", {MARK: "unwanted", ADDED: "unwanted"})
        return observer.catalog.create_namespace(path, unwanted)

    return refused(
        "a creation of a namespace, which was to be refused",
        "createNamespace",
        send,
        409,
        possible=world_has(thing),
        around=(thing,),
    )


def update_properties(path: Namespace, change: Mapping[str, str | None]) -> Step:
    """Set properties of a namespace, and remove those whose value is None."""
    thing = Thing("namespace", path)
    updates = {key: value for key, value in change.items() if value is not None}
    removals = [key for key, value in change.items() if value is None]

    def send(observer: Observer) -> Reply | None:
        if not observer.keeps_properties:
            return None
        return observer.catalog.update_properties(path, updates=updates, removals=removals)

    def after(world: World, _reply: Reply) -> World:
        was = world.held[thing].due["properties"]
        return world.changed(thing, {"properties": {**was, **change}})

    def judge(world: World, reply: Reply) -> None:
        was = world.held[thing].due["properties"]
        removed = [key for key in removals if was.get(key) is not None]
        report = {"updated": containing(*updates), "removed": containing(*removed)}
        reply.expect_json(report, symptom=CHANGE_REPORT)
        kept = [key for key in was if key not in change]
        report = {"updated": lacking(*removals, *kept), "removed": lacking(*updates, *kept)}
        reply.expect_json(report, symptom=CHANGE_REPORT)

    return Step(
        "changing a namespace's properties",
        "updateProperties",
        send,
        world_has(thing),
        (200,),
        after,
        (thing,),
        NOT_SUPPORTED,
        judge=judge,
    )


def refused_properties(path: Namespace, status: int) -> Step:
    """Set and remove the same key (422), or change a namespace that does not exist (404)."""
    thing = Thing("namespace", path)

    def send(observer: Observer) -> Reply | None:
        if not observer.keeps_properties:
            return None
        removals = [ADDED] if status == 422 else []
        updates = {MARK: "unwanted", ADDED: "unwanted"}
        return observer.catalog.update_properties(path, updates=updates, removals=removals)

    return refused(
        "a refused change of properties",
        "updateProperties",
        send,
        status,
        possible=lambda world: world.has(thing) is (status == 422),
        around=(thing,),
    )


def drop_namespace(path: Namespace) -> Step:
    """Drop an empty namespace."""
    thing = Thing("namespace", path)
    return replace(
        drop(thing),
        possible=lambda world: world.has(thing) and next(world.inside(path), None) is None,
    )


# ----------------------------------------------------------------------- all kinds of things


def drop(thing: Thing) -> Step:
    """Drop an existing thing; a table without purge."""
    return Step(
        f"dropping a {thing.kind}",
        _DROPS[thing.kind],
        lambda observer: send_drop(observer.catalog, thing),
        world_has(thing),
        DONE,
        lambda world, _: world.without(thing),
        (thing,),
        relies=("dropView.gone",) if thing.kind == "view" else (),
    )


def refused_drop(thing: Thing, status: int) -> Step:
    """Drop a missing thing (404), or a namespace that contains a table or view (409)."""

    def possible(world: World) -> bool:
        holds = any(each.kind != "namespace" for each in world.inside(thing.path))
        return world.has(thing) and holds if status == 409 else not world.has(thing)

    missing = " that is not there" if status == 404 else ""
    what = f"a drop of a {thing.kind}{missing}, which was to be refused"
    others = () if thing.kind == "namespace" else ("table", "view")
    return refused(
        what,
        _DROPS[thing.kind],
        lambda observer: send_drop(observer.catalog, thing),
        status,
        possible=possible,
        around=(thing, *(Thing(kind, thing.path) for kind in others if kind != thing.kind)),
    )


def send_drop(catalog: Catalog, thing: Thing) -> Reply:
    """Drop a thing of any kind."""
    match thing.kind:
        case "namespace":
            return catalog.drop_namespace(thing.path)
        case "table":
            return catalog.drop_table(thing.namespace, thing.name)
        case _:
            return catalog.drop_view(thing.namespace, thing.name)


def rename(source: Thing, path: Namespace) -> Step:
    """Rename a table or a view to a free name, perhaps in another namespace."""
    target = Thing(source.kind, path)
    across = source.namespace != target.namespace
    return Step(
        f"renaming a {source.kind}" + (" into another namespace" if across else ""),
        _RENAMES[source.kind],
        lambda observer: send_rename(observer.catalog, source, target),
        lambda world: world.has(source) and world.is_free(target),
        DONE,
        lambda world, _: world.moved(source, target),
        (source, target),
        NOT_SUPPORTED,
        sort=f"{_RENAMES[source.kind]} {len(source.path)} {len(path)} {across}",
        relies=tuple(
            f"{_RENAMES[source.kind]}.{how}"
            for how in ("moves", *(("across-namespaces",) if across else ()))
        ),
    )


def rename_to_itself(thing: Thing) -> Step:
    """Rename a table or a view to its own name: the document does not say whether it may be."""
    return Step(
        f"renaming a {thing.kind} to its own name",
        _RENAMES[thing.kind],
        lambda observer: send_rename(observer.catalog, thing, thing),
        world_has(thing),
        DONE,
        lambda world, _: world.perhaps_changed(thing, "location", "metadata-location"),
        (thing,),
        NOT_SUPPORTED | {400, 409},
    )


def refused_rename(source: Thing, path: Namespace, status: int) -> Step:
    """Rename a missing thing or into a missing namespace (404), or to a taken name (409)."""
    target = Thing(source.kind, path)
    across = source.namespace != target.namespace
    others = ("table", "view")

    def possible(world: World) -> bool:
        if status == 409:
            taken = any(world.has(Thing(kind, path)) for kind in others)
            return world.has(source) and taken
        # Of a missing source and a taken target a catalog may name either.
        free = not any(world.has(Thing(kind, path)) for kind in others)
        return free and not (world.has(source) and world.has_namespace(target.namespace))

    # A catalog may look at two equal names before it looks for the source.
    statuses = (status, 400) if source == target else (status,)
    return refused(
        f"the refused rename of a {source.kind}",
        _RENAMES[source.kind],
        lambda observer: send_rename(observer.catalog, source, target),
        *statuses,
        possible=possible,
        around=(source, *(Thing(kind, path) for kind in others)),
        needs="cross-namespace-rename" if across and source.kind == "table" else "",
    )


def send_rename(catalog: Catalog, source: Thing, target: Thing) -> Reply:
    """Rename a table or a view."""
    body = {"source": source.identifier, "destination": target.identifier}
    return catalog.call(_RENAMES[source.kind], body=body)


def world_has(*things: Thing) -> Callable[[World], bool]:
    """Return the condition that all of these things exist."""
    return lambda world: all(world.has(each) for each in things)


def own_uuid(world: World, reply: Reply, member: str) -> str:
    """Return the uuid of a new thing; raise Violation if another thing has or had the same uuid."""
    uuid = str(metadata_in(reply).get(member)).lower()
    shown = [*world.last.values(), *(held.due for held in world.held.values())]
    if any(each.get(member) == uuid for each in shown):
        raise reply.violation(_UUID_USED_TWICE, "a uuid of its own", "that of something else")
    return uuid
