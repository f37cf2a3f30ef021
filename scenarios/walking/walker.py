"""Takes steps: sends each, judges what it may have changed, and another thing besides."""

from collections.abc import Callable, Mapping, Sequence

from icecheck.client.catalog import Catalog
from icecheck.client.given import arrange, given_namespace
from icecheck.judging.probes import has_capability
from icecheck.objects.reading import refuses_place
from icecheck.replies.expect import Reply
from icecheck.scenarios.model.choosing import chosen, share
from icecheck.scenarios.model.observer import Observer
from icecheck.scenarios.model.world import KINDS, Thing, World
from icecheck.scenarios.steps.step import Step
from icecheck.targets.target import Namespace

_REFERENCED = (("snapshots", "refs"),)
"""A load that asks for referenced snapshots only: in a walk it shows all of them."""


def given_root(catalog: Catalog) -> Namespace:
    """Return the namespace for the things of a walk: a new one where namespaces nest."""
    nested = has_capability(catalog, "nested-namespaces")
    return given_namespace(catalog) if nested else catalog.session.isolation.base


def walk(
    catalog: Catalog, root: Namespace, labels: Mapping[str, str], steps: Sequence[Step]
) -> None:
    """Take the steps in order, and judge after each that the catalog is as expected.

    ``labels`` maps the names of this run to names for messages. At the end everything is judged.
    """
    changes = [step for step in steps if step.after is not None]
    kinds = {each.kind for step in changes for each in step.touched}
    walker = Walker(catalog, root, labels, [kind for kind in KINDS if kind in kinds])
    for step in steps:
        walker.take(step)
    walker.look_at_everything(at_the_end=True)


