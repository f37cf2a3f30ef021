"""Runs the steps: sends each, judges what it may have changed, and other things in turn."""

from collections import Counter
from collections.abc import Mapping, Sequence

from icecheck.client.catalog import Catalog
from icecheck.client.given import arrange, given_namespace
from icecheck.judging.probes import has_capability
from icecheck.objects.reading import refuses_place
from icecheck.replies.expect import Reply
from icecheck.scenarios.model.observer import Observer
from icecheck.scenarios.model.world import KINDS, Thing, World
from icecheck.scenarios.steps.step import Step
from icecheck.targets.target import Namespace

__all__ = ["given_root", "walk"]

EVERYTHING_EVERY = 18
"""All things and lists are judged after every so many steps."""
_REFERENCED = (("snapshots", "refs"),)
"""A load that asks for referenced snapshots only: in a walk it shows all of them."""
_SIZES = (1, 0, 2)


def given_root(catalog: Catalog) -> Namespace:
    """Return the namespace for the things of a walk: a new one where namespaces nest."""
    nested = has_capability(catalog, "nested-namespaces")
    return given_namespace(catalog) if nested else catalog.session.isolation.base


def walk(
    catalog: Catalog, root: Namespace, labels: Mapping[str, str], steps: Sequence[Step]
) -> World:
    """Take the steps in order, and judge after each that the catalog is as expected.

    ``labels`` maps the names of this run to names for messages. Returns the final state.
    """
    kinds = {each.kind for step in steps if step.after is not None for each in step.touched}
    walker = _Walker(catalog, root, labels, [kind for kind in KINDS if kind in kinds])
    for step in steps:
        walker.take(step)
    walker.look_at_everything(at_the_end=True)
    return walker.world


