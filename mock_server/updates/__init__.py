"""The 23 updates of a table: one class each, with its fields, documentation and behaviour."""

from typing import Any, TypeAlias, get_args

from icecheck.mock_server.updates.encryption_keys import (
    AddEncryptionKeyUpdate,
    RemoveEncryptionKeyUpdate,
)
from icecheck.mock_server.updates.partition_specs import (
    AddPartitionSpecUpdate,
    RemovePartitionSpecsUpdate,
    SetDefaultSpecUpdate,
)
from icecheck.mock_server.updates.schemas import (
    AddSchemaUpdate,
    RemoveSchemasUpdate,
    SetCurrentSchemaUpdate,
)
from icecheck.mock_server.updates.snapshots import (
    AddSnapshotUpdate,
    RemoveSnapshotRefUpdate,
    RemoveSnapshotsUpdate,
    SetSnapshotRefUpdate,
)
from icecheck.mock_server.updates.sort_orders import AddSortOrderUpdate, SetDefaultSortOrderUpdate
from icecheck.mock_server.updates.statistics import (
    RemovePartitionStatisticsUpdate,
    RemoveStatisticsUpdate,
    SetPartitionStatisticsUpdate,
    SetStatisticsUpdate,
)
from icecheck.mock_server.updates.table import (
    AssignUUIDUpdate,
    RemovePropertiesUpdate,
    SetLocationUpdate,
    SetPropertiesUpdate,
    UpgradeFormatVersionUpdate,
)

__all__ = ["UPDATES", "TableUpdate"]

TableUpdate: TypeAlias = (
    AssignUUIDUpdate
    | UpgradeFormatVersionUpdate
    | AddSchemaUpdate
    | SetCurrentSchemaUpdate
    | AddPartitionSpecUpdate
    | SetDefaultSpecUpdate
    | AddSortOrderUpdate
    | SetDefaultSortOrderUpdate
    | AddSnapshotUpdate
    | SetSnapshotRefUpdate
    | RemoveSnapshotsUpdate
    | RemoveSnapshotRefUpdate
    | SetLocationUpdate
    | SetPropertiesUpdate
    | RemovePropertiesUpdate
    | SetStatisticsUpdate
    | RemoveStatisticsUpdate
    | SetPartitionStatisticsUpdate
    | RemovePartitionStatisticsUpdate
    | RemovePartitionSpecsUpdate
    | RemoveSchemasUpdate
    | AddEncryptionKeyUpdate
    | RemoveEncryptionKeyUpdate
)

UPDATES: dict[str, type[Any]] = {
    str(update.__struct_config__.tag): update for update in get_args(TableUpdate)
}
"""Action to class, for every update that a table accepts."""
