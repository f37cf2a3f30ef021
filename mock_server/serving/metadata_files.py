"""The metadata files of what a warehouse serves: never lost, and never written over by another."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from icecheck.mock_server.core.context import Context
from icecheck.mock_server.core.sorted_map import SortedMap
from icecheck.mock_server.core.state import (
    NamespaceEntry,
    TableEntry,
    ViewEntry,
    WarehouseState,
)
from icecheck.mock_server.metadata.encoding import decode, encode
from icecheck.mock_server.metadata.view_metadata import decode_view, encode_view
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.storage.files import (
    Files,
    gzipped,
    is_gzip,
    metadata_file_number,
)
from icecheck.mock_server.storage.places import one_spelling

METADATA_FILE_NAME_PART = ".metadata.json"


class MetadataFile(msgspec.Struct, frozen=True):
    """A metadata file to be written: its place, its JSON, and the files of its warehouse."""

    location: str
    content: bytes
    files: Files


def write_again(before: WarehouseState, after: WarehouseState, files: Files) -> None:
    """Write the metadata files of what a state brings back where they are missing or differ.

    OSError if one cannot be written.
    """
    for entry in _brought_back(before, after):
        content = encoded(entry)
        if _held_at(files, entry) != content:
            _write(files, entry.metadata_location, content)


def unused_location(
    entry: TableEntry | ViewEntry, taken: Mapping[str, MetadataFile], context: Context
) -> str:
    """Return the location of an entry, or a new one beside it if other metadata has that already.

    `taken` are files that are still to be written, by location.
    OSError if the warehouse may not write there.
    """
    location = entry.metadata_location
    context.files.check(location)
    content = encoded(entry)
    held = taken[location].content if location in taken else _held_at(context.files, entry)
    if held in (None, content):
        return location
    suffix = f".gz{METADATA_FILE_NAME_PART}" if is_gzip(location) else METADATA_FILE_NAME_PART
    name = f"{metadata_file_number(location):05d}-{context.identities.new_uuid()}{suffix}"
    return f"{location.rpartition('/')[0]}/{name}"


@contextlib.contextmanager
def written_for(wanted: Iterable[MetadataFile]) -> Iterator[None]:
    """Write metadata files for what the block publishes, except those that are there.

    After an OSError, also of the block, none of them stays.
    """
    written: list[MetadataFile] = []
    try:
        for each in wanted:
            if _bytes_at(each.files, each.location) is None:
                _write(each.files, each.location, each.content)
                written.append(each)
        yield
    except OSError:
        for each in written:
            each.files.remove(each.location)
        raise


def is_served(state: WarehouseState, location: str) -> bool:
    """Return whether a file is the present metadata of a table or view, however it is spelled."""
    name = location.rpartition("/")[2]
    return any(
        served == location or _is_same_file(served, location)
        for served in _locations(state)
        if served.rpartition("/")[2] == name
    )


def encoded(entry: TableEntry | ViewEntry) -> bytes:
    """Return the metadata of a table or view as the JSON of its file."""
    if isinstance(entry, TableEntry):
        return encode(entry.metadata)
    return encode_view(entry.metadata)


def _brought_back(
    before: WarehouseState, after: WarehouseState
) -> Iterator[TableEntry | ViewEntry]:
    """Return the tables and views of a state that the earlier one has not, or not so."""
    for namespace, entry in after.namespaces.changes_since(before.namespaces):
        if entry is not None:
            held = before.namespace(namespace) or NamespaceEntry()
            yield from _set_since(held.tables, entry.tables)
            yield from _set_since(held.views, entry.views)


def _set_since(
    before: SortedMap[str, TableEntry] | SortedMap[str, ViewEntry],
    after: SortedMap[str, TableEntry] | SortedMap[str, ViewEntry],
) -> Iterator[TableEntry | ViewEntry]:
    for _, entry in after.changes_since(before):  # type: ignore[arg-type]
        if entry is not None:
            yield entry


def _held_at(files: Files, entry: TableEntry | ViewEntry) -> bytes | None:
    """Return the metadata at an entry's location in this release's spelling; None without a file.

    What is no metadata of its kind is b"".
    """
    content = _bytes_at(files, entry.metadata_location)
    if not content or content == encoded(entry):
        return content
    try:
        if isinstance(entry, TableEntry):
            return encode(decode(content))
        return encode_view(decode_view(content))
    except Problem:
        return b""


def _bytes_at(files: Files, location: str) -> bytes | None:
    """Return the content of a file, b"" if it cannot be read; None if there is none."""
    try:
        return files.read(location)
    except FileNotFoundError:
        return None
    except OSError:
        return b""


def _write(files: Files, location: str, content: bytes) -> None:
    files.write(location, gzipped(content) if is_gzip(location) else content)


def _locations(state: WarehouseState) -> Iterator[str]:
    for _, entry in state.namespaces.after():
        for _, table in entry.tables.after():
            yield table.metadata_location
        for _, view in entry.views.after():
            yield view.metadata_location


def _is_same_file(one: str, other: str) -> bool:
    return one_spelling(one) == one_spelling(other)
