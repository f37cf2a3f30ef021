"""Which checks the usual command judges in which setting: a share in each, each check in some.

Many tests judge checks in many settings: on lawful catalogs, on catalogs that lack something, in
each mode of isolation. The product of both takes an hour, and most of it repeats. So the usual
command judges in each setting the checks that are about it, and a share of the others that differs
from setting to setting; `tox -e complete` judges all of them everywhere.
"""

import os
import zlib
from collections.abc import Callable, Iterable

from icecheck.findings.verdict import Group
from icecheck.judging.check import Check

COMPLETE = os.environ.get("ICECHECK_COMPLETE") == "1"


def is_plain(check: Check) -> bool:
    """Return whether a check is none of the generated ones, which take nine tenths of a run."""
    return check.group is not Group.GENERATED


def share(
    checks: Iterable[Check], turn: int, of: int, *, always: Callable[[Check], bool] = is_plain
) -> tuple[Check, ...]:
    """Return the checks of one setting: those to judge ``always``, and one in ``of`` of the rest.

    In ``of`` settings with successive numbers ``turn`` each check has its turn once.
    """
    return tuple(
        check
        for check in checks
        if COMPLETE or always(check) or (zlib.crc32(check.id.encode()) + turn) % of == 0
    )
