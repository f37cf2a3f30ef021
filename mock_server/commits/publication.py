"""From metadata to a published table version: file name, entry, answer bodies, entity tags."""

import hashlib
from collections.abc import Mapping

import msgspec

from icecheck.mock_server.core.context import (
    Context,
    FileEffect,
    MakeDirectory,
    RemoveFile,
    Reply,
    WriteFile,
)
from icecheck.mock_server.core.locations import METADATA_PATH, check_places
from icecheck.mock_server.core.state import TableEntry, WarehouseState
from icecheck.mock_server.metadata.builder import canonical_location
from icecheck.mock_server.metadata.encoding import encode, encode_with_snapshots
from icecheck.mock_server.metadata.model import TableMetadata
from icecheck.mock_server.metadata.properties import is_true
from icecheck.mock_server.protocol import names, problem, replies
from icecheck.mock_server.storage.files import gzipped, metadata_file_number

ALL_SNAPSHOTS = "all"
REFERENCED_SNAPSHOTS = "refs"
NAMESPACE_LOCATION = "location"

_COMPRESSION = "write.metadata.compression-codec"
_DELETE_AFTER_COMMIT = "write.metadata.delete-after-commit.enabled"
_SUFFIXES = {"none": ".metadata.json", "gzip": ".gz.metadata.json"}


def namespace_location(context: Context, state: WarehouseState, namespace: tuple[str, ...]) -> str:
    """Where the tables of a namespace go, without slashes at the end; it need not exist.

    That is its `location`, a property that clients know, if it has one that is absolute; else a
    directory below its parent's location, or the warehouse's.
    """
    directories: list[str] = []
    for depth in range(len(namespace), 0, -1):
        entry = state.namespace(namespace[:depth])
        own = "" if entry is None else entry.properties.get(NAMESPACE_LOCATION, "")
        if names.is_absolute(own):
            home = canonical_location(own) if own.strip("/") else ""
            return "/".join((home, *reversed(directories)))
        directories.append(names.directory_of(namespace[depth - 1]))
    return "/".join((context.location, *reversed(directories)))


def default_location(
    context: Context, state: WarehouseState, namespace: tuple[str, ...], name: str, uuid: str
) -> str:
    """Where a table or view goes if the client does not say: below its namespace's location.

    Part of the uuid is in it, so that a table created again, or under a name that was renamed
    away, never meets the files of the other one.
    """
    home = namespace_location(context, state, namespace)
    return f"{home}/{names.directory_of(name)}-{uuid[:8]}"


def published(
    context: Context, metadata: TableMetadata, previous: TableEntry | None = None
) -> tuple[TableEntry, tuple[FileEffect, ...]]:
    """The entry of a new table version, and what has to happen to files for it.

    Problem 400 for a compression codec that does not exist, or a place that is not allowed.
    """
    check_places(context, metadata.location, metadata.properties)
    content = encode(metadata)
    file = metadata_file(
        context,
        metadata.location,
        metadata.properties,
        None if previous is None else previous.metadata_location,
        content,
    )
    effects: list[FileEffect] = [file]
    if previous is not None and is_true(metadata.properties, _DELETE_AFTER_COMMIT):
        kept = {entry.metadata_file for entry in metadata.metadata_log}
        effects += [
            RemoveFile(entry.metadata_file)
            for entry in previous.metadata.metadata_log
            if entry.metadata_file not in kept
        ]
    return entry_of(context, metadata, file.location, content), tuple(effects)


def metadata_file(
    context: Context,
    location: str,
    properties: Mapping[str, str],
    previous_location: str | None,
    content: bytes,
) -> WriteFile:
    """The file of the next version of a table or view: numbered, and compressed if it asks so.

    `location` and `properties` are those of the object, `previous_location` its metadata file so
    far. Problem 400 for a compression codec that does not exist.
    """
    codec = properties.get(_COMPRESSION, "none").lower()
    if codec not in _SUFFIXES:
        raise problem.bad_request(f"Unknown {_COMPRESSION}: {codec}")
    number = metadata_file_number(previous_location)
    directory = properties.get(METADATA_PATH) or f"{location}/metadata"
    name = f"{number:05d}-{context.identities.new_uuid()}{_SUFFIXES[codec]}"
    compressed = gzipped(content) if codec == "gzip" else content
    return WriteFile(f"{directory.rstrip('/')}/{name}", compressed)


def entry_of(
    context: Context, metadata: TableMetadata, metadata_location: str, content: bytes
) -> TableEntry:
    """The entry of a table version whose file exists, or is about to; `content` is its JSON."""
    entry = TableEntry(metadata, metadata_location, context.identities.next_version(), {})
    _remember(entry, ALL_SNAPSHOTS, content)
    return entry


def prepared_directories(context: Context, location: str) -> tuple[MakeDirectory, ...]:
    """The directories of a new table in its warehouse: some engines do not make them."""
    if not location.startswith(context.location + "/"):
        return ()
    return (MakeDirectory(f"{location}/data"), MakeDirectory(f"{location}/metadata"))


def load_reply(entry: TableEntry, representation: str = ALL_SNAPSHOTS) -> Reply:
    """The LoadTableResult of a table version, with its entity tag."""
    reply = entry.replies.get(representation)
    if reply is None:
        content = encode_with_snapshots(
            entry.metadata, refs_only=representation == REFERENCED_SNAPSHOTS
        )
        reply = _remember(entry, representation, content)
    return reply


def commit_reply(entry: TableEntry) -> Reply:
    """The CommitTableResponse of a table version: the same body, and no entity tag (L4750)."""
    return Reply(200, replies.JSON_CONTENT, load_reply(entry).body)


def staged_body(metadata: TableMetadata) -> bytes:
    """The encoded LoadTableResult of a table that is not committed: no metadata location."""
    return b'{"metadata":%b}' % encode(metadata)


def _entity_tag(entry: TableEntry, representation: str) -> str:
    """A strong entity tag: it differs per version and per representation, and between servers."""
    digest = hashlib.blake2b(entry.metadata_location.encode(), digest_size=8).hexdigest()
    return f'"{entry.version}-{digest}-{representation}"'


def not_modified(reply: Reply, if_none_match: str) -> Reply | None:
    """The 304 in place of a load reply, if the header names its tag (RFC 9110, 13.1.2)."""
    tags = tuple(header for header in reply.headers if header[0] == "etag")
    return Reply(304, tags) if _matches(if_none_match, tags[0][1]) else None


def _matches(if_none_match: str, tag: str) -> bool:
    candidates = [candidate.strip() for candidate in if_none_match.split(",")]
    return "*" in candidates or any(candidate.removeprefix("W/") == tag for candidate in candidates)


def known_files(entry: TableEntry) -> tuple[str, ...]:
    """The files that a table version names itself: metadata, statistics, manifest lists."""
    metadata = entry.metadata
    found = [logged.metadata_file for logged in metadata.metadata_log]
    found.append(entry.metadata_location)
    found += [file.statistics_path for file in metadata.statistics]
    found += [file.statistics_path for file in metadata.partition_statistics]
    found += [snapshot.manifest_list for snapshot in metadata.snapshots if snapshot.manifest_list]
    return tuple(dict.fromkeys(found))


def _remember(entry: TableEntry, representation: str, content: bytes) -> Reply:
    location = msgspec.json.encode(entry.metadata_location)
    body = b"".join((b'{"metadata-location":', location, b',"metadata":', content, b"}"))
    headers = (*replies.JSON_CONTENT, ("etag", _entity_tag(entry, representation)))
    reply = entry.replies[representation] = Reply(200, headers, body)
    return reply
