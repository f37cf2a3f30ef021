"""How something stands at the end of a run: an operation, or what a client or Spark does.

A cell of a report's table says it. No cell says "works" where a check has found anything about
what it stands for.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from icecheck.contract import Contract, Level
from icecheck.findings.telling.touching import touched
from icecheck.findings.verdict import Capability, Cause, Outcome, SkipKind, Verdict

_LACKING = frozenset({SkipKind.NOT_DECLARED, SkipKind.NOT_APPLICABLE})
_LEVELS = tuple(Level)


class Standing(StrEnum):
    """What a cell says: ``WORKS_BUT`` has findings, ``NOT_LOOKED_AT`` says nothing either way."""

    WORKS = "works"
    WORKS_BUT = "works-but"
    BROKEN = "broken"
    NOT_OFFERED = "not-offered"
    NOT_LOOKED_AT = "not-looked-at"


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: how it stands, the checks behind it, and the causes of what they found.

    ``level`` is the highest one of the findings, None without any. ``causes`` are ids, the most
    severe first: of the findings, or of what kept the checks from looking.
    """

    standing: Standing
    passed: int = 0
    failed: int = 0
    blocked: int = 0
    level: Level | None = None
    causes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Findings:
    """The failed checks of a run by the operations that they are about, and their causes."""

    verdicts: Sequence[Verdict]
    causes: Sequence[Cause]
    by_operation: Mapping[str, Sequence[Verdict]]

    @classmethod
    def of(
        cls, verdicts: Sequence[Verdict], causes: Sequence[Cause], contract: Contract
    ) -> "Findings":
        """Return the findings of these verdicts and causes."""
        found: dict[str, list[Verdict]] = {}
        for verdict in verdicts:
            if verdict.outcome is Outcome.FAIL:  # an error is the suite's own
                for operation_id in touched(verdict, contract):
                    found.setdefault(operation_id, []).append(verdict)
        return cls(verdicts, causes, found)

    def about(self, operations: Iterable[str]) -> tuple[Verdict, ...]:
        """Return the failed checks about any of these operations, each once."""
        found = (v for id_ in operations for v in self.by_operation.get(id_, ()))
        return tuple({v.check: v for v in found}.values())

    def causes_of(self, failed: Collection[Verdict]) -> tuple[str, ...]:
        """Return the ids of the causes of failed checks, the most severe first."""
        checks = {verdict.check for verdict in failed}
        return tuple(c.id for c in self.causes if not checks.isdisjoint(c.checks))


def operation_cell(operation_id: str, capability: Capability, findings: Findings) -> Cell:
    """Return how an operation stands; ``capability`` is its row of claims and behaviour."""
    mine = [v for v in findings.verdicts if v.operations[:1] == (operation_id,)]
    failed = findings.about([operation_id])
    passed = sum(v.outcome is Outcome.PASS for v in mine)
    blocked = [v for v in mine if v.outcome is Outcome.BLOCKED]
    standing = _of_operation(capability, failed, passed)
    wrong = {verdict.check for verdict in failed}
    if capability.assessment == "unknown" and any(
        not wrong.isdisjoint(v.blocked_by) for v in blocked
    ):
        # No success of it was seen, and its own answer is what kept the checks from looking.
        standing = Standing.BROKEN
    return _cell(standing, failed, passed, blocked, findings)


def _of_operation(capability: Capability, failed: Collection[Verdict], passed: int) -> Standing:
    match capability.assessment:
        case "not-supported" if not failed:
            return Standing.NOT_OFFERED
        case "false-advertising" | "false-acceptance":
            return Standing.BROKEN
        case "supported" | "served-but-undeclared":
            return Standing.WORKS_BUT if failed else Standing.WORKS
        case _ if failed:
            return Standing.WORKS_BUT if passed else Standing.BROKEN
        case _:
            return Standing.NOT_LOOKED_AT


def client_cell(own: Verdict, findings: Findings, *, unreadable: bool = False) -> Cell:
    """Return how what a client does stands: by its own check, and by all that is found beside.

    ``unreadable``: its check was blocked by an answer that the client cannot read either.
    """
    operations = own.operations
    failed = findings.about(operations)
    if own.outcome is Outcome.FAIL:
        failed = tuple({v.check: v for v in (own, *failed)}.values())
    passed, blocked = own.outcome is Outcome.PASS, [own] * (own.outcome is Outcome.BLOCKED)
    lacking = own.skip is not None and own.skip.kind in _LACKING
    standing = Standing.NOT_OFFERED if lacking else Standing.NOT_LOOKED_AT
    if own.outcome is Outcome.FAIL or unreadable:
        standing = Standing.BROKEN
    elif passed:
        standing = Standing.WORKS_BUT if failed else Standing.WORKS
    return _cell(standing, failed, int(passed), blocked, findings)


def _cell(
    standing: Standing,
    failed: Collection[Verdict],
    passed: int,
    blocked: Collection[Verdict],
    findings: Findings,
) -> Cell:
    unseen = not failed and standing is Standing.NOT_LOOKED_AT
    return Cell(
        standing=standing,
        passed=passed,
        failed=len(failed),
        blocked=len(blocked),
        level=min((v.level for v in failed), key=_LEVELS.index, default=None),
        causes=findings.causes_of(blocked if unseen else failed),
    )
