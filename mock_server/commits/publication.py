"""Turns metadata into a published table version: file name, entry, answer bodies, entity tags."""

import hashlib
from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from icecheck.mock_server.core.context import (
    Context,
    FileEffect,
    MakeDirectory,
    RemoveFile,
    Reply,
    WriteFile,
)
from icecheck.mock_server.core.locations import METADATA_PATH
from icecheck.mock_server.core.state import TableEntry
from icecheck.mock_server.metadata.encoding import (
    Grown,
    encode,
    encode_grown,
    encode_with_snapshots,
)
from icecheck.mock_server.metadata.model import TableMetadata
from icecheck.mock_server.metadata.properties import is_true
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.storage.files import gzipped, metadata_file_number

ALL_SNAPSHOTS = "all"
REFERENCED_SNAPSHOTS = "refs"

_COMPRESSION = "write.metadata.compression-codec"
_DELETE_AFTER_COMMIT = "write.metadata.delete-after-commit.enabled"
NO_PLACES: Mapping[str, slice] = MappingProxyType({})
_SUFFIXES = {"none": ".metadata.json", "gzip": ".gz.metadata.json"}


def published(
    context: Context, metadata: TableMetadata, previous: TableEntry | None = None
) -> tuple[TableEntry, tuple[FileEffect, ...]]:
    """Return the entry of a new table version and the effects on files that it needs.

    Its places are checked by then. Problem 400 for a compression codec that does not exist.
    """
    content, places = encode_grown(metadata, {} if previous is None else previous.grown)
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
    return entry_of(context, metadata, file.location, content, places), tuple(effects)


def metadata_file(
    context: Context,
    location: str,
    properties: Mapping[str, str],
    previous_location: str | None,
    content: bytes,
) -> WriteFile:
    """Return the next metadata file of a table or view: numbered, and compressed if asked for.

    `location` and `properties` are those of the object; `previous_location` is its present metadata
    file. Problem 400 for a compression codec that does not exist.
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
    context: Context,
    metadata: TableMetadata,
    metadata_location: str,
    content: bytes | None = None,
    places: Mapping[str, slice] = NO_PLACES,
) -> TableEntry:
    """Return the entry of a table version whose file exists or will exist.

    `content` is its JSON, where that is known: otherwise the first answer with it is encoded then.
    `places` are those of its long lists in the JSON.
    """
    grown: dict[str, Grown] = {}
    version = context.identities.next_version()
    entry = TableEntry(metadata, metadata_location, version, {}, grown)
    if content is not None:
        body = _remember(entry, ALL_SNAPSHOTS, content).body
        within = memoryview(body)[len(body) - 1 - len(content) :]
        grown.update({k: Grown(getattr(metadata, k), within[at]) for k, at in places.items()})
    return entry


def prepared_directories(
    context: Context, metadata: TableMetadata, *, is_staged: bool = False
) -> tuple[MakeDirectory, ...]:
    """Return the directories to make for a new table: some engines do not make them.

    That of the metadata is made for the file that is written to it, which a staged table has not.
    """
    if not metadata.location.startswith(context.location + "/"):
        return ()
    has_no_file = is_staged or metadata.properties.get(METADATA_PATH)
    return (MakeDirectory(metadata.location, ("data",) if has_no_file else ("data", "metadata")),)


def load_reply(entry: TableEntry, representation: str = ALL_SNAPSHOTS) -> Reply:
    """Return the LoadTableResult of a table version, with its entity tag."""
    reply = entry.replies.get(representation)
    if reply is None:
        content = encode_with_snapshots(
            entry.metadata, refs_only=representation == REFERENCED_SNAPSHOTS
        )
        reply = _remember(entry, representation, content)
    return reply


def commit_reply(entry: TableEntry) -> Reply:
    """Return the CommitTableResponse of a table version: the same body without a tag (L4750)."""
    return Reply(200, replies.JSON_CONTENT, load_reply(entry).body)


def staged_body(metadata: TableMetadata) -> bytes:
    """Return the encoded LoadTableResult of a staged table: it has no metadata location."""
    return b'{"metadata":%b}' % encode(metadata)


def _entity_tag(entry: TableEntry, representation: str) -> str:
    """Return a strong entity tag, different per version, per representation and between servers."""
    digest = hashlib.blake2b(entry.metadata_location.encode(), digest_size=8).hexdigest()
    return f'"{entry.version}-{digest}-{representation}"'


def not_modified(reply: Reply, if_none_match: str) -> Reply | None:
    """Return the 304 in place of a load reply if the header names its tag (RFC 9110, 13.1.2)."""
    tags = tuple(header for header in reply.headers if header[0] == "etag")
    return Reply(304, tags) if _matches(if_none_match, tags[0][1]) else None


def _matches(if_none_match: str, tag: str) -> bool:
    candidates = [candidate.strip() for candidate in if_none_match.split(",")]
    return "*" in candidates or any(candidate.removeprefix("W/") == tag for candidate in candidates)


def known_files(entry: TableEntry) -> tuple[str, ...]:
    """Return the files that a table version itself names: metadata, statistics, manifest lists."""
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
