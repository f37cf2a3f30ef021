"""Named misbehaviours of the mock: each replaces registry entries and breaks one requirement.

There is a folder for each family. A defect is a function under `@defect(..., on=...)` that is
called in place of what `on` names, or a row of `declare_each(..., by(block, ...))` where a
building block of `kit` is enough; one that remembers something in several operations gets the
registries and replaces entries itself.
"""

import importlib
import pkgutil
from functools import cache

from icecheck.mock_server.defects.kit.declaring import Defect, Install, declared

__all__ = ["Defect", "Install", "defects"]


@cache
def defects() -> dict[str, Defect]:
    """Return every defect by name, sorted; imports the family modules on first use."""
    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        importlib.import_module(module.name)
    return dict(sorted(declared().items()))
