"""The metadata of views: frozen values in the shape of their JSON, and their rules."""

from collections import Counter
from collections.abc import Iterable
from typing import Literal

import msgspec
from msgspec import Struct

from icecheck.mock_server.metadata.column_types import Int32, Int64
from icecheck.mock_server.metadata.model import Schema
from icecheck.mock_server.protocol.json_input import decode_json
from icecheck.mock_server.protocol.names import is_absolute
from icecheck.mock_server.protocol.problem import Problem, bad_request

VIEW_FORMAT_VERSION = 1
"""The only format version of views (document schema `ViewMetadata`)."""


class SQLViewRepresentation(Struct, frozen=True, gc=False, kw_only=True, rename="kebab"):
    """A view's query in one dialect; the protocol knows no representation but SQL."""

    type: Literal["sql"]
    sql: str
    dialect: str


class ViewVersion(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, rename="kebab"):
    """One definition of a view: a query in one or more dialects, and how its names are resolved.

    `default_namespace` may be empty: Spark sends an empty one when its session has none.
    """

    version_id: Int32
    timestamp_ms: Int64
    schema_id: Int32
    summary: dict[str, str]
    default_catalog: str | None = None
    default_namespace: tuple[str, ...]
    representations: tuple[SQLViewRepresentation, ...]


class ViewHistoryEntry(Struct, frozen=True, gc=False, kw_only=True, rename="kebab"):
    """The time at which a version became the current one, in milliseconds since the epoch."""

    timestamp_ms: Int64
    version_id: Int32


class ViewMetadata(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, rename="kebab"):
    """The metadata of a view (document schema `ViewMetadata`); empty properties are not written."""

    view_uuid: str
    format_version: Int32
    location: str
    properties: dict[str, str] = {}
    schemas: tuple[Schema, ...]
    current_version_id: Int32
    versions: tuple[ViewVersion, ...]
    version_log: tuple[ViewHistoryEntry, ...]


_encode = msgspec.json.Encoder().encode


def encode_view(metadata: ViewMetadata) -> bytes:
    """Write metadata as compact JSON, for a metadata file or a part of an answer."""
    return _encode(metadata)


def decode_view(content: bytes) -> ViewMetadata:
    """Read the metadata of a view; any fault in it is a 400 Problem."""
    metadata = decode_json(ViewMetadata, content)
    check_view(metadata)
    return metadata


def dialects(version: ViewVersion) -> frozenset[str]:
    """Return the dialects of a version's queries; upper and lower case are the same."""
    return frozenset(each.dialect.lower() for each in version.representations)


def check_view_format_version(format_version: int) -> None:
    """Refuse (400) every format version but the only one."""
    if format_version != VIEW_FORMAT_VERSION:
        raise bad_request(
            f"Unsupported format version: v{format_version} (supported: v{VIEW_FORMAT_VERSION})"
        )


def check_representations(version: ViewVersion) -> None:
    """Refuse (400) a version without a query, or with two in the same dialect.

    The type of the second refusal is the one that clients of the reference catalog know.
    """
    if not version.representations:
        raise bad_request("Invalid view version: it has no representations")
    counted = Counter(each.dialect.lower() for each in version.representations)
    for dialect, count in counted.items():
        if count > 1:
            raise _illegal(
                f"Invalid view version: Cannot add multiple queries for dialect {dialect}"
            )


def check_view(metadata: ViewMetadata) -> None:
    """Refuse (400) metadata that contradicts itself."""
    check_view_format_version(metadata.format_version)
    if not metadata.location:
        raise bad_request("Invalid view metadata: the location is empty")
    if not is_absolute(metadata.location):
        raise bad_request(f"Invalid location: not absolute: {metadata.location[:200]}")
    schema_ids = [schema.schema_id for schema in metadata.schemas]
    version_ids = [version.version_id for version in metadata.versions]
    _check_unique("schemas", schema_ids)
    _check_unique("versions", version_ids)
    if metadata.current_version_id not in version_ids:
        raise bad_request(f"Invalid view metadata: no version {metadata.current_version_id}")
    for version in metadata.versions:
        if version.schema_id not in schema_ids:
            raise bad_request(f"Invalid view metadata: no schema with id {version.schema_id}")
        check_representations(version)


def _check_unique(what: str, ids: Iterable[int]) -> None:
    if any(count > 1 for count in Counter(ids).values()):
        raise bad_request(f"Invalid view metadata: two {what} have the same id")


def _illegal(message: str) -> Problem:
    return bad_request(message, type="IllegalArgumentException")
