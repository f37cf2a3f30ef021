"""Ways in which servers get updates of identity, version, location and properties wrong.

Every update of the contract is also forgotten once: accepted, and left out.
"""

from typing import Any

from icecheck.mock_server.builder import Draft
from icecheck.mock_server.context import Registries
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import alter_request_body
from icecheck.mock_server.defects.versions import (
    Faithful,
    alter_update,
    ignore_update,
)
from icecheck.mock_server.invariants import FORMAT_VERSION_MAX
from icecheck.mock_server.updates import UPDATES

Json = dict[str, Any]


def _declare_forgotten(action: str) -> None:
    def install(registries: Registries) -> None:
        ignore_update(registries, action)

    install.__doc__ = f"{action} is accepted and has no effect."
    suffering = "A client is told that its change was made, and it was not."
    declare = defect(
        f"update-forgotten-{action}", breaks=f"update.{action}.effect", suffering=suffering
    )
    declare(install)


for _action in UPDATES:
    _declare_forgotten(_action)


@defect(
    "update-uuid-reassigned",
    breaks="update.assign-uuid.reassign-refused",
    suffering="Every client that holds the table open takes it for another one.",
)
def _uuid_reassigned(registries: Registries) -> None:
    """assign-uuid replaces the uuid of an existing table."""
    alter_update(
        registries,
        "assign-uuid",
        lambda _faithful, update, draft: draft.change(table_uuid=update.uuid),
    )


@defect(
    "update-version-lowered",
    breaks="update.upgrade-format-version.downgrade-refused",
    suffering="What the lower version cannot say is lost.",
)
def _version_lowered(registries: Registries) -> None:
    """upgrade-format-version sets whatever version is sent."""
    alter_update(
        registries,
        "upgrade-format-version",
        lambda _faithful, update, draft: draft.change(format_version=update.format_version),
    )


@defect(
    "update-version-clamped",
    breaks="update.upgrade-format-version.unknown-refused",
    suffering="The table has another format version than the client was told.",
)
def _version_clamped(registries: Registries) -> None:
    """A format version that does not exist is taken for the highest one."""

    def clamped(faithful: Faithful, update: Any, draft: Draft) -> None:
        if update.format_version > FORMAT_VERSION_MAX:
            draft.change(format_version=FORMAT_VERSION_MAX)
        else:
            faithful(update, draft)

    alter_update(registries, "upgrade-format-version", clamped)


def _alter_properties(registries: Registries, alter: Any) -> None:
    def altered(body: Json) -> Json:
        updates = [
            {**update, "updates": alter(update["updates"])}
            if update.get("action") == "set-properties"
            else update
            for update in body["updates"]
        ]
        return {**body, "updates": updates}

    alter_request_body(registries, "updateTable", altered)


@defect(
    "update-properties-become-strings",
    breaks="update.set-properties.values-are-strings",
    suffering="A property holds a text that no client understands.",
)
def _properties_become_strings(registries: Registries) -> None:
    """A property value that is no string is turned into one."""
    _alter_properties(registries, lambda sent: {k: str(v) for k, v in sent.items()})


@defect(
    "update-properties-trimmed",
    breaks="update.set-properties.effect",
    suffering="Values that begin or end with a space are not what was set.",
)
def _properties_trimmed(registries: Registries) -> None:
    """Property values lose their leading and trailing spaces."""
    _alter_properties(registries, lambda sent: {k: v.strip() for k, v in sent.items()})


@defect(
    "update-property-keys-lower-case",
    breaks="update.set-properties.effect",
    suffering="Properties cannot be found under the name they were set by.",
)
def _property_keys_lower_case(registries: Registries) -> None:
    """Property keys are lower-cased."""
    _alter_properties(registries, lambda sent: {k.lower(): v for k, v in sent.items()})


@defect(
    "update-properties-replaced",
    breaks="update.set-properties.effect",
    suffering="Setting one property removes all others.",
)
def _properties_replaced(registries: Registries) -> None:
    """set-properties replaces the whole map."""
    alter_update(
        registries,
        "set-properties",
        lambda _faithful, update, draft: draft.change(properties=dict(update.updates)),
    )


@defect(
    "update-properties-removed-by-prefix",
    breaks="update.remove-properties.effect",
    suffering="Removing one property removes others whose names begin alike.",
)
def _properties_removed_by_prefix(registries: Registries) -> None:
    """remove-properties deletes with LIKE 'key%'."""

    def by_prefix(_faithful: Faithful, update: Any, draft: Draft) -> None:
        gone = tuple(update.removals)
        held = draft.metadata.properties.items()
        draft.change(properties={k: v for k, v in held if not k.startswith(gone)})

    alter_update(registries, "remove-properties", by_prefix)
