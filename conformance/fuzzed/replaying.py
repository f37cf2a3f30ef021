"""Drawn requests that failed, as the steps of replay files, and back.

The steps are one: the operation, nothing, and the body with its placeholders. Whoever edits a file
may write anything into it, so that a text which could lead to files of others is refused.
"""

import json
from collections.abc import Iterator
from typing import Any

from icecheck.conformance.fuzzed.drawn_requests import POSITIVE
from icecheck.conformance.generated.sample_values import TABLE_LOCATION

_DEPTH_MAX = 60
_SEPARATORS = ("/", "\\", "%")
_LEADING_OUT = ("..", "://", "\\", "%")

OPERATION_OF = {f"generated.{operation_id}.fuzzed": operation_id for operation_id in POSITIVE}
"""Check id -> the operation whose requests it draws."""


def to_json(operation_id: str, body: Any) -> str:
    """Return the steps for a request with this body; "" if they could not be read again."""
    try:
        steps = json.dumps([[operation_id, [], [body]]])
        body_in(operation_id, steps)
    except ValueError:
        return ""
    return steps


def body_in(operation_id: str, steps: str) -> Any:
    """Return the body in the steps of a request; raise ValueError if they are none of it."""
    match json.loads(steps):
        case [[str(named), [], [body]]] if named == operation_id:
            json.dumps(body, ensure_ascii=False).encode()  # a lone surrogate has no encoding
            for text in _texts(body, 0):
                _expect_no_path(text)
            return body
    raise ValueError(f"its steps are no request of {operation_id}")


def _texts(value: Any, depth: int) -> Iterator[str]:
    if depth > _DEPTH_MAX:
        raise ValueError(f"its body has more than {_DEPTH_MAX} levels")
    match value:
        case dict():
            for name, each in value.items():
                yield name
                yield from _texts(each, depth + 1)
        case list():
            for each in value:
                yield from _texts(each, depth + 1)
        case str():
            yield value


def _expect_no_path(text: str) -> None:
    own = text.startswith(f"{TABLE_LOCATION}/") and not any(odd in text for odd in _LEADING_OUT)
    if any(separator in text for separator in _SEPARATORS) and not own:
        raise ValueError(f"{text!r} may lead to files of others")
