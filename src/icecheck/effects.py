"""Which objects a request may create or remove, read from the request itself."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from icecheck.ledger import Entry, Kind
from icecheck.target import Namespace

__all__ = ["Effect", "changes_nothing", "effect_of"]

_READING = frozenset({"GET", "HEAD"})
_CHANGING_NOTHING = frozenset({"getToken", "planTableScan", "fetchScanTasks"})


@dataclass(frozen=True, slots=True)
class Effect:
    """What a request does to the catalog's objects, if it succeeds."""

    creates: tuple[Entry, ...] = ()
    removes: tuple[Entry, ...] = ()


def changes_nothing(operation_id: str, method: str) -> bool:
    """Whether a request leaves the objects of a catalog as they are."""
    return method in _READING or operation_id in _CHANGING_NOTHING


def effect_of(
    operation_id: str, names: Mapping[str, str | Namespace], body: bytes | None
) -> Effect:
    """Read the effect of a request; a body that names nothing has none."""
    parsed = _parse(body)
    namespace = _levels(names.get("namespace"))
    kind = "view" if operation_id.endswith("View") else "table"
    match operation_id:
        case "createNamespace":
            made = _levels(parsed.get("namespace"))
            return Effect(creates=(Entry("namespace", made),) if made else ())
        case "dropNamespace":
            return Effect(removes=(Entry("namespace", namespace),))
        case "createTable" if parsed.get("stage-create") is True:
            return Effect()
        case "createTable" | "registerTable" | "createView":
            return Effect(creates=_named(kind, namespace, parsed.get("name")))
        case "dropTable" | "dropView":
            return Effect(removes=_named(kind, namespace, names.get(kind)))
        case "updateTable" if _asserts_create(parsed):
            return Effect(creates=_named(kind, namespace, names.get(kind)))
        case "commitTransaction":
            return Effect(creates=tuple(_created_by_changes(parsed.get("table-changes"))))
        case "renameTable" | "renameView":
            return _renamed(kind, parsed)
        case _:
            return Effect()


def _parse(body: bytes | None) -> dict[str, Any]:
    if body is None:
        return {}
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _levels(value: Any) -> Namespace:
    if isinstance(value, list | tuple) and value and all(isinstance(v, str) for v in value):
        return tuple(value)
    return ()


def _named(kind: Kind, namespace: Namespace, name: Any) -> tuple[Entry, ...]:
    return tuple(Entry(kind, namespace, read) for read in _readings(name)) if namespace else ()


def _readings(name: Any) -> tuple[str, ...]:
    """Return the names that an object may get: a lenient server makes a text of what is none."""
    if isinstance(name, str):
        return (name,)
    spellings = (json.dumps(name), str(name), json.dumps(name, separators=(",", ":")))
    return tuple(dict.fromkeys(spellings))


def _renamed(kind: Kind, parsed: dict[str, Any]) -> Effect:
    source, destination = (_identifier(kind, parsed.get(k)) for k in ("source", "destination"))
    if source is None or destination is None or source == destination:
        return Effect()
    return Effect(creates=(destination,), removes=(source,))


def _identifier(kind: Kind, value: Any) -> Entry | None:
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return None
    namespace = _levels(value.get("namespace"))
    return Entry(kind, namespace, value["name"]) if namespace else None


def _created_by_changes(changes: Any) -> Iterator[Entry]:
    for change in changes if isinstance(changes, list) else ():
        if isinstance(change, dict) and _asserts_create(change):
            entry = _identifier("table", change.get("identifier"))
            if entry is not None:
                yield entry


def _asserts_create(body: dict[str, Any]) -> bool:
    requirements = body.get("requirements")
    return isinstance(requirements, list) and any(
        isinstance(r, dict) and r.get("type") == "assert-create" for r in requirements
    )
