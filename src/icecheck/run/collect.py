"""Finds the checks: every declared function of the check modules, under its one module name."""

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from icecheck.contract import Contract
from icecheck.findings.verdict import Group
from icecheck.judging.check import Check, Declaration, Unbound, bind, declaration_of
from icecheck.targets.target import Target, UsageError

_PACKAGES = {
    "icecheck.conformance": (Group.CHECKS, Group.GENERATED),
    "icecheck.scenarios": (Group.GENERATED, Group.SCENARIOS, Group.CLIENTS),
    "icecheck.spark_tests": (Group.SPARK,),
}


def collect(
    groups: Iterable[Group], contract: Contract, *, disruptive: bool = False
) -> tuple[Check, ...]:
    """Return the checks of these groups, in the order of their modules and definitions.

    They are bound to a version of the contract; checks about other versions are left out, and so
    are those that strain a catalog unless ``disruptive``. A check id that is declared twice raises:
    ids are what reports and expectations refer to. Raises Unbound with a list of all declarations
    that do not fit the register.
    """
    found: dict[str, Check] = {}
    declared: set[str] = set()
    faults: list[str] = []
    for each in declarations(frozenset(groups)):
        if each.disruptive and not disruptive:
            continue
        if each.id in declared:
            raise ValueError(f"two checks are called {each.id}")
        declared.add(each.id)
        try:
            bound = bind(each, contract)
        except Unbound as fault:
            faults.append(str(fault))
            continue
        if bound is not None:
            found[each.id] = bound
    if faults:
        raise Unbound("\n".join(faults))
    return tuple(found.values())


def declarations(wanted: frozenset[Group]) -> Iterator[Declaration]:
    """Yield the checks of these groups as they are declared, importing their modules."""
    for package_name, package_groups in _PACKAGES.items():
        if not wanted.intersection(package_groups):
            continue
        package = importlib.import_module(package_name)
        for info in pkgutil.walk_packages(package.__path__, f"{package_name}."):
            if not info.name.rpartition(".")[2].startswith("test_"):
                continue
            module = importlib.import_module(info.name)
            for name, value in vars(module).items():
                declared = declaration_of(value) if name.startswith("test_") else None
                if declared is not None and declared.group in wanted:
                    yield declared


def select(checks: Iterable[Check], globs: Iterable[str]) -> tuple[Check, ...]:
    """Return the checks whose id matches one of the globs.

    Raises UsageError for a glob that matches none.
    """
    checks = tuple(checks)
    globs = tuple(globs)
    if not globs:
        return checks
    for glob in globs:
        if not any(fnmatchcase(c.id, glob) for c in checks):
            raise UsageError(f"no check matches {glob!r}: see `icecheck list`")
    return tuple(c for c in checks if any(fnmatchcase(c.id, g) for g in globs))


def allowed(checks: Iterable[Check], target: Target) -> tuple[Check, ...]:
    """Return the checks that a run on this target may make.

    Checks that strain a catalog are left out unless the user allows them. Raises UsageError if
    nothing else was selected.
    """
    checks = tuple(checks)
    mild = tuple(check for check in checks if target.disruptive or not check.disruptive)
    if checks and not mild:
        raise UsageError(f"{checks[0].id} strains the catalog: add --disruptive to allow that")
    return mild


def left_out(every: Iterable[Check], chosen: Iterable[Check]) -> frozenset[Check]:
    """Return the checks that the user did not select, without those that strain a catalog."""
    return frozenset(check for check in every if not check.disruptive) - frozenset(chosen)
