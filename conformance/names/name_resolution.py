"""Name resolution: the operations that find a table or view by name, and its moves."""

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import NO_BODY, Catalog, Table
from icecheck.client.given import given_namespace
from icecheck.client.given import shared_namespace as given_home
from icecheck.contract import Action, Object, load
from icecheck.judging.probes import has_capability
from icecheck.objects.committing import set_property
from icecheck.objects.metadata_view import metadata_in
from icecheck.objects.metrics_reports import commit_report
from icecheck.objects.reading import not_applicable
from icecheck.objects.views import create_view_body
from icecheck.replies.expect import NotOffered, Reply
from icecheck.targets.target import Namespace

__all__ = ["BESIDE", "TABLES", "VIEWS", "Ask", "Kind", "judge_whereabouts"]

Json = dict[str, Any]
Place = tuple[Namespace, str]
Ask = Callable[[Catalog, Place, str], Reply]
"""Sends a request about a name; the uuid is for requests that assert one."""

_DONE = (200, 202, 204)


@dataclass(frozen=True, slots=True)
class Kind:
    """Tables or views: the operations that find, create, rename and drop them.

    ``finding`` operations are sent under every name, ``ending`` ones only where no object is,
    because they would rename or drop it.
    """

    name: str
    uuid: str
    finding: Mapping[str, Ask]
    ending: Mapping[str, Ask]
    create: Callable[[Catalog, Place], Reply]
    creates: str
    renames: str
    drops: str
    stages: bool = False


# ------------------------------------------------------------------------------- asking


def _identifier(place: Place) -> Json:
    return {"namespace": [*place[0]], "name": place[1]}


def _on(operation_id: str, body: Any = NO_BODY) -> Ask:
    """Return a request that names the object in its path only."""

    def ask(catalog: Catalog, place: Place, _uuid: str) -> Reply:
        kind = catalog.contract.operations[operation_id].facts.object
        names: Mapping[str, str | Namespace] = {"namespace": place[0], kind: place[1]}
        return catalog.call(operation_id, names, body=body)

    return ask


def _commit(kind: str, place: Place, uuid: str) -> Json:
    return {
        "identifier": _identifier(place),
        "requirements": [{"type": f"assert-{kind}-uuid", "uuid": uuid}],
        "updates": [set_property("asked")],
    }


def _update_table(catalog: Catalog, place: Place, uuid: str) -> Reply:
    return _on("updateTable", _commit("table", place, uuid))(catalog, place, uuid)


def _replace_view(catalog: Catalog, place: Place, uuid: str) -> Reply:
    return _on("replaceView", _commit("view", place, uuid))(catalog, place, uuid)


def _commit_transaction(catalog: Catalog, place: Place, uuid: str) -> Reply:
    return catalog.commit_transaction([_commit("table", place, uuid)])


def _report(catalog: Catalog, place: Place, _uuid: str) -> Reply:
    return catalog.report_metrics(*place, commit_report(Table(*place, {}, None)))


def _cancel(catalog: Catalog, place: Place, _uuid: str) -> Reply:
    names: Mapping[str, str | Namespace] = {
        "namespace": place[0],
        "table": place[1],
        "plan-id": "icecheck-no-such-plan",
    }
    return catalog.call("cancelPlanning", names)


def _renaming(operation_id: str) -> Ask:
    """Return a request that renames the object of a name."""

    def ask(catalog: Catalog, place: Place, _uuid: str) -> Reply:
        return _rename(catalog, operation_id, place, (place[0], catalog.new_name()))

    return ask


def _rename(catalog: Catalog, operation_id: str, source: Place, target: Place) -> Reply:
    body = {"source": _identifier(source), "destination": _identifier(target)}
    return catalog.call(operation_id, body=body)


# ------------------------------------------------------------------------- coming to be


def _create_table(catalog: Catalog, place: Place) -> Reply:
    return catalog.create_table(place[0], bodies.create_table_body(place[1]))


