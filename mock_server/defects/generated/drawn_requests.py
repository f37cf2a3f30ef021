"""Defects that show where requests are drawn: lawful, and of a kind that nobody thought of."""

from collections.abc import Callable, Iterator
from typing import Any

from icecheck.mock_server.core.context import Call
from icecheck.mock_server.defects.generated.requests import breaks_down_on
from icecheck.mock_server.defects.kit.declaring import by, declare
from icecheck.mock_server.defects.kit.requests import sent_json

Json = dict[str, Any]

_FEW_UPDATES = 3
_OF_A_RENAME = {"source", "destination"}


def _has_odd_key(properties: Any) -> bool:
    keys = properties if isinstance(properties, dict | list) else ()
    return any(not str(key).replace(".", "").isalnum() for key in keys)


def _is_nested(body: Json) -> bool:
    """Return whether a column holds a list or map of something that is no plain type."""
    fields = body["schema"]["fields"] if isinstance(body.get("schema"), dict) else ()
    inner = [each.get("type") for each in fields if isinstance(each, dict)]
    return any(isinstance(each, dict) for each in inner)


def _many_updates(body: Json) -> bool:
    changes = body.get("table-changes", [body])
    return any(
        isinstance(each, dict) and len(_list(each.get("updates"))) > _FEW_UPDATES
        for each in _list(changes)
    )


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _sql_of(body: Json) -> list[Any]:
    version = body.get("view-version")
    return _list(version.get("representations")) if isinstance(version, dict) else []


def _timers(body: Json) -> Iterator[Any]:
    metrics = body.get("metrics")
    values = metrics.values() if isinstance(metrics, dict) else ()
    return (each for each in values if isinstance(each, dict) and "time-unit" in each)


def _combines(body: Json) -> bool:
    condition = body.get("filter")
    return isinstance(condition, dict) and not {"child", "left"}.isdisjoint(condition)


_BODIES: tuple[tuple[str, str, Callable[[Json], bool]], ...] = (
    ("createNamespace", "a property whose key is no word",
     lambda body: _has_odd_key(body.get("properties"))),
    ("updateProperties", "a key that is no word",
     lambda body: _has_odd_key(body.get("updates")) or _has_odd_key(body.get("removals"))),
    ("createTable", "a column of a nested type", _is_nested),
    ("updateTable", "more than three updates", _many_updates),
    ("commitTransaction", "more than three updates of a table", _many_updates),
    ("renameTable", "a member beside source and destination",
     lambda body: not body.keys() <= _OF_A_RENAME),
    ("renameView", "a member beside source and destination",
     lambda body: not body.keys() <= _OF_A_RENAME),
    ("registerTable", "a word on whether to overwrite", lambda body: "overwrite" in body),
    ("createView", "several dialects", lambda body: len(_sql_of(body)) > 1),
    ("replaceView", "more than one update", lambda body: len(_list(body.get("updates"))) > 1),
    ("planTableScan", "a filter of several parts", _combines),
    ("reportMetrics", "a timer", lambda body: any(_timers(body))),
)  # fmt: skip
"""Operation, what it breaks down on, and whether a body has that."""


def _declare(operation_id: str, what: str, on: Callable[[Call], bool]) -> None:
    declare(
        f"drawn-breakdown-{operation_id}",
        f"{operation_id} answers 500 to {what}.",
        by(breaks_down_on, operation_id, on),
        breaks=f"generated.{operation_id}.fuzzed",
        suffering="A request that nobody thought of meets a stack trace.",
    )


def _body_has(told: Callable[[Json], bool]) -> Callable[[Call], bool]:
    return lambda call: told(sent_json(call))


for _operation, _what, _told in _BODIES:
    _declare(_operation, _what, _body_has(_told))
