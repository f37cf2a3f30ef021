"""Defects of updates of identity, version, location and properties.

There is also a defect for every update of the contract that accepts it without effect.
"""

from collections.abc import Callable
from typing import Any

from icecheck.mock_server.core.context import Registries
from icecheck.mock_server.defects.kit.declaring import by, declare, declare_each, defect
from icecheck.mock_server.defects.kit.places import table_update
from icecheck.mock_server.defects.kit.requests import Json
from icecheck.mock_server.defects.kit.updating import (
    FaithfulUpdate,
    alter_sent_updates,
    alter_update,
    ignore_update,
    refuse_updates_where,
)
from icecheck.mock_server.metadata.builder import Draft
from icecheck.mock_server.metadata.invariants import FORMAT_VERSION_MAX
from icecheck.mock_server.updates import UPDATES

_TAKEN_OR_REFUSED = ("set-partition-statistics", "remove-partition-statistics")
"""The updates that the document's list leaves out: one that was taken has to have its effect."""


def _declare_forgotten(action: str) -> None:
    taken = action in _TAKEN_OR_REFUSED
    suffering = "A client is told that its change was made, and it was not."
    declare(
        f"update-forgotten-{action}",
        f"{action} is accepted and has no effect.",
        by(ignore_update, action),
        breaks=f"roundtrip.updateTable.{action}" if taken else f"update.{action}.effect",
        suffering=suffering,
    )


for _action in UPDATES:
    _declare_forgotten(_action)


@defect(
    "update-version-clamped",
    on=table_update("upgrade-format-version"),
    breaks="update.upgrade-format-version.unknown-refused",
    suffering="The table has another format version than the client was told.",
)
def _version_clamped(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """A format version that does not exist is taken for the highest one."""
    if update.format_version > FORMAT_VERSION_MAX:
        draft.change(format_version=FORMAT_VERSION_MAX)
    else:
        faithful(update, draft)


def _alter_properties(registries: Registries, alter: Callable[[Json], Json]) -> None:
    alter_sent_updates(
        registries, "set-properties", lambda update: update | {"updates": alter(update["updates"])}
    )


@defect(
    "update-properties-removed-by-prefix",
    on=table_update("remove-properties"),
    breaks="update.remove-properties.effect",
    suffering="Removing one property removes others whose names begin alike.",
)
def _properties_removed_by_prefix(_faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """remove-properties deletes with LIKE 'key%'."""
    gone = tuple(update.removals)
    held = draft.metadata.properties.items()
    draft.change(properties={k: v for k, v in held if not k.startswith(gone)})


_PROPERTY_BYTES_MAX = 64 * 1024


declare_each(
    ("update-uuid-reassigned", "update.assign-uuid.reassign-refused",
     "assign-uuid replaces the uuid of an existing table.",
     "Every client that holds the table open takes it for another one.",
     by(alter_update, "assign-uuid",
        lambda _faithful, update, draft: draft.change(table_uuid=update.uuid))),
    ("update-version-lowered", "update.upgrade-format-version.downgrade-refused",
     "upgrade-format-version sets whatever version is sent.",
     "What the lower version cannot say is lost.",
     by(alter_update, "upgrade-format-version",
        lambda _faithful, update, draft: draft.change(format_version=update.format_version))),
    ("update-properties-become-strings", "update.set-properties.values-are-strings",
     "A property value that is no string is turned into one.",
     "A property holds a text that no client understands.",
     by(_alter_properties, lambda sent: {k: str(v) for k, v in sent.items()})),
    ("update-properties-trimmed", "update.set-properties.effect",
     "Property values lose their leading and trailing spaces.",
     "Values that begin or end with a space are not what was set.",
     by(_alter_properties, lambda sent: {k: v.strip() for k, v in sent.items()})),
    ("update-property-keys-lower-case", "update.set-properties.effect",
     "Property keys are lower-cased.",
     "Properties cannot be found under the name they were set by.",
     by(_alter_properties, lambda sent: {k.lower(): v for k, v in sent.items()})),
    ("update-properties-replaced", "update.set-properties.effect",
     "set-properties replaces the whole map.", "Setting one property removes all others.",
     by(alter_update, "set-properties",
        lambda _faithful, update, draft: draft.change(properties=dict(update.updates)))),
    ("update-large-property-refused", "update.set-properties.large",
     "A property is refused that is longer than the column of a database.",
     "Wide tables cannot be imported: their name mapping is refused.",
     by(
         refuse_updates_where,
         "set-properties",
         lambda update, _: any(
             len(value) > _PROPERTY_BYTES_MAX for value in update.updates.values()
         ),
     )),
)  # fmt: skip