def _create_view(catalog: Catalog, place: Place) -> Reply:
    body = create_view_body(place[1])
    return catalog.create_view(place[0], body)


def _moves(kind: Object) -> tuple[str, str, str]:
    """Return the operations that create, rename and drop objects of a kind."""
    known = load()
    return (
        known.operation_that(Action.CREATE, kind),
        known.operation_that(Action.RENAME, kind),
        known.operation_that(Action.DROP, kind),
    )


BESIDE: Mapping[str, Ask] = {
    "loadCredentials": _on("loadCredentials"),
    "planTableScan": _on("planTableScan", {}),
    "reportMetrics": _report,
}
"""Operations that are often served by another service than the one that stores the tables."""

TABLES = Kind(
    "table",
    "table-uuid",
    {
        "loadTable": _on("loadTable"),
        "tableExists": _on("tableExists"),
        **BESIDE,
        "updateTable": _update_table,
        "commitTransaction": _commit_transaction,
    },
    {
        "cancelPlanning": _cancel,
        "renameTable": _renaming("renameTable"),
        "dropTable": _on("dropTable"),
    },
    _create_table,
    *_moves(Object.TABLE),
    stages=True,
)
VIEWS = Kind(
    "view",
    "view-uuid",
    {
        "loadView": _on("loadView"),
        "viewExists": _on("viewExists"),
        "replaceView": _replace_view,
    },
    {"renameView": _renaming("renameView"), "dropView": _on("dropView")},
    _create_view,
    *_moves(Object.VIEW),
)


# ------------------------------------------------------------------------------ walking


def judge_whereabouts(catalog: Catalog, kind: Kind, other: Kind) -> None:
    """Move one object from name to name, and judge after each step what every operation finds.

    Operations that do not answer 404 under an unused name, or do not find a new object, are left
    out: other checks judge them. Steps that the catalog does not accept are left out too. ``other``
    is the other kind of object that can have a name.
    """
    walk = _Walk(catalog, kind, other)
    walk.through()
    if not walk.answering:
        raise not_applicable(f"the catalog makes no {kind.name} that anything finds")


