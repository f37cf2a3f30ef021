"""Reads from a request which objects it may create or remove."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from icecheck.contract import Action, Changes, Object, Operation, Place, When
from icecheck.ownership.ledger import Entry, Kind
from icecheck.targets.target import Namespace

_READING = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of a request on the catalog's objects, if it succeeds."""

    creates: tuple[Entry, ...] = ()
    removes: tuple[Entry, ...] = ()


def changes_nothing(operation: Operation, method: str | None = None) -> bool:
    """Return whether a request changes no object; ``method`` replaces that of the operation."""
    return method in _READING or operation.facts.changes is Changes.NOTHING


def effect_of(
    operation: Operation, names: Mapping[str, str | Namespace], body: bytes | None
) -> Effect:
    """Return the effect of a request; a body that names nothing has none."""
    facts, parsed = operation.facts, read_body(body)
    kind, creates = facts.object.value, facts.creates
    removed = () if facts.removes is None else _at(facts.removes, kind, names, parsed)
    created: tuple[Entry, ...] = ()
    if creates is not None and creates.place is Place.TABLE_CHANGES:
        created = tuple(_in_changes(kind, parsed, creates.when))
    elif creates is not None and _is_due(creates.when, parsed):
        created = _at(creates.place, kind, names, parsed)
    if facts.action is Action.RENAME and (not created or not removed or created == removed):
        return Effect()
    return Effect(created, removed)


def objects_named(
    operation: Operation, names: Mapping[str, str | Namespace], body: bytes | None
) -> tuple[Entry, ...]:
    """Return the objects that a request names, in its path and in its body."""
    facts, parsed = operation.facts, read_body(body)
    kind = facts.object.value
    found = (_at(place, kind, names, parsed) for place in facts.names)
    return tuple(dict.fromkeys(entry for entries in found for entry in entries))


def _at(
    place: Place, kind: Kind, names: Mapping[str, str | Namespace], parsed: dict[str, Any]
) -> tuple[Entry, ...]:
    """Return the objects that a request names in a place; for an ambiguous name, all readings."""
    namespace = _levels(names.get("namespace"))
    match place:
        case Place.PATH if kind == Object.NAMESPACE:
            return (Entry(kind, namespace),)
        case Place.PATH:
            return _named(kind, namespace, names.get(kind))
        case Place.PARENT:
            return ()
        case Place.NAMESPACE:
            levels = _levels(parsed.get("namespace"))
            return (Entry(kind, levels),) if levels else ()
        case Place.NAME:
            return _named(kind, namespace, parsed.get("name"))
        case Place.IDENTIFIER | Place.SOURCE | Place.DESTINATION:
            found = _identifier(kind, parsed.get(place.removeprefix("body.")))
            return () if found is None else (found,)
        case Place.TABLE_CHANGES:
            return tuple(_in_changes(kind, parsed, When.ALWAYS))


def _is_due(when: When, parsed: dict[str, Any]) -> bool:
    match when:
        case When.ALWAYS:
            return True
        case When.UNLESS_STAGED:
            return parsed.get("stage-create") is not True
        case When.IF_CREATE_ASSERTED:
            return _asserts_create(parsed)


def read_body(body: bytes | None) -> dict[str, Any]:
    """Return the JSON object in a request's body; an empty dict for any other body."""
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
    """Return the names that an object may get: a lenient server converts other values to text."""
    if isinstance(name, str):
        return (name,)
    spellings = (json.dumps(name), str(name), json.dumps(name, separators=(",", ":")))
    return tuple(dict.fromkeys(spellings))


def _identifier(kind: Kind, value: Any) -> Entry | None:
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return None
    namespace = _levels(value.get("namespace"))
    return Entry(kind, namespace, value["name"]) if namespace else None


def _in_changes(kind: Kind, parsed: dict[str, Any], when: When) -> Iterator[Entry]:
    changes = parsed.get("table-changes")
    for change in changes if isinstance(changes, list) else ():
        if isinstance(change, dict) and _is_due(when, change):
            entry = _identifier(kind, change.get("identifier"))
            if entry is not None:
                yield entry


def _asserts_create(body: dict[str, Any]) -> bool:
    requirements = body.get("requirements")
    return isinstance(requirements, list) and any(
        isinstance(r, dict) and r.get("type") == "assert-create" for r in requirements
    )
