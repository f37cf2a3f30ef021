"""Named misbehaviours of the mock: each a replaced registry entry, with the sentence it breaks."""

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