class Walker:
    """Takes steps one by one and keeps the expected state, ``world``.

    ``kinds`` are the kinds of things that the steps are about. A ``brief`` walker reads only what a
    step touches; the other one also reads it before the step, and something else after it. ``look``
    reads and judges what a step touches, ``listen`` judges the answer to the step; a check may put
    its own ways there.
    """

    def __init__(
        self,
        catalog: Catalog,
        root: Namespace,
        labels: Mapping[str, str],
        kinds: Sequence[str],
        *,
        brief: bool = False,
        trusting: bool = False,
    ) -> None:
        self.catalog = catalog
        self.kinds = kinds
        self.brief, self.trusting = brief, trusting
        self.observer = Observer(catalog, labels)
        self.world = World(root, {}, bare=self.observer.bare)
        self.look: Callable[[World, Thing], World] = self.observer.look
        self.listen: Callable[[World, Thing, Reply], World] = self.observer.listen
        self.progress = self.observer.progress
        self.taken = 0
        self._shown: Thing | None = None  # what is not loaded: the last answer has shown it

    def can_take(self, step: Step) -> bool:
        """Return whether the state allows a step, and the catalog offers and carries it out."""
        catalog = self.catalog
        if not step.possible(self.world):
            return False
        if step.given:
            return True
        offered = not step.needs or has_capability(catalog, step.needs)
        return offered and catalog.serves(step.operation) and catalog.keeps(*step.relies)

    def take(self, step: Step) -> bool:
        """Take a step if it is possible, and judge what it may have changed.

        Returns whether it was sent. Raises Violation if the answer or the state after it is not as
        due.
        """
        if not self.can_take(step):
            return False
        if step.after is not None and not step.unseen and not self.brief:
            self._look_before(step)
        reply = self._sent(step)
        if reply is None:
            return False
        self.taken += 1
        names = ", ".join(dict.fromkeys(self.progress.label(each.path) for each in step.touched))
        self.progress.doing.append(f"{step.what} ({names})")
        self.progress.operation = step.operation
        self.progress.refused = not (step.after is not None and reply.ok)
        self.progress.touched = frozenset()
        lawful = step.lawful if step.sort not in self.world.supported else frozenset()
        declined = reply.status in lawful or self._in_the_way(step, reply)
        does_not = not reply.ok and reply.status not in step.due and declined
        before = self.world
        if not does_not and not reply.ok and reply.status not in step.due:
            # A change by an earlier step says more than this refusal: judge that first.
            self._look_at(step.touched)
        self.progress.touched = frozenset(step.touched)
        self._shown = None
        if not does_not:
            self._judge(step, reply)
        known = {*self.world.held, *self.world.gone}
        touched = [each for each in step.touched if each in known or not does_not]
        self._look_around(step.what, touched, before)
        return True

    def _sent(self, step: Step) -> Reply | None:
        if not step.given:
            return step.send(self.observer)
        return arrange(self.catalog, step.operation, lambda: _answered(step.send(self.observer)))

    def _judge(self, step: Step, reply: Reply) -> None:
        reply.expect(*step.due, detail=f"{self.progress.doing[-1]}, as step {self.taken}")
        if step.judge is not None:
            step.judge(self.world, reply)
        self.world = self.world.supporting(step.sort)
        if step.after is not None:
            self.world = step.after(self.world, reply)
            self.world = self.listen(self.world, step.touched[0], reply)
            self._trust(step.touched[0], reply)

    def _in_the_way(self, step: Step, reply: Reply) -> bool:
        """Return whether a location is refused where files of a renamed thing may still lie.

        A catalog may look at the location before it looks whether the name is taken.
        """
        if step.after is None and step.operation != "createTable":
            return False
        vacated = any(
            Thing(kind, each.path) in self.world.vacated
            and (step.after is None or not self.world.has(each))
            for each in step.touched
            for kind in KINDS
        )
        return vacated and refuses_place(reply)

    # ---- judging

    def _look_before(self, step: Step) -> None:
        """Read what a step will change in the ways in which it is read after it.

        So a catalog may have cached it.
        """
        for thing in step.touched:
            listed = self._is_listed(step.what, thing)
            self.world = self.observer.look_unless_known(self.world, thing, listed=listed)

    def _is_listed(self, what: str, thing: Thing) -> bool:
        """Return whether a step's thing is looked up in a list, or otherwise by its name.

        The two take turns, where the catalog has existence checks.
        """
        label = self.progress.label(thing.path)
        return not self.observer.checks(thing) or share(f"{what} {thing.kind} {label}", 2) == 0

    def _look_around(self, what: str, touched: Sequence[Thing], before: World) -> None:
        """Judge the touched things, and in other ways those that came into being or went."""
        self._look_at([each for each in touched if each != self._shown])
        if self.brief:
            return
        came_or_went = [each for each in touched if not self._is_as(before, each)]
        listed = [each for each in came_or_went if self._is_listed(what, each)]
        for thing in came_or_went:
            if thing not in listed:
                self.observer.look_for(self.world, thing)
            if thing.kind == "namespace":
                self._look_inside(thing)
            self._look_for_others(thing)
        for namespace, kind in dict.fromkeys((each.namespace, each.kind) for each in listed):
            self._list(namespace, kind)
        if not self.progress.refused:
            self._look_at_another(touched, listed=bool(listed))

    def _trust(self, thing: Thing, reply: Reply) -> None:
        """Take an answer as if it were that of a load: every second one, in a trusting walk."""
        occasion = self.progress.occasion(thing, "as answered")
        if self.trusting and share(occasion, 2) == 0:
            settled = self.observer.taken_as_shown(self.world, thing, reply)
            if settled is not None:
                self.world, self._shown = settled, thing

    def _look_inside(self, namespace: Thing) -> None:
        """Judge that a dropped namespace lists nothing, or that a new one contains nothing old."""
        if not self.world.has(namespace):
            self.observer.expect_no_lists(namespace)
            return
        self._look_at([each for each in self.world.gone if each.namespace == namespace.path])
        occasion = self.progress.occasion(namespace, "of its name")
        other = Thing(("table", "view")[share(occasion, 2)], namespace.path)
        if not self.world.has(other):
            self.observer.look_for(self.world, other)
        for kind in self.kinds:
            self._list(namespace.path, kind)

    def _look_at(self, things: Sequence[Thing]) -> None:
        for thing in things:
            self.world = self.look(self.world, thing)

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

    def _look_at_another(self, touched: Sequence[Thing], *, listed: bool) -> None:
        """Judge one thing that the step has not touched, and a list after some that judged none."""
        label = self.progress.label
        rest = {f"{e.kind} {label(e.path)}": e for e in self._known() if e not in touched}
        occasion = self.progress.occasion(touched[0], "another") if touched else ""
        if rest and share(f"{occasion} at all", 3) == 0:
            way = share(occasion, 3)
            query = _REFERENCED if way == 1 else ()
            thing = chosen(rest, occasion)
            self.world = self.observer.look(self.world, thing, tagged=way == 0, query=query)
        if not listed and share(occasion, 2) == 0:
            lists = {f"{kind} {label(path)}": (path, kind) for path, kind in self._lists()}
            self._list(*chosen(lists, occasion))

    def look_at_everything(self, *, at_the_end: bool = False) -> None:
        """Judge all things and all lists; at the end by existence checks and in pages too."""
        for thing in self._known():
            self.world = self.observer.look(self.world, thing, tagged=False)
            if at_the_end and self.world.has(thing):
                self.observer.look_for(self.world, thing)
        for namespace, kind in self._lists():
            several = at_the_end and len(self.world.named(namespace, kind)) > 1
            self.observer.look_in(self.world, namespace, kind, 1 if several else 0)

    def _list(self, namespace: Namespace, kind: str) -> None:
        """Judge a list: whole, or in two pages, of which the second one has one entry or half."""
        if self.world.has_namespace(namespace):
            entries = len(self.world.named(namespace, kind))
            occasion = self.progress.occasion(Thing("namespace", namespace), f"list of {kind}s")
            size = (0, entries - 1, (entries + 1) // 2)[share(occasion, 3)] if entries > 1 else 0
            self.observer.look_in(self.world, namespace, kind, size)

    def _known(self) -> list[Thing]:
        return sorted([*self.world.held, *self.world.gone], key=lambda each: (each.path, each.kind))

    def _lists(self) -> list[tuple[Namespace, str]]:
        """Return every list in which something is or was: of each kind, in each namespace."""
        held = [each.path for each in self.world.held if each.kind == "namespace"]
        known = {(each.namespace, each.kind) for each in self._known()}
        every = [(path, kind) for path in (self.world.root, *sorted(held)) for kind in self.kinds]
        return [each for each in every if each in known]


def _answered(reply: Reply | None) -> Reply:
    if reply is None:
        raise AssertionError("what a walk begins with can always be sent")
    return reply
