"""Filters of scans, and of reports about them, that several families of checks send."""

from collections.abc import Sequence
from typing import Any

Json = Any


def joined(connective: str, terms: Sequence[Json]) -> Json:
    """Join expressions by "and" or "or" in a tree of the least depth."""
    if len(terms) == 1:
        return terms[0]
    half = len(terms) // 2
    left, right = joined(connective, terms[:half]), joined(connective, terms[half:])
    return {"type": connective, "left": left, "right": right}
