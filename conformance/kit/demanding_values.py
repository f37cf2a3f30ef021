"""Values and definitions that clients send and that exceed the limits of some servers."""

from typing import Any

from icecheck.client import bodies

MANY = 1000
LARGE_BYTES = 100 * 1024
_PIECE = "0123456789abcdef"


def wide_schema() -> dict[str, Any]:
    """Return a schema of ``MANY`` columns whose names state their order."""
    columns = (
        bodies.struct_field(at, f"column_{at - 1:04}", "string") for at in range(1, MANY + 1)
    )
    return bodies.schema(*columns)


def large_property() -> dict[str, Any]:
    """Return the update that sets one property to a value of ``LARGE_BYTES``."""
    value = _PIECE * (LARGE_BYTES // len(_PIECE))
    return {"action": "set-properties", "updates": {"icecheck.large": value}}


def zero_based() -> dict[str, Any]:
    """Return a table definition with a column of id 0, as Spark's Java client numbers columns.

    The keys are keyword arguments of ``bodies.create_table_body``.
    """
    return {
        "table_schema": bodies.schema(
            bodies.struct_field(0, "day", "date"), bodies.struct_field(1, "id", "long")
        ),
        "spec": bodies.partition_spec(bodies.partition_field(0, "identity", "day", 1000)),
        "write_order": bodies.sort_order(0),
    }
