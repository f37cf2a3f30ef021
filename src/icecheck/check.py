"""A check: a function that reads as a sentence, and the requirements it proves."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from icecheck.contract import Level, RefKind, Requirement, load
from icecheck.verdict import Group

__all__ = ["ATTRIBUTE", "Check", "check", "check_of"]

ATTRIBUTE = "__icecheck__"

Function = TypeVar("Function", bound=Callable[..., None])

_GROUP_OF_PACKAGE = {
    "conformance": Group.CHECKS,
    "scenarios": Group.SCENARIOS,
    "spark_tests": Group.SPARK,
}


@dataclass(frozen=True, slots=True)
class Check:
    """One named judgement of a catalog.

    ``operations`` must all be claimed by the catalog, or the check is skipped as not declared;
    ``needs`` are capabilities that it must have been seen to have (nested-namespaces, …). A
    ``disruptive`` one strains the catalog, and is run where the user allows that.
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
    proves: str | tuple[str, ...],
    title: str | None = None,
    needs: tuple[str, ...] = (),
    group: Group | None = None,
    disruptive: bool = False,
) -> Callable[[Function], Function]:
    """Declare a function to be the check that proves these requirements of the register.

    Level, profile and operations come from the requirements; the title is the first line of the
    docstring. Raises when a requirement is unknown or when levels differ: a MUST never depends
    on a lesser expectation.
    """
    ids = (proves,) if isinstance(proves, str) else proves

    def declare(function: Function) -> Function:
        register = load().requirements
        unknown = [r for r in ids if r not in register]
        if unknown or not ids:
            raise ValueError(f"check {id}: no such requirement in the register: {unknown or ids}")
        requirements = tuple(register[r] for r in ids)
        levels = {r.level for r in requirements}
        if len(levels) != 1:
            raise ValueError(f"check {id} mixes levels {sorted(levels)}: split it")
        declared = Check(
            id=id,
            title=title or _first_line(function, id),
            group=group or _GROUP_OF_PACKAGE[function.__module__.split(".")[1]],
            level=requirements[0].level,
            profile=requirements[0].profile,
            requirements=requirements,
            operations=tuple(dict.fromkeys(o for r in requirements for o in _operations(r))),
            needs=needs,
            function=function,
            disruptive=disruptive,
        )
        setattr(function, ATTRIBUTE, declared)
        return function

    return declare


def check_of(function: Any) -> Check | None:
    """Return the check that a function was declared to be, if it was."""
    found = getattr(function, ATTRIBUTE, None)
    return found if isinstance(found, Check) else None


def _operations(requirement: Requirement) -> list[str]:
    """Return the operations a requirement speaks of, by name or by one of their responses."""
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
