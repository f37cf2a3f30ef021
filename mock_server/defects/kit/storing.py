"""Building blocks for defects: keep another table or view than the requested one."""

from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from icecheck.mock_server.commits import publication
from icecheck.mock_server.core.context import Call, Context, Outcome, Registries, Reply, WriteFile
from icecheck.mock_server.core.state import TableEntry, ViewEntry, WarehouseState
from icecheck.mock_server.defects.kit.requests import Json, sent_json, sent_name
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.metadata.encoding import encode
from icecheck.mock_server.metadata.model import TableMetadata
from icecheck.mock_server.metadata.view_metadata import ViewMetadata, encode_view
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.security.vending import table_path, with_access
from icecheck.mock_server.storage.files import gzipped, is_gzip


def without_sent_table(state: WarehouseState, call: Call) -> WarehouseState:
    """Return the state without the table that a creation names."""
    if state.table(call.namespace, sent_name(call)) is None:
        return state
    return state.without_table(call.namespace, sent_name(call))


def with_metadata(
    context: Context, entry: TableEntry, metadata: TableMetadata, location: str | None = None
) -> TableEntry:
    """Return a table version that differs from its metadata file."""
    where = entry.metadata_location if location is None else location
    return publication.entry_of(context, metadata, where, encode(metadata))


def store_otherwise(
    registries: Registries,
    operation_id: str,
    change: Callable[[TableMetadata, Json], TableMetadata],
    *,
    written: bool = False,
) -> None:
    """Let an operation that makes a table keep, and answer, changed metadata.

    `change` gets the metadata that the faithful server would keep, and the sent body. With
    `written` the metadata file has the changed metadata too.
    """

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        entry = outcome.state.table(call.namespace, sent_name(call))
        if entry is None:
            return outcome
        changed = with_metadata(faithful.context, entry, change(entry.metadata, sent_json(call)))
        kept = outcome.state.with_table(call.namespace, sent_name(call), changed)
        effects = outcome.effects
        if written:
            effects = tuple(
                _rewritten(each, changed.metadata) if isinstance(each, WriteFile) else each
                for each in effects
            )
        reply = publication.load_reply(changed)
        path = table_path(call, sent_name(call))
        reply = with_access(faithful.context, call, changed.metadata, reply, path)
        return Outcome(kept, _with_more_of(outcome.reply, reply), effects)

    wrap(registries, operation_id, around)


def _with_more_of(faithful: Reply, reply: Reply) -> Reply:
    """Return an answer with what a faithful one says beside the table, such as a configuration."""
    said: Json = msgspec.json.decode(reply.body)
    more = {k: v for k, v in msgspec.json.decode(faithful.body).items() if k not in said}
    return replace(reply, body=msgspec.json.encode(said | more)) if more else reply


def _rewritten(file: WriteFile, metadata: TableMetadata) -> WriteFile:
    content = encode(metadata)
    return replace(file, content=gzipped(content) if is_gzip(file.location) else content)


def view_with(entry: ViewEntry, metadata: ViewMetadata, location: str | None = None) -> ViewEntry:
    """Return a view version that differs from its metadata file."""
    where = entry.metadata_location if location is None else location
    said = msgspec.json.encode(where)
    body = b'{"metadata-location":%b,"metadata":%b}' % (said, encode_view(metadata))
    return ViewEntry(metadata, where, Reply(200, replies.JSON_CONTENT, body))


def store_view_otherwise(
    registries: Registries,
    operation_id: str,
    change: Callable[[ViewMetadata | None, ViewMetadata, Json], ViewMetadata],
    *,
    same_location: bool = False,
) -> None:
    """Let createView or replaceView keep, and answer, changed metadata.

    `change` gets the view before, the metadata that the faithful server would keep, and the sent
    body. With `same_location` the new version has the metadata location of the old one.
    """

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        name = call.name or sent_name(call)
        before, after = state.view(call.namespace, name), outcome.state.view(call.namespace, name)
        if after is None or after is before:
            return outcome
        old = None if before is None else before.metadata
        metadata = change(old, after.metadata, sent_json(call))
        kept_at = before.metadata_location if before is not None and same_location else None
        changed = view_with(after, metadata, kept_at)
        kept = outcome.state.with_view(call.namespace, name, changed)
        return Outcome(kept, changed.reply, outcome.effects)

    wrap(registries, operation_id, around)
