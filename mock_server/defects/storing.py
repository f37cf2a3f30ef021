"""Building blocks for defects of tables: keep another table than was asked for."""

from collections.abc import Callable
from typing import Any

from icecheck.mock_server import publication
from icecheck.mock_server.context import Call, Context, Operation, Outcome, Registries
from icecheck.mock_server.defects.rewriting import sent_json, wrap
from icecheck.mock_server.metadata import encode
from icecheck.mock_server.model import TableMetadata
from icecheck.mock_server.state import TableEntry, WarehouseState

__all__ = ["Body", "sent_name", "store_otherwise", "with_metadata", "without_sent_table"]

Body = dict[str, Any]


def sent_name(call: Call) -> str:
    """The name in the body of a request that makes a table; empty if there is none."""
    name = sent_json(call).get("name")
    return name if isinstance(name, str) else ""


def without_sent_table(state: WarehouseState, call: Call) -> WarehouseState:
    """The state without the table that a creation names, if there is one."""
    if state.table(call.namespace, sent_name(call)) is None:
        return state
    return state.without_table(call.namespace, sent_name(call))


def with_metadata(
    context: Context, entry: TableEntry, metadata: TableMetadata, location: str | None = None
) -> TableEntry:
    """A table version that says something else than its metadata file does."""
    where = entry.metadata_location if location is None else location
    return publication.entry_of(context, metadata, where, encode(metadata))


def store_otherwise(
    registries: Registries,
    operation_id: str,
    change: Callable[[TableMetadata, Body], TableMetadata],
) -> None:
    """Let an operation that makes a table keep, and answer, changed metadata.

    `change` gets what the faithful server would keep and the body that was sent.
    """

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        entry = outcome.state.table(call.namespace, sent_name(call))
        if entry is None:
            return outcome
        changed = with_metadata(context, entry, change(entry.metadata, sent_json(call)))
        kept = outcome.state.with_table(call.namespace, sent_name(call), changed)
        return Outcome(kept, publication.load_reply(changed), outcome.effects)

    wrap(registries, operation_id, around)
