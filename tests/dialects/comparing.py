"""What a client sends otherwise in another version, or to another server."""

import difflib
import json
from collections.abc import Mapping
from typing import Any

_DIFFERS_ALWAYS = frozenset({"empty", "metrics", "summary"})
"""Notes of what was measured, and durations; the names of versions are left out too."""


def differences(stored: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the requests that were stored and are not sent now (``-``), or only now (``+``).

    Each is a line of JSON, in order. What no two recordings have alike is left out.
    """
    lines = difflib.ndiff(_requests(stored), _requests(now))
    return [line for line in lines if line[0] in "+-"]


def _requests(recorded: Mapping[str, Any]) -> list[str]:
    return [
        json.dumps(
            {"workflow": workflow["workflow"], "step": step["step"], **_steady(request)},
            sort_keys=True,
        )
        for workflow in recorded["workflows"]
        for step in workflow["steps"]
        for request in step["requests"]
    ]


def _steady(value: Any) -> Any:
    """Return a part of a recording without how large files came out, and what else differs."""
    if isinstance(value, dict):
        kept = {k: v for k, v in value.items() if "size" not in k and k not in _DIFFERS_ALWAYS}
        named = {k for k, v in kept.items() if "version" in k and isinstance(v, str)}
        return {k: _steady(v) for k, v in kept.items() if k not in named}
    return [_steady(v) for v in value] if isinstance(value, list) else value
