"""Reduces an OpenAPI document to its canonical structure, without prose and examples.

Two documents with the same canonical structure accept and refuse the same traffic, so that a
document with our own prose can be compared with the official one.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

PROSE = frozenset(
    {"description", "summary", "title", "example", "examples", "externalDocs", "tags", "license"}
)
# The keys of these mappings are chosen names: a property called "description" is not prose.
NAME_MAPS = frozenset(
    {
        "properties",
        "patternProperties",
        "dependentSchemas",
        "$defs",
        "schemas",
        "responses",
        "parameters",
        "headers",
        "requestBodies",
        "securitySchemes",
        "links",
        "callbacks",
        "paths",
        "content",
        "encoding",
        "variables",
    }
)
# The values under these keys are data, compared as they are.
OPAQUE = frozenset(
    {"default", "const", "enum", "required", "mapping", "dependentRequired", "security"}
)


def canonical_structure(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document without prose and examples; `document` itself is not changed."""
    return _node(document)


def canonical_text(document: Mapping[str, Any]) -> str:
    """Return the canonical structure as JSON with sorted keys and no optional white space."""
    return json.dumps(
        canonical_structure(document), sort_keys=True, separators=(",", ":"), ensure_ascii=True
    )


def sha256_of(document: Mapping[str, Any]) -> str:
    """Return the hex sha256 of the canonical text."""
    import hashlib

    return hashlib.sha256(canonical_text(document).encode("ascii")).hexdigest()


def structural_differences(left: Any, right: Any, pointer: str = "") -> Iterator[str]:
    """Yield one line per place where two structures differ: JSON pointer and what differs."""
    if isinstance(left, dict) and isinstance(right, dict):
        for key in sorted(left.keys() | right.keys()):
            here = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
            if key not in left:
                yield f"{here}: only on the right"
            elif key not in right:
                yield f"{here}: only on the left"
            else:
                yield from structural_differences(left[key], right[key], here)
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for index, (one, other) in enumerate(zip(left, right, strict=True)):
            yield from structural_differences(one, other, f"{pointer}/{index}")
    elif left != right or type(left) is not type(right):
        yield f"{pointer}: {left!r} is not {right!r}"


def _node(node: Mapping[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, value in node.items():
        if key in PROSE:
            continue
        if key in OPAQUE:
            kept[key] = value
        elif key == "scopes":  # OAuth scope name -> prose
            kept[key] = dict.fromkeys(value, "")
        elif key in NAME_MAPS and isinstance(value, dict):
            kept[key] = {name: _value(member) for name, member in value.items()}
        else:
            kept[key] = _value(value)
    return kept


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        return _node(value)
    if isinstance(value, list):
        return [_value(item) for item in value]
    return value
