"""Keeps what the warehouses below a root hold, so that the next server there begins with it."""

import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from icecheck.mock_server.commits.publication import entry_of
from icecheck.mock_server.commits.view_publication import view_entry
from icecheck.mock_server.core.context import Context
from icecheck.mock_server.core.sorted_map import SortedMap
from icecheck.mock_server.core.state import (
    NamespaceEntry,
    TableEntry,
    ViewEntry,
    WarehouseState,
)
from icecheck.mock_server.core.state_changes import (
    Publication,
    SetAnswer,
    SetNamespace,
    SetObject,
    WarehouseContent,
    apply,
    changes_between,
)
from icecheck.mock_server.metadata.encoding import decode
from icecheck.mock_server.metadata.view_metadata import decode_view
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.storage.files import gzipped, is_gzip
from icecheck.mock_server.storage.state_file import StateFile


class KeptState:
    """The names and metadata locations of all warehouses below a root, kept in a file of it.

    ValueError if another process has the root, or if what is kept cannot be understood.
    """

    __slots__ = ("_content", "_file", "_lock")

    def __init__(self, root: Path) -> None:
        self._lock = threading.Lock()
        self._content: dict[str, WarehouseContent] = {}
        self._file = StateFile(root)
        try:
            self._read(self._file.read())
        except ValueError:
            self._file.close()
            raise

    @property
    def starts(self) -> int:
        """How many servers have had this root before."""
        return self._file.starts

    @property
    def ended(self) -> bool:
        """Whether it was closed."""
        return self._file.is_closed

    @property
    def warehouses(self) -> tuple[str, ...]:
        """The names of the warehouses that hold anything."""
        return tuple(
            name for name, content in self._content.items() if content.namespaces or content.answers
        )

    def begin(self) -> None:
        """Begin to keep what changes; the file then has one line for each warehouse.

        A warehouse that is opened from then on begins empty.
        """
        self._file.rewrite([*self._lines()])
        # The file goes on from here: what was read is not what a removed warehouse ended with.
        self._content = {}

    def state_of(self, warehouse: str, context: Context) -> WarehouseState:
        """Return the kept state of a warehouse, read from its metadata files; empty without any.

        Answers that have expired since are forgotten in what is kept too. ValueError if one of the
        files is missing or no metadata.
        """
        state = WarehouseState()
        content = self._content.get(warehouse, WarehouseContent())
        for namespace, held in sorted(content.namespaces.items()):
            tables: list[tuple[str, TableEntry]] = []
            views: list[tuple[str, ViewEntry]] = []
            for kept in held.objects.values():
                match object_entry(kept, _content_of(kept, context), context):
                    case TableEntry() as table:
                        tables.append((kept.name, table))
                    case ViewEntry() as view:
                        views.append((kept.name, view))
            entry = NamespaceEntry(held.properties, SortedMap.of(tables), SortedMap.of(views))
            state = state.with_whole_namespace(namespace, entry)
        keyed, now_ms = state.keyed, context.clock.now_ms()
        for each in content.answers.values():
            keyed = keyed.with_answer(each.caller, each.key, each.answer, now_ms)
        content.answers = {k: a for k, a in content.answers.items() if keyed.by_key.get(k)}
        return state.with_keyed(keyed)

    def record(self, changed: Iterable[tuple[str, WarehouseState, WarehouseState]]) -> None:
        """Keep what leads from one state to the next: warehouse, before, after; OSError if not.

        All of it is one line, so that the next server has the whole or nothing, however this one
        ends.
        """
        publications = [
            Publication(warehouse, changes)
            for warehouse, before, after in changed
            if (changes := changes_between(before, after))
        ]
        if publications:
            line = publications if len(publications) > 1 else publications[0]
            with self._lock:
                self._file.append(msgspec.json.encode(line))

    def close(self) -> None:
        """Let another process have the root."""
        self._file.close()

    def _read(self, lines: list[bytes]) -> None:
        for number, line in enumerate(lines):
            try:
                read = msgspec.json.decode(line, type=Publication | list[Publication])
                for each in [read] if isinstance(read, Publication) else read:
                    content = self._content.setdefault(each.warehouse, WarehouseContent())
                    apply(content, each.changes)
            except (msgspec.DecodeError, KeyError) as error:
                where = self._file.line_words(number)
                raise ValueError(
                    f"{where} is damaged ({error}): remove it, or what follows it"
                ) from error

    def _lines(self) -> Iterator[bytes]:
        for warehouse, content in self._content.items():
            changes: list[SetNamespace | SetObject | SetAnswer] = []
            for namespace, held in content.namespaces.items():
                changes.append(SetNamespace(namespace, held.properties))
                changes += held.objects.values()
            changes += content.answers.values()
            if changes:
                yield msgspec.json.encode(Publication(warehouse, tuple(changes)))


def _content_of(kept: SetObject, context: Context) -> bytes:
    """Return the JSON of an object's metadata; ValueError if its file cannot be read."""
    location = kept.metadata_location
    if kept.metadata is not None:
        content = kept.metadata
        context.files.write(location, gzipped(content) if is_gzip(location) else content)
        return content
    try:
        return context.files.read(location)
    except OSError as error:
        raise ValueError(f"{_words(kept)} cannot be served: {error}; put its file back") from error


def object_entry(kept: SetObject, content: bytes, context: Context) -> TableEntry | ViewEntry:
    """Return the version of a table or view with this metadata; ValueError for no metadata."""
    location = kept.metadata_location
    try:
        if kept.kind == "view":
            return view_entry(decode_view(content), location, content)
        return entry_of(context, decode(content), location)
    except Problem as problem:
        raise ValueError(f"{_words(kept)} cannot be served: {problem.message}") from problem


def _words(kept: SetObject) -> str:
    return f"{kept.kind} {'.'.join(kept.namespace)}.{kept.name} ({kept.metadata_location})"