class _Walk:
    """Moves one object through its names and judges the answers after each step.

    ``at`` is its current place, if any; ``uuid`` is its uuid, or that of the last object.
    ``refusing`` are the operations that answer 404 for an unused name, ``answering`` those that
    find a new object. ``holding``: a namespace that holds the object cannot be dropped.
    """

    def __init__(self, catalog: Catalog, kind: Kind, other: Kind) -> None:
        self.catalog, self.kind, self.other = catalog, kind, other
        self.one = (given_home(catalog), catalog.new_name())
        self.two = (self.one[0], catalog.new_name())
        self.far: Place | None = None
        with contextlib.suppress(NotOffered):
            self.far = (given_namespace(catalog), self.one[1])
        self.at: Place | None = None
        self.uuid = "00000000-0000-4000-8000-000000000000"
        asks = {**kind.finding, **kind.ending}
        self.claimed = [name for name in asks if catalog.claims(name)]
        self.refusing = [each for each in self.claimed if self._ask(each, self.one).status == 404]
        self.answering: list[str] = []
        self.holding = False

    def through(self) -> None:
        """Run all steps."""
        if self.far is not None and self._create(self.far):
            self._begin_in(self.far)
        self.create(self.one, "it was made")
        self.drop("it was dropped")
        self.create(self.one, "it was made again")
        self.rename(self.two, "it was renamed")
        self.meet_another(self.one)
        self.rename(self.one, "it was renamed back")
        if self.far is not None:
            self.rename(self.far, "it was moved into another namespace")
            self.rename(self.two, "it was moved back, under another name")
            self.leave(self.far[0])
        self.stage(self.one)
        self.drop("it was dropped at last")

    def _begin_in(self, place: Place) -> None:
        """Record which operations find a new object, and whether its namespace can be dropped."""
        self.answering = self._finding(place)
        dropped = self.catalog.drop_namespace(place[0])
        self.holding = dropped.status == 409
        if dropped.ok:
            self.at = self.far = None  # dropped with its contents; other checks judge that
        self.rename(self.two, "it was moved out of the namespace that it was made in")
        if self.leave(place[0]) and not self.catalog.create_namespace(place[0]).ok:
            self.far = None
        self.drop("it was dropped for the first time")

    def _ask(self, name: str, place: Place) -> Reply:
        ask = self.kind.finding.get(name) or self.kind.ending[name]
        return ask(self.catalog, place, self.uuid)

    def _finding(self, place: Place) -> list[str]:
        finding = [each for each in self.claimed if each in self.kind.finding]
        return [each for each in finding if self._ask(each, place).ok]

    def look(self, after: str) -> None:
        """Judge that every operation finds the object under its name and under no other."""
        for place in (self.one, self.two, self.far):
            if place is None:
                continue
            called = {self.one: "its first name", self.two: "its second name"}
            where = called.get(place, "its name in another namespace")
            detail = f"after {after}: under {where}"
            for name in self.answering if place == self.at else self.refusing:
                due = _DONE if place == self.at else (404,)
                self._ask(name, place).expect(*due, detail=detail)
        if self.at == self.far and self.at is not None and self.holding:
            detail = f"after {after}: its namespace"
            self.catalog.drop_namespace(self.at[0]).expect(409, detail=detail)

    # ---- steps; those that the catalog does not accept are left out

    def _create(self, place: Place) -> bool:
        if self.at is not None:
            return False
        reply = self.kind.create(self.catalog, place)
        if not reply.ok:
            return False
        self.uuid = str(metadata_in(reply).get(self.kind.uuid))
        self.at = place
        return True

    def create(self, place: Place, after: str) -> None:
        """Make the object; operations that find it the first time must find it from then on."""
        if not self._create(place):
            return
        if not self.answering:
            self.answering = self._finding(place)
        self.look(after)

    def drop(self, after: str) -> None:
        """Drop the object under its current name."""
        operation_id = self.kind.drops
        if self.at is None or operation_id not in self.claimed:
            return
        self._ask(operation_id, self.at).expect(*_DONE, detail=f"before {after}")
        self.at = None
        self.look(after)

    def rename(self, target: Place, after: str) -> None:
        """Rename the object, perhaps into another namespace."""
        if self.at is None or self.kind.renames not in self.claimed:
            return
        if _rename(self.catalog, self.kind.renames, self.at, target).ok:
            self.at = target
            self.look(after)

    def meet_another(self, place: Place) -> None:
        """Give its former name to an object of the other kind, and free the name again."""
        catalog, other = self.catalog, self.other
        if self.at == place or not all(map(catalog.claims, (other.creates, other.drops))):
            return
        if not other.create(catalog, place).ok:
            return
        self.look(f"a {other.name} was given its first name")
        other.ending[other.drops](catalog, place, self.uuid).expect(*_DONE)
        self.look(f"the {other.name} with its first name was dropped")

    def stage(self, place: Place) -> None:
        """Stage an object under the first name; a staged object is not found."""
        if not (self.kind.stages and has_capability(self.catalog, "stage-create")):
            return
        body = bodies.create_table_body(place[1], stage_create=True)
        if self.at != place and self.catalog.create_table(place[0], body).ok:
            self.look(f"a {self.kind.name} was staged under its first name")

    def leave(self, namespace: Namespace) -> bool:
        """Drop the namespace that the object left; return whether the drop was due and was sent."""
        if not self.holding or self.at is None or self.at[0] == namespace:
            return False
        reply = self.catalog.drop_namespace(namespace)
        reply.expect(*_DONE, detail=f"after the only {self.kind.name} was moved out of it")
        self.look("the namespace that it had been in was dropped")
        return True
