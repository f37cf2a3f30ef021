"""A check: a function that reads as a sentence, and the requirements it proves."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from icecheck.contract import Contract, ContractError, Level, RefKind, Requirement
from icecheck.findings.verdict import Group

_ATTRIBUTE = "__icecheck__"

Function = TypeVar("Function", bound=Callable[..., None])

_GROUP_OF_PACKAGE = {
    "conformance": Group.CHECKS,
    "scenarios": Group.SCENARIOS,
    "spark_tests": Group.SPARK,
}


class Unbound(ContractError, ValueError):
    """A declaration does not fit the register of the version to which it was bound."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """The check that a function declares, without the facts that a contract version adds.

    ``proves`` are ids of requirements. ``needs`` and ``disruptive`` are those of the Check.
    """

    id: str
    title: str
    group: Group
    proves: tuple[str, ...]
    needs: tuple[str, ...]
    function: Callable[..., None]
    disruptive: bool


@dataclass(frozen=True, slots=True)
class Check:
    """One named judgement of a catalog, bound to the requirements of one version.

    ``operations`` must all be claimed by the catalog, or the check is skipped as not declared;
    ``needs`` are capabilities that it must have been seen to have (nested-namespaces, …). A
    ``disruptive`` check strains the catalog, and is run only where the user allows that.
    """

    id: str
    title: str
    group: Group
    level: Level
    profile: str
    requirements: tuple[Requirement, ...]
    operations: tuple[str, ...]
    needs: tuple[str, ...]
    function: Callable[..., None]
    disruptive: bool = False

    @property
    def proves(self) -> tuple[str, ...]:
        """The ids of the requirements that a pass proves."""
        return tuple(r.id for r in self.requirements)


def check(
    id: str,  # noqa: A002 - the word of the trade
    *,
    proves: str | tuple[str, ...] | None = None,
    title: str | None = None,
    needs: tuple[str, ...] = (),
    group: Group | None = None,
    disruptive: bool = False,
) -> Callable[[Function], Function]:
    """Declare a function to be the check that proves these requirements of the register.

    Without ``proves`` that is the one with the check's own id. Level, profile and operations come
    from the requirements when a run opens (`bind`); the title is the first line of the docstring.
    """
    proven = id if proves is None else proves
    ids = (proven,) if isinstance(proven, str) else proven

    def declare(function: Function) -> Function:
        declared = Declaration(
            id=id,
            title=title or _first_line(function, id),
            group=group or _GROUP_OF_PACKAGE[function.__module__.split(".")[1]],
            proves=ids,
            needs=needs,
            function=function,
            disruptive=disruptive,
        )
        setattr(function, _ATTRIBUTE, declared)
        return function

    return declare


def generated_check(
    id: str,  # noqa: A002 - as in `check`
    *,
    proves: str | tuple[str, ...] | None = None,
    needs: tuple[str, ...] = (),
    disruptive: bool = False,
) -> Callable[[Function], Function]:
    """Declare a check, as `check` does, of the group that runs with ``--only generated``."""
    return check(id, proves=proves, needs=needs, group=Group.GENERATED, disruptive=disruptive)


def declaration_of(function: Any) -> Declaration | None:
    """Return a function's declaration, or None if it is no check."""
    found = getattr(function, _ATTRIBUTE, None)
    return found if isinstance(found, Declaration) else None


def bind(declared: Declaration, contract: Contract) -> Check | None:
    """Return the check of a declaration in one version; None if it is about other versions only.

    Raises Unbound when a requirement is unknown to every version, or when levels differ: a MUST
    never depends on a lesser expectation.
    """
    register = contract.requirements
    missing = [r for r in declared.proves if r not in register]
    unknown = [r for r in missing if r not in contract.elsewhere]
    if unknown or not declared.proves:
        asked = unknown or declared.proves
        where = f"contract/requirements of {contract.version}"
        raise Unbound(f"check {declared.id}: no row in {where}: {asked}")
    if missing:
        return None
    requirements = tuple(register[r] for r in declared.proves)
    levels = {r.level for r in requirements}
    if len(levels) != 1:
        raise Unbound(f"check {declared.id} mixes levels {sorted(levels)}: split it")
    return Check(
        id=declared.id,
        title=declared.title,
        group=declared.group,
        level=requirements[0].level,
        profile=requirements[0].profile,
        requirements=requirements,
        operations=tuple(dict.fromkeys(o for r in requirements for o in _operations(r))),
        needs=declared.needs,
        function=declared.function,
        disruptive=declared.disruptive,
    )


def check_of(function: Any, contract: Contract) -> Check | None:
    """Return the check that a function declares, bound to a version; raises as ``bind``."""
    declared = declaration_of(function)
    return None if declared is None else bind(declared, contract)


def _operations(requirement: Requirement) -> list[str]:
    """Return the operations that a requirement is about, by name or by one of their responses."""
    return [
        ref.name.split(".")[0]
        for ref in requirement.refs
        if ref.kind in {RefKind.OPERATION, RefKind.RESPONSE}
    ]


def _first_line(function: Callable[..., None], check_id: str) -> str:
    lines = (function.__doc__ or "").strip().splitlines()
    if not lines:
        raise ValueError(f"check {check_id} has no docstring: its first line is the title")
    return lines[0].rstrip(".")