class _Walker:
    def __init__(
        self, catalog: Catalog, root: Namespace, labels: Mapping[str, str], kinds: Sequence[str]
    ) -> None:
        self.catalog = catalog
        self.kinds = kinds
        self.world = World(root, {})
        self.observer = Observer(catalog, labels)
        self.taken = 0
        self.looks = 0
        self.listed: Counter[tuple[Namespace, str]] = Counter()

    def take(self, step: Step) -> None:
        """Take a step if it is possible, and judge what it may have changed."""
        if step.after is not None and not step.unseen and self._is_taken(step):
            self._look_before(step)
        reply = self._sent(step)
        if reply is None:
            return
        self.taken += 1
        done = step.after is not None and reply.ok
        names = ", ".join(dict.fromkeys(self.observer.label(each.path) for each in step.touched))
        self.observer.doing.append(f"{step.what} ({names})")
        self.observer.operation = step.operation
        self.observer.refused = not done
        self.observer.touched = frozenset()
        does_not = not reply.ok and (reply.status in step.lawful or self._in_the_way(step, reply))
        before = self.world
        if not does_not and not reply.ok and reply.status not in step.due:
            # A change by an earlier step says more than this refusal: judge that first.
            self._look_at(step.touched)
        self.observer.touched = frozenset(step.touched)
        if not does_not:
            reply.expect(*step.due, detail=f"{self.observer.doing[-1]}, as step {self.taken}")
            if step.judge is not None:
                step.judge(self.world, reply)
            if step.after is not None:
                self.world = step.after(self.world, reply)
                self.world = self.observer.listen(self.world, step.touched[0], reply)
        known = {*self.world.held, *self.world.gone}
        touched = [each for each in step.touched if each in known or not does_not]
        self._look_around(touched, before)

    def _is_taken(self, step: Step) -> bool:
        catalog = self.catalog
        if not step.possible(self.world):
            return False
        if step.given:
            return True
        offered = not step.needs or has_capability(catalog, step.needs)
        return offered and catalog.claims(step.operation)

    def _sent(self, step: Step) -> Reply | None:
        if not self._is_taken(step):
            return None
        if not step.given:
            return step.send(self.observer)
        return arrange(self.catalog, step.operation, lambda: _answered(step.send(self.observer)))

    def _in_the_way(self, step: Step, reply: Reply) -> bool:
        """Return whether a location is refused where files of a renamed thing may still lie."""
        vacated = any(
            Thing(kind, each.path) in self.world.vacated and not self.world.has(each)
            for each in step.touched
            for kind in KINDS
        )
        return step.after is not None and vacated and refuses_place(reply)

    # ---- judging

    def _look_before(self, step: Step) -> None:
        """Read in every way what a step will change, so that a catalog may cache it."""
        for thing in step.touched:
            self.world = self.observer.look(self.world, thing, tagged=False)
            self.observer.look_for(self.world, thing)
            if self.world.has_namespace(thing.namespace):
                self.observer.look_in(self.world, thing.namespace, thing.kind, 0)

    def _look_around(self, touched: Sequence[Thing], before: World) -> None:
        """Judge the touched things, and in every way those that came into being or went."""
        self._look_at(touched)
        came_or_went = [each for each in touched if not self._is_as(before, each)]
        for thing in came_or_went:
            self.observer.look_for(self.world, thing)
            if thing.kind == "namespace":
                self._look_inside(thing)
            self._look_for_others(thing)
        for namespace, kind in dict.fromkeys((each.namespace, each.kind) for each in came_or_went):
            self._list(namespace, kind)
        if self.taken % EVERYTHING_EVERY == 0:
            self.look_at_everything()
        else:
            self._look_at_another(touched)

    def _look_inside(self, namespace: Thing) -> None:
        """Judge that a dropped namespace lists nothing, or that a new one contains nothing old."""
        if not self.world.has(namespace):
            self.observer.expect_no_lists(namespace)
            return
        self._look_at([each for each in self.world.gone if each.namespace == namespace.path])
        for other in (Thing(kind, namespace.path) for kind in ("table", "view")):
            if not self.world.has(other):
                self.observer.look_for(self.world, other)
        for kind in self.kinds:
            self._list(namespace.path, kind)

    def _look_at(self, things: Sequence[Thing]) -> None:
        for thing in things:
            self.world = self.observer.look(self.world, thing)

    def _is_as(self, before: World, thing: Thing) -> bool:
        """Return whether a thing exists, is gone or is unknown just as before."""
        now = self.world
        return before.has(thing) == now.has(thing) and (thing in before.gone) == (thing in now.gone)

    def _look_for_others(self, thing: Thing) -> None:
        """Judge the former things of other kinds under the same name."""
        for kind in self.kinds:
            other = Thing(kind, thing.path)
            if kind != thing.kind and other in self.world.gone:
                self.world = self.observer.look(self.world, other)
                self.observer.look_for(self.world, other)

    def _look_at_another(self, touched: Sequence[Thing]) -> None:
        """Judge one thing that the step has not touched, and a list, each in rotation."""
        rest = [each for each in self._known() if each not in touched]
        if rest:
            self.looks += 1
            thing = rest[self.looks % len(rest)]
            turn = self.looks % 3
            query = _REFERENCED if turn == 1 else ()
            self.world = self.observer.look(self.world, thing, tagged=turn == 0, query=query)
        if self.taken % 2 == 0:
            lists = self._lists()
            self._list(*lists[self.taken // 2 % len(lists)])

    def look_at_everything(self, *, at_the_end: bool = False) -> None:
        """Judge all things and all lists; at the end by existence checks and in pages too."""
        for thing in self._known():
            self.world = self.observer.look(self.world, thing, tagged=False)
            if at_the_end:
                self.observer.look_for(self.world, thing)
        for namespace, kind in self._lists():
            self._list(namespace, kind)
            if at_the_end and len(self.world.named(namespace, kind)) > 1:
                self.observer.look_in(self.world, namespace, kind, 1)

    def _list(self, namespace: Namespace, kind: str) -> None:
        """Judge a list, in rotation by pages of one, whole, and by pages of two."""
        if self.world.has_namespace(namespace):
            several = len(self.world.named(namespace, kind)) > 1
            size = _SIZES[self.listed[namespace, kind] % len(_SIZES)] if several else 0
            self.listed[namespace, kind] += several
            self.observer.look_in(self.world, namespace, kind, size)

    def _known(self) -> list[Thing]:
        return sorted([*self.world.held, *self.world.gone], key=lambda each: (each.path, each.kind))

    def _lists(self) -> list[tuple[Namespace, str]]:
        """Return every list: of each kind, in each namespace."""
        held = [each.path for each in self.world.held if each.kind == "namespace"]
        return [(path, kind) for path in (self.world.root, *sorted(held)) for kind in self.kinds]


def _answered(reply: Reply | None) -> Reply:
    if reply is None:
        raise AssertionError("what a walk begins with can always be sent")
    return reply
