"""Checks a client's location of a table or view before anything is written or promised."""

from collections.abc import Mapping

from icecheck.mock_server.core.context import Context
from icecheck.mock_server.metadata.model import TableMetadata
from icecheck.mock_server.metadata.view_metadata import ViewMetadata
from icecheck.mock_server.protocol.problem import bad_request

METADATA_PATH = "write.metadata.path"
"""The property of a table or view that puts its metadata files elsewhere than its location."""

_OTHER_PLACES = (METADATA_PATH, "write.data.path", "write.object-storage.path")


def check_places(context: Context, location: str, properties: Mapping[str, str]) -> None:
    """Raise Problem 400 if a table or view with this location and these properties is not allowed.

    That is so if its location, or that of its metadata files, is a path on disk that the warehouse
    may not use. The other files that its metadata names (manifests, statistics) may be anywhere:
    the server touches those only where it may.
    """
    _check_location(context, location)
    elsewhere = properties.get(METADATA_PATH)
    if elsewhere:
        _check_location(context, elsewhere)


def check_changed_places(
    context: Context,
    metadata: TableMetadata | ViewMetadata,
    before: TableMetadata | ViewMetadata | None,
) -> None:
    """Check the places of a commit's outcome, unless they are those that it had `before`.

    Those were checked then, and a file that is written is looked at again.
    """
    if before is None or _metadata_places(before) != _metadata_places(metadata):
        check_places(context, metadata.location, metadata.properties)


def _metadata_places(metadata: TableMetadata | ViewMetadata) -> tuple[str, str | None]:
    return metadata.location, metadata.properties.get(METADATA_PATH)


def written_places(metadata: TableMetadata | ViewMetadata) -> list[str]:
    """Return the locations that a table or view writes to, its own first."""
    properties = metadata.properties
    elsewhere = [place for key in _OTHER_PLACES if (place := properties.get(key))]
    return [metadata.location, *elsewhere]


def _check_location(context: Context, location: str) -> None:
    try:
        context.files.check(location)
    except OSError as error:
        raise bad_request(f"Invalid location: {error}") from error
