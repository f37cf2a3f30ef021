"""Turns a createView request into the first metadata of a view."""

from msgspec import Struct, structs

from icecheck.mock_server.metadata.requested import RequestedSchema
from icecheck.mock_server.metadata.view_builder import (
    free_version_id,
    history_entries_max,
    view_schema,
)
from icecheck.mock_server.metadata.view_metadata import (
    VIEW_FORMAT_VERSION,
    ViewHistoryEntry,
    ViewMetadata,
    ViewVersion,
    check_view,
)
from icecheck.mock_server.protocol.json_input import decode_json
from icecheck.mock_server.protocol.null_containers import CREATE_VIEW


class CreateViewRequest(Struct, frozen=True, gc=False, kw_only=True, rename="kebab"):
    """The body of createView; the document requires `properties`, this server does not."""

    name: str
    location: str | None = None
    schema: RequestedSchema
    view_version: ViewVersion
    properties: dict[str, str] | None = None


def decode_create_view(body: bytes) -> CreateViewRequest:
    """Read a request body; anything malformed is a 400 Problem."""
    return decode_json(CreateViewRequest, body, CREATE_VIEW)


def new_view_metadata(request: CreateViewRequest, *, uuid: str, location: str) -> ViewMetadata:
    """Build the first metadata; `location` is the default, used when the request names none.

    A location is kept as sent, unlike a table's. The version is kept as sent too, except that the
    server assigns its schema id (L3564), and an id below 1, which no version can have, becomes 1.
    Every fault of the request is a 400 Problem.
    """
    schema = view_schema(request.schema, 0)
    version = structs.replace(
        request.view_version,
        schema_id=schema.schema_id,
        version_id=free_version_id(request.view_version.version_id),
    )
    entry = ViewHistoryEntry(timestamp_ms=version.timestamp_ms, version_id=version.version_id)
    metadata = ViewMetadata(
        view_uuid=uuid,
        format_version=VIEW_FORMAT_VERSION,
        location=location if request.location is None else request.location,
        properties=request.properties or {},
        schemas=(schema,),
        current_version_id=version.version_id,
        versions=(version,),
        version_log=(entry,),
    )
    history_entries_max(metadata.properties)
    check_view(metadata)
    return metadata
