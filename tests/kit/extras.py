"""An installation with fewer extras than this one, made by hiding what the others brought."""

import re
import sys
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions

from packaging.requirements import Requirement

_HIDING = """\
import sys
for name in {hidden!r}:
    sys.modules[name] = None
"""


def hidden_without(*extras):
    """Return the modules that an installation with only these extras of icecheck lacks."""
    kept = _reached("icecheck", extras)
    return sorted(
        module
        for module, names in packages_distributions().items()
        if module not in sys.stdlib_module_names and not any(_plain(name) in kept for name in names)
    )


def command_line(arguments, *, extras=()):
    """Return the argv of `icecheck ARGUMENTS` where only these extras are installed."""
    program = _HIDING.format(hidden=hidden_without(*extras))
    program += f"from icecheck.cli import main\nmain({[str(a) for a in arguments]!r})\n"
    return [sys.executable, "-c", program]


def _reached(name, extras):
    """Return the names of a distribution and of all that it needs, directly or not."""
    reached, todo = set(), [(name, frozenset(extras))]
    seen = set()
    while todo:
        name, extras = todo.pop()
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        try:
            needed = distribution(name).requires or []
        except PackageNotFoundError:
            continue
        reached.add(_plain(name))
        for requirement in map(Requirement, needed):
            marker = requirement.marker
            if marker is None or any(marker.evaluate({"extra": e}) for e in (*extras, "")):
                todo.append((requirement.name, frozenset(requirement.extras)))
    return reached


def _plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()
