"""Which objects a request may create or remove, read from the request itself."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from icecheck.ledger import Entry
from icecheck.target import Namespace

__all__ = ["Effect", "effect_of"]


@dataclass(frozen=True, slots=True)
class Effect:
    """What a request does to the catalog's objects, if it succeeds."""

    creates: tuple[Entry, ...] = ()
    removes: tuple[Entry, ...] = ()


def effect_of(
    operation_id: str, names: Mapping[str, str | Namespace], body: bytes | None
) -> Effect:
    """Read the effect of a request; a body that names nothing has none."""
    parsed = _parse(body)
    namespace = _levels(names.get("namespace"))
    table = names.get("table")
    match operation_id:
        case "createNamespace":
            made = _levels(parsed.get("namespace"))
            return Effect(creates=(Entry("namespace", made),) if made else ())
        case "dropNamespace":
            return Effect(removes=(Entry("namespace", namespace),))
        case "createTable" if parsed.get("stage-create") is not True:
            return _named("creates", namespace, parsed.get("name"))
        case "registerTable":
            return _named("creates", namespace, parsed.get("name"))
        case "dropTable":
            return _named("removes", namespace, table)
        case "updateTable" if _asserts_create(parsed):
            return _named("creates", namespace, table)
        case "commitTransaction":
            return Effect(creates=tuple(_created_by_changes(parsed.get("table-changes"))))
        case "renameTable":
            source, destination = (_identifier(parsed.get(k)) for k in ("source", "destination"))
            if source is None or destination is None or source == destination:
                return Effect()
            return Effect(creates=(destination,), removes=(source,))
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


def _named(side: str, namespace: Namespace, name: Any) -> Effect:
    if not namespace or not isinstance(name, str):
        return Effect()
    entry = (Entry("table", namespace, name),)
    return Effect(creates=entry) if side == "creates" else Effect(removes=entry)


def _identifier(value: Any) -> Entry | None:
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return None
    namespace = _levels(value.get("namespace"))
    return Entry("table", namespace, value["name"]) if namespace else None


def _created_by_changes(changes: Any) -> Iterator[Entry]:
    for change in changes if isinstance(changes, list) else ():
        if isinstance(change, dict) and _asserts_create(change):
            entry = _identifier(change.get("identifier"))
            if entry is not None:
                yield entry


def _asserts_create(body: dict[str, Any]) -> bool:
    requirements = body.get("requirements")
    return isinstance(requirements, list) and any(
        isinstance(r, dict) and r.get("type") == "assert-create" for r in requirements
    )
