"""The changes of views that histories commit, by name: together they are every update."""

from collections.abc import Mapping
from typing import Any

from icecheck.client import bodies
from icecheck.objects.after_updates import LAST_ADDED
from icecheck.objects.evolving import schema_addition
from icecheck.objects.views import View, add_version, set_current_version
from icecheck.scenarios.steps.changes import (
    Base,
    Change,
    Make,
    Vocabulary,
    changed_properties,
    relocated,
)
from icecheck.scenarios.steps.step import ANOTHER_UUID

Json = dict[str, Any]

_UNKNOWN_ID = 7919


def _same_uuid(base: Base) -> list[Json]:
    return [{"action": "assign-uuid", "uuid": base.now["view-uuid"]}]


def _same_version(base: Base) -> list[Json]:
    return [{"action": "upgrade-format-version", "format-version": base.now["format-version"]}]


def _schema(base: Base) -> list[Json]:
    columns = (
        bodies.struct_field(1, "id", "int", required=True),
        bodies.struct_field(2, f"data_{base.unlike('schemas')}", "string"),
    )
    schema = bodies.schema(*columns, schema_id=base.next("schemas", "schema-id"))
    return [schema_addition({"last-column-id": 0}, schema)]


def _version(base: Base) -> list[Json]:
    """Add a version of the schema that the newest version has."""
    if not base.now.get("versions"):
        return []
    view = View(_home(base), "", dict(base.now), None)
    mark = base.unlike("versions")
    return [add_version(view, f"SELECT {mark} AS id, '{mark}' AS data")]


def _home(base: Base) -> tuple[str, ...]:
    """Return the default namespace of the versions that there are."""
    return tuple(base.now["versions"][-1].get("default-namespace") or ())


def _own_version(base: Base) -> list[Json]:
    """Add a schema, and a version of it."""
    added = _version(base)
    for each in added:
        each["view-version"]["schema-id"] = LAST_ADDED
    return [*_schema(base), *added] if added else []


def _current(make: Make) -> Make:
    def changed(base: Base) -> list[Json]:
        added = make(base)
        return [*added, set_current_version(LAST_ADDED)] if added else []

    return changed


def _another(base: Base) -> list[Json]:
    """Make the oldest version that is shown current, or the newest."""
    known = base.known("versions", "version-id")
    others = [each for each in known if each != base.now.get("current-version-id")]
    return [set_current_version(others[-(base.number % 2)])] if others else []


_CHANGES: Mapping[str, Change] = {
    "properties": Change(changed_properties),
    "relocate": Change(relocated),
    "same-uuid": Change(_same_uuid),
    "same-format": Change(_same_version),
    "add-schema": Change(_schema),
    "add-version": Change(_version),
    "replace": Change(_current(_version)),
    "replace-schema": Change(_current(_own_version)),
    "other-version": Change(_another),
}

_WRONG: Mapping[str, Json] = {"unknown-version": set_current_version(_UNKNOWN_ID)}

_STALE = {"stale-uuid": lambda _: {"type": "assert-view-uuid", "uuid": ANOTHER_UUID}}

VIEWS = Vocabulary(_CHANGES, _WRONG, _STALE, "view-update")
