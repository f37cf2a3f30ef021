"""The gate of a run: finds the user's file of expectations and applies it to the run."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from icecheck.contract import Contract, contract_for
from icecheck.findings.expectations import Selection, apply, parse, refuse_unknown_checks
from icecheck.findings.expected_failures import ExpectationFile
from icecheck.findings.verdict import Group, Run
from icecheck.judging.passive import passive_checks
from icecheck.run.collect import allowed, collect, select
from icecheck.targets.target import Target

_DEFAULT_GROUPS = frozenset({Group.CHECKS, Group.GENERATED, Group.SCENARIOS})


def expectations_from(text: str, path: Path, contract: Contract) -> ExpectationFile | None:
    """Read and verify the entries of a text; None when it has none, and the gate stays as it is."""
    file = parse(text, str(path))
    if not file.entries:
        return None
    if any(entry.check is not None for entry in file.entries):
        refuse_unknown_checks(file, known_checks(contract))
    return file


def known_checks(contract: Contract) -> tuple[str, ...]:
    """Return the ids of all checks, whatever a run selects, passive ones included."""
    checks = collect(tuple(Group), contract, disruptive=True)
    return (*(check.id for check in checks), *passive_checks(contract))


def selection_of(
    groups: Iterable[Group], globs: tuple[str, ...], contract: Contract, target: Target
) -> Selection:
    """Return what a run of these groups and globs sets out to judge on this target."""
    groups = frozenset(groups)
    selected = select(collect(groups, contract, disruptive=True), globs)
    checks = {check.id for check in allowed(selected, target)}
    if Group.CHECKS in groups:
        passive = passive_checks(contract)
        checks.update(c for c in passive if not globs or any(fnmatchcase(c, g) for g in globs))
    return Selection(frozenset(checks), whole=not globs and groups >= _DEFAULT_GROUPS)


def selection_among(
    asked: Iterable[str], groups: Iterable[Group], spec: str, *, whole: bool
) -> Selection:
    """Return the selection of a run that was asked for these checks of these groups.

    ``whole`` means that no check of these groups was left out.
    """
    groups, checks = frozenset(groups), set(asked)
    if whole and Group.CHECKS in groups:
        checks.update(passive_checks(contract_for(spec)))
    return Selection(frozenset(checks), whole=whole and groups >= _DEFAULT_GROUPS)


def gated(run: Run, file: ExpectationFile | None, selection: Selection) -> Run:
    """Return the run with its gate decided by the entries, if there are any."""
    return run if file is None else apply(run, file, selection)
