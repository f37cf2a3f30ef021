"""What a generated commit may name: what the table has, and what the commit added so far."""

from dataclasses import dataclass, field
from typing import Any

from tests.interop.oracle.answer import Json

UUID_OF_TABLE = "$uuid"
"""Stands for the uuid that a side gave the table."""


@dataclass(slots=True)
class Known:
    """Ids of a table while a commit is drawn; it need not be exact, only near."""

    format_version: int = 2
    schemas: list[Json] = field(default_factory=list)
    current_schema_id: int = 0
    specs: list[Json] = field(default_factory=list)
    default_spec_id: int = 0
    orders: list[Json] = field(default_factory=list)
    default_order_id: int = 0
    snapshot_ids: list[int] = field(default_factory=list)
    current_snapshot_id: int | None = None
    refs: dict[str, Json] = field(default_factory=dict)
    last_sequence_number: int = 0
    next_row_id: int = 0
    last_column_id: int = 0
    last_partition_id: int = 999
    statistics: list[int] = field(default_factory=list)
    partition_statistics: list[int] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    properties: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, table: Json | None) -> "Known":
        """What a table's metadata names; nothing for a table that does not exist."""
        if table is None:
            return cls()
        current = table["current-snapshot-id"]
        return cls(
            format_version=table["format-version"],
            schemas=list(table["schemas"]),
            current_schema_id=table["current-schema-id"],
            specs=list(table["partition-specs"]),
            default_spec_id=table["default-spec-id"],
            orders=list(table["sort-orders"]),
            default_order_id=table["default-sort-order-id"],
            snapshot_ids=[s["snapshot-id"] for s in table["snapshots"]],
            current_snapshot_id=None if current in {None, -1} else current,
            refs=dict(table["refs"]),
            last_sequence_number=table.get("last-sequence-number", 0),
            next_row_id=table.get("next-row-id", 0),
            last_column_id=table["last-column-id"],
            last_partition_id=table["last-partition-id"],
            statistics=[s["snapshot-id"] for s in table["statistics"]],
            partition_statistics=[s["snapshot-id"] for s in table["partition-statistics"]],
            keys=[k["key-id"] for k in table.get("encryption-keys", [])],
            properties=list(table["properties"]),
        )

    @property
    def schema(self) -> Json:
        """The current schema; an empty one if there is none."""
        nothing: Json = {"type": "struct", "schema-id": 0, "fields": []}
        return next((s for s in self.schemas if _id(s) == self.current_schema_id), nothing)

    @property
    def partition_fields(self) -> list[Json]:
        """The fields of all specs."""
        return [each for spec in self.specs for each in spec["fields"]]

    def schema_ids(self) -> list[int]:
        """The ids of the schemas."""
        return [_id(schema) for schema in self.schemas]

    def spec_ids(self) -> list[int]:
        """The ids of the partition specs."""
        return [spec["spec-id"] for spec in self.specs]

    def order_ids(self) -> list[int]:
        """The ids of the sort orders."""
        return [order["order-id"] for order in self.orders]


def _id(schema: Json) -> Any:
    return schema["schema-id"]
