"""The steps that a walk has taken, and what a finding tells about them."""

from collections.abc import Mapping
from typing import Any

from icecheck.client.catalog import Catalog
from icecheck.contract import Action
from icecheck.findings.shared_symptoms import (
    CHANGED_ALTHOUGH_REFUSED,
    CHANGED_BESIDE,
    EFFECT_MISSING,
)
from icecheck.findings.statuses import STATUS, Statuses
from icecheck.findings.symptoms import Severity, Symptom, declare
from icecheck.objects.reading import LISTING
from icecheck.replies.expect import Reply, Violation
from icecheck.replies.matching import show
from icecheck.scenarios.model.world import Thing
from icecheck.targets.target import Namespace

_CONTRADICTS = declare(
    "contradicts-itself",
    "Shows metadata that cannot be together: {what}",
    Severity.FALSE_OR_LOST,
    "every client: the table or view cannot be read, or its next commit goes wrong",
)

_STEPS_MAX = 3
_TELLING = frozenset({200, 204, 304, 404})
"""The statuses that tell whether a thing is there; any other is wrong by itself."""
_SHOWN_MAX = 80
_MADE = ("what the steps have made of it", "something else")


class Progress:
    """The steps taken, in words, and what the last one was about.

    Of the last step, ``operation`` is the operation, ``touched`` the things that it changes, and
    ``refused`` whether it was refused. ``labels`` maps names of this run to names for messages.
    """

    def __init__(self, catalog: Catalog, labels: Mapping[str, str]) -> None:
        self.catalog = catalog
        self.labels = labels
        self.doing: list[str] = []
        self.operation = ""
        self.touched: frozenset[Thing] = frozenset()
        self.refused = False
        self._seen_after: dict[tuple[Thing, str], int] = {}

    def _does(self, action: Action) -> bool:
        """Return whether the operation of the last step does this."""
        return self.operation in self.catalog.contract.by_object(action).values()

    def occasion(self, thing: Thing, what: str) -> str:
        """Return the words on which a choice depends: the last step, and what is to be read."""
        return f"{self.doing[-1:]} {thing.kind} {self.label(thing.path)} {what}"

    def label(self, path: Namespace) -> str:
        """Return a path in labels, which are the same in every run."""
        return ".".join(self.labels.get(part, part) for part in path[-4:] if part in self.labels)

    def violation(
        self,
        reply: Reply,
        thing: Thing,
        member: str,
        expected: str,
        actual: str | int,
        told: str = "",
        what: str = "",
        *,
        beside: bool = False,
    ) -> Violation:
        """Return a violation about a thing that is not as the steps have left it.

        ``member`` is what differs: a member of the thing, its "existence", its "entity-tag" or a
        "listing". ``told`` says how, ``what`` is what was read if not the thing itself. The last
        step was not to change what is ``beside``.
        """
        told_due = Statuses.of(200)
        if member == "listing":
            symptom = LISTING  # a wrong list has one symptom, whatever the step was
        elif member == "existence" and isinstance(actual, int) and actual not in _TELLING:
            symptom, told_due = STATUS, Statuses.of(int(expected))
        elif beside or thing not in self.touched:
            symptom = CHANGED_BESIDE.of(member)
        elif self.refused:
            symptom = CHANGED_ALTHOUGH_REFUSED
        else:
            symptom = self._symptom(thing, member)
        due = told_due if symptom == STATUS else expected
        return reply.violation(symptom, due, actual, detail=self._sentence(thing, told, what))

    def otherwise(
        self,
        reply: Reply,
        thing: Thing,
        member: str,
        where: str,
        due: Any,
        seen: Any,
        *,
        beside: bool = False,
    ) -> Violation:
        """Return a violation about a value of a thing, ``where`` in it, that no step has made."""
        told = f"{where} is {brief(seen)}, due is {brief(due)}"
        wrong = self.violation(reply, thing, member, *_MADE, told, beside=beside)
        made, shown = (f"{where} {brief(value)}" for value in (due, seen))
        return Violation.again(wrong.finding, made=made, shown=shown)

    def contradiction(self, reply: Reply, thing: Thing, member: str, told: str) -> Violation:
        """Return a violation about metadata that no steps can have made."""
        one, other = "metadata that fit together", "a contradiction"
        detail = self._sentence(thing, told, "")
        return reply.violation(_CONTRADICTS.of(member), one, other, detail=detail)

    def _sentence(self, thing: Thing, told: str, what: str) -> str:
        about = what or f"{thing.kind} {self.label(thing.path) or 'at the top'}"
        return about + (f": {told}" if told else "") + f"; after {self.since(thing, what)}"

    def _symptom(self, thing: Thing, member: str) -> Symptom:
        """Return the symptom that other checks use when a step has no effect."""
        match member:
            case "entity-tag":
                return STATUS
            case "existence" if self._does(Action.DROP):
                return EFFECT_MISSING.of(f"drop-{thing.kind}")
            case "existence" if self._does(Action.RENAME):
                return EFFECT_MISSING.of("rename")
            case _:
                return EFFECT_MISSING.of(member)

    def saw(self, thing: Thing, what: str = "") -> None:
        """Record that a thing, or a list in it, was as due after the last step."""
        self._seen_after[thing, what] = len(self.doing)

    def since(self, thing: Thing, what: str) -> str:
        """Return the steps since a thing was last as due, the last step first."""
        steps = self.doing[self._seen_after.get((thing, what), 0) :] or self.doing[-1:]
        return ", which followed ".join(steps[: -_STEPS_MAX - 1 : -1])


def brief(value: Any) -> str:
    """Return a value as short JSON text."""
    return show(value, _SHOWN_MAX)
