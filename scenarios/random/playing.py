"""Runs a history against a catalog, under new names, and finds the first difference."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from icecheck.client.catalog import Catalog
from icecheck.findings.verdict import Finding
from icecheck.judging.probes import has_capability
from icecheck.replies.expect import Violation
from icecheck.scenarios.model.world import KINDS
from icecheck.scenarios.random.actions import LOOK, Action, is_nested, labels_of, steps_of
from icecheck.scenarios.walking.walker import Walker, given_root
from icecheck.targets.target import Namespace


@dataclass(frozen=True, slots=True)
class Divergence:
    """A difference between catalog and model: the index of the action, and the finding.

    ``names`` are those that the labels of the history stand for. ``at_the_end``: it showed only
    when everything was read after the last action.
    """

    index: int
    finding: Finding
    names: Mapping[str, str]
    at_the_end: bool = False


class _Player:
    def __init__(self, catalog: Catalog, actions: Sequence[Action], *, trusting: bool) -> None:
        self.catalog = catalog
        parts = {part for each in actions for label in labels_of(each) for part in label}
        self.names = {part: catalog.new_name() for part in sorted(parts)}
        self.root = given_root(catalog)
        words = {name: part for part, name in self.names.items()}
        self.walker = Walker(catalog, self.root, words, KINDS, brief=True, trusting=trusting)

    def take(self, action: Action) -> None:
        """Take the first step of an action that the state allows, if there is one."""
        if action.name == LOOK:
            self.walker.look_at_everything()
        if is_nested(action) and not has_capability(self.catalog, "nested-namespaces"):
            return
        paths = [self._path(label) for label in labels_of(action)]
        for step in steps_of(action, paths):
            if self.walker.take(step):
                return

    def _path(self, label: Sequence[str]) -> Namespace:
        return (*self.root, *(self.names[part] for part in label))


def play(
    catalog: Catalog,
    actions: Sequence[Action],
    *,
    to_the_end: bool = True,
    trusting: bool = False,
) -> Divergence | None:
    """Run a history under new names; return the first difference from the model, or None.

    After each action the objects that it is about are read, fewer of them if ``trusting`` (see
    Walker); everything is, if it is to be played ``to_the_end``. Raises Unreachable when the
    catalog gives no answer, which proves nothing.
    """
    since = catalog.sender.ordinal
    player = _Player(catalog, actions, trusting=trusting)
    taken, ended = 0, False
    try:
        for action in actions:
            taken += 1
            player.take(action)
        ended = True
        if to_the_end:
            player.walker.look_at_everything()
    except Violation as violation:
        return Divergence(taken - 1, replace(violation.finding, since=since), player.names, ended)
    return None


def tidy(catalog: Catalog) -> None:
    """Drop the objects of the histories so far; ``undo`` removes what is left."""
    for entry in catalog.ledger.newest_first():
        if entry.kind == "table" and catalog.serves("dropTable"):
            catalog.drop_table(entry.namespace, entry.name)
        elif entry.kind == "view" and catalog.serves("dropView"):
            catalog.drop_view(entry.namespace, entry.name)
        elif entry.kind == "namespace" and catalog.serves("dropNamespace"):
            catalog.drop_namespace(entry.namespace)
