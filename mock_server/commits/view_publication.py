"""Turns view metadata into a published view version: file, entry, answer."""

import msgspec

from icecheck.mock_server.commits.publication import metadata_file
from icecheck.mock_server.core.context import Context, Reply, WriteFile
from icecheck.mock_server.core.state import ViewEntry
from icecheck.mock_server.metadata.builder import canonical_location
from icecheck.mock_server.metadata.view_metadata import ViewMetadata, encode_view
from icecheck.mock_server.protocol import replies


def published_view(
    context: Context, metadata: ViewMetadata, previous: ViewEntry | None = None
) -> tuple[ViewEntry, WriteFile]:
    """Return the entry of a new view version with its LoadViewResult, and the file to write.

    Its places are checked by then. Problem 400 for a compression codec that does not exist.
    Earlier files stay: a view's metadata keeps no list of them.
    """
    content = encode_view(metadata)
    file = metadata_file(
        context,
        canonical_location(metadata.location),
        metadata.properties,
        None if previous is None else previous.metadata_location,
        content,
    )
    return view_entry(metadata, file.location, content), file


def view_entry(metadata: ViewMetadata, metadata_location: str, content: bytes) -> ViewEntry:
    """Return the entry of a view version whose file exists or will exist; `content` is its JSON."""
    location = msgspec.json.encode(metadata_location)
    body = b'{"metadata-location":%b,"metadata":%b}' % (location, content)
    return ViewEntry(metadata, metadata_location, Reply(200, replies.JSON_CONTENT, body))
