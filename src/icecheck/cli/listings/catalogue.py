"""The rows of `list` and `explain`: every check, active or passive, in one form."""

from dataclasses import dataclass

from icecheck.contract import Contract


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One check as it is listed; ``passive`` ones are judged from the exchanges of the others."""

    id: str
    title: str
    group: str
    level: str
    profile: str
    requirements: tuple[str, ...]
    operations: tuple[str, ...]
    needs: tuple[str, ...]
    passive: bool
    disruptive: bool = False


def check_rows(contract: Contract, group: str | None = None) -> tuple[CheckRow, ...]:
    """Return every check, or those of one group, in the order in which a run meets them."""
    from icecheck.findings.verdict import Group
    from icecheck.run.collect import collect

    groups = tuple(Group) if group is None else (Group(group),)
    rows = [
        CheckRow(
            id=check.id,
            title=check.title,
            group=str(check.group),
            level=str(check.level),
            profile=check.profile,
            requirements=check.proves,
            operations=check.operations,
            needs=check.needs,
            passive=False,
            disruptive=check.disruptive,
        )
        for check in collect(groups, contract, disruptive=True)
    ]
    return (*rows, *(_passive_rows(contract) if Group.CHECKS in groups else ()))


def _passive_rows(contract: Contract) -> tuple[CheckRow, ...]:
    from icecheck.judging.observed import Observed
    from icecheck.judging.passive import passive_checks, passive_verdicts

    # The passive checks in full, as of a run that saw every answer once.
    seen = {check_id: Observed(seen=1) for check_id in passive_checks(contract)}
    return tuple(
        CheckRow(
            id=v.check,
            title=v.title,
            group=str(v.group),
            level=str(v.level),
            profile=v.profile,
            requirements=v.requirements,
            operations=v.operations,
            needs=(),
            passive=True,
        )
        for v in passive_verdicts(seen, contract)
    )
