"""Which checks the usual command judges in which setting: a share in each, each check in some.

Many tests judge checks in many settings: on lawful catalogs, on catalogs that lack something, in
each mode of isolation. The product of both takes an hour, and most of it repeats. So a test under
``@in_shares`` judges in each setting the checks that are about it, and a share of the others that
differs from setting to setting. Its twin, marked ``complete``, judges all of them; as every test
so marked does that asks for a share.
"""

import zlib
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from icecheck.findings.verdict import Group
from icecheck.judging.check import Check

SHARE, EVERYTHING = "share", "everything"
JUDGES: ContextVar[str] = ContextVar("judges", default=SHARE)
"""What the running test judges; the fixture ``extent`` of tests/conftest.py sets it."""

in_shares = pytest.mark.parametrize(
    "extent",
    [
        SHARE,
        pytest.param(
            EVERYTHING,
            marks=pytest.mark.complete("judges every check in every setting, not a share in each"),
        ),
    ],
    indirect=True,
)


def some(cases: Iterable[Any], of: int) -> list[ParameterSet]:
    """Return the cases of a parametrized test; the usual command has the first, and one in ``of``.

    A case is one value, or a tuple of them.
    """
    others = pytest.mark.complete("the usual command has other cases of the same test")
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)), marks=others if number % of else ()
        )
        for number, case in enumerate(cases)
    ]


def judges_everything() -> bool:
    """Return whether the running test is of the complete tier."""
    return JUDGES.get() == EVERYTHING


def is_plain(check: Check) -> bool:
    """Return whether a check is none of the generated ones, which take nine tenths of a run."""
    return check.group is not Group.GENERATED


def has_turn(check: Check, turn: int, of: int) -> bool:
    """Return whether a check is judged in the setting of this number, one in ``of``."""
    return (zlib.crc32(check.id.encode()) + turn) % of == 0


def share(
    checks: Iterable[Check], turn: int, of: int, *, always: Callable[[Check], bool] = is_plain
) -> tuple[Check, ...]:
    """Return the checks of one setting: those to judge ``always``, and one in ``of`` of the rest.

    In ``of`` settings with successive numbers ``turn`` each check has its turn once. A test of the
    complete tier gets all checks.
    """
    everything = judges_everything()
    return tuple(
        check for check in checks if everything or always(check) or has_turn(check, turn, of)
    )
