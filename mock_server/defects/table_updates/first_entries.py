"""Defects of updates that are carried out for the first entry of their list alone."""

from collections.abc import Callable

from msgspec.structs import replace

from icecheck.mock_server.core.context import Registries
from icecheck.mock_server.defects.kit.declaring import by, declare_each
from icecheck.mock_server.defects.kit.updating import read_update, read_view_update


def _only_first(
    registries: Registries, read: Callable[..., None], action: str, member: str
) -> None:
    """Let an update carry out the first entry of its list alone; `read` is `read_update`, ..."""
    read(
        registries,
        action,
        lambda update, _: replace(update, **{member: getattr(update, member)[:1]}),
    )


declare_each(
    ("update-removes-first-snapshot-only", "update.remove-snapshots.effect",
     "remove-snapshots removes the first snapshot of its list.",
     "expire_snapshots deletes the files of snapshots that the table still lists.",
     by(_only_first, read_update, "remove-snapshots", "snapshot_ids")),
    ("update-removes-first-schema-only", "update.remove-schemas.effect",
     "remove-schemas removes the first schema of its list.",
     "Schemas that nothing uses pile up in the metadata.",
     by(_only_first, read_update, "remove-schemas", "schema_ids")),
    ("update-removes-first-spec-only", "update.remove-partition-specs.effect",
     "remove-partition-specs removes the first spec of its list.",
     "Partition specs that nothing uses pile up in the metadata.",
     by(_only_first, read_update, "remove-partition-specs", "spec_ids")),
    ("update-removes-first-property-only", "update.remove-properties.effect",
     "remove-properties removes the first property of its list.",
     "ALTER TABLE UNSET TBLPROPERTIES leaves all but one of what it names.",
     by(_only_first, read_update, "remove-properties", "removals")),
    ("view-update-removes-first-property-only", "view-update.remove-properties.effect",
     "remove-properties removes the first property of its list from a view.",
     "ALTER VIEW UNSET TBLPROPERTIES leaves all but one of what it names.",
     by(_only_first, read_view_update, "remove-properties", "removals")),
)  # fmt: skip
