"""Tables with real manifests that the suite writes if the table's files are on this machine.

Scan planning can only be judged on a table whose files are known. Planning reads manifests, not
data, so the data files that the manifests name need not exist.
"""

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import given_commit
from icecheck.conformance.kit.kept_snapshots import require_kept
from icecheck.conformance.kit.local_files import folder_here
from icecheck.conformance.kit.manifest_schemas import (
    ADDED,
    EXISTING,
    REMOVED,
    manifest_entry_schema,
    manifest_list_schema,
)
from icecheck.findings.verdict import SkipKind
from icecheck.judging.probes import DOES_NOT
from icecheck.objects.committing import given_table_of
from icecheck.replies.expect import Blocked, NotOffered

POSITION_DELETES, EQUALITY_DELETES = 1, 2
CATEGORY_ID = 2
_DELETED_PATH_ID = 2147483546  # field id of file_path in position delete files (table format)
_CONTENT_NAMES = ("data", "deletes", "deletes")
_ROWS_PER_FILE = 10

SCHEMA = bodies.schema(
    bodies.struct_field(1, "id", "long", required=True),
    bodies.struct_field(CATEGORY_ID, "category", "string"),
)
SPEC = bodies.partition_spec(bodies.partition_field(CATEGORY_ID, "identity", "category", 1000))


@dataclass(frozen=True, slots=True)
class Layout:
    """Columns and partitions of a table: its schema, its spec, the Avro types of its partitions.

    ``summaries`` are the bounds of each partition field in a manifest, where all manifests have the
    same. ``later_avro_types`` are the Avro types of the specs that are added later, in order.
    """

    table_schema: dict[str, Any]
    spec: dict[str, Any]
    avro_types: tuple[Any, ...]
    summaries: tuple[tuple[bytes, bytes], ...] = ()
    later_avro_types: tuple[tuple[Any, ...], ...] = ()


BY_CATEGORY = Layout(SCHEMA, SPEC, ("string",))


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """One file that a manifest of the suite names; ``ids`` are the bounds of its column ``id``.

    A position delete file names in ``refers_to`` the data file whose rows it deletes; with
    ``by_bounds`` it does so by the bounds of its paths, as older writers did. A deletion vector is
    in a Puffin file; ``vector`` is its offset and length in bytes. A file without statistics is not
    ``measured``. In a table with another layout than the usual one, ``partition`` holds the
    partition values and ``bounds`` those of its columns. ``facts`` add to or override the members
    of the file in its manifest entry, by their names in manifests. ``spec`` is the number of the
    spec, counted from 0; files added together have the same spec.
    """

    name: str
    category: str = "a"
    ids: tuple[int, int] = (0, 9)
    content: int = 0
    size_bytes: int = 4096
    refers_to: str = ""
    by_bounds: bool = False
    measured: bool = True
    vector: tuple[int, int] | None = None
    partition: tuple[Any, ...] | None = None
    bounds: Mapping[int, tuple[bytes, bytes]] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    spec: int = 0

    @property
    def manifest(self) -> tuple[bool, int]:
        """What the files of one manifest have in common: data or deletes, and their spec."""
        return self.content > 0, self.spec


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file with the snapshot id and sequence number of its manifest entry."""

    file: PlannedFile
    snapshot_id: int
    sequence_number: int


class ManifestFiles:
    """Holds the files of one table: each step writes manifests and commits a snapshot."""

    def __init__(
        self, catalog: Catalog, table: Table, location: str, folder: Path, layout: Layout
    ) -> None:
        self.table = table
        self._layout = layout
        self._location = location
        self._catalog = catalog
        self._folder = folder
        self._written: list[Path] = []
        self._manifests: dict[str, list[dict[str, Any]]] = {"main": []}
        self._entries: list[_Entry] = []
        self._content: dict[int, tuple[list[dict[str, Any]], list[_Entry]]] = {}
        self._snapshots = 0
        self._heads: dict[str, int] = {}
        self._held: list[list[dict[str, Any]]] | None = None

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Commit the snapshots that are added inside in one commit, at the end.

        A catalog that refuses several snapshots in a commit gets one commit for each. Raises
        Blocked when it accepts them and does not keep all of them.
        """
        self._held = []
        yield
        held, self._held = self._held, None
        every = [update for updates in held for update in updates]
        added = [each for each in every if "ref-name" not in each]
        refs = {each["ref-name"]: each for each in every if "ref-name" in each}
        try:
            self.commit(*added, *refs.values())
        except Blocked:
            for updates in held:
                self._send(updates)
        else:
            require_kept(self._catalog, self.table, [each["snapshot"] for each in added])

    def location(self, name: str) -> str:
        """Return the location that a file of this name has in the manifests."""
        return f"{self._location}/data/{name}"

    def path_bound(self, name: str) -> list[dict[str, Any]]:
        """Return a bound of the paths in a position delete file, as manifests have it."""
        return [{"key": _DELETED_PATH_ID, "value": self.location(name).encode()}]

    def names_of(self, locations: Iterable[str]) -> list[str]:
        """Return the sorted names of the files; a location outside this table stays as it is.

        Names are the same in every run; a location in a finding would make it another cause per
        run.
        """
        folder = self.location("")
        return sorted(location.removeprefix(folder) for location in locations)

    def append(self, *files: PlannedFile, ref: str = "main") -> int:
        """Commit a snapshot that adds files, data or deletes; return its id."""
        snapshot = self._next_snapshot(ref, "append" if not files[0].content else "delete")
        entries = [_Entry(f, snapshot["snapshot-id"], snapshot["sequence-number"]) for f in files]
        added = self._manifest(snapshot, [(ADDED, entry) for entry in entries])
        if ref == "main":
            self._entries += entries
        kept = self._manifests.get(ref, self._manifests["main"])
        return self._commit(snapshot, ref, [added, *kept])

    def remove(self, *names: str) -> int:
        """Commit a snapshot of main without these data or delete files; return its id."""
        snapshot = self._next_snapshot("main", "delete")
        statuses = [(REMOVED if e.file.name in names else EXISTING, e) for e in self._entries]
        self._entries = [e for e in self._entries if e.file.name not in names]
        kinds = sorted({entry.file.manifest for _, entry in statuses})
        parts = [[(s, e) for s, e in statuses if e.file.manifest == kind] for kind in kinds]
        return self._commit(snapshot, "main", [self._manifest(snapshot, p) for p in parts])

    def set_main(self, snapshot_id: int) -> None:
        """Commit that main is at an earlier snapshot, and continue from it."""
        self._move("main", snapshot_id, [bodies.snapshot_ref(snapshot_id)])
        self._manifests["main"], entries = self._content[snapshot_id]
        self._entries = [*entries]

    def commit(self, *updates: dict[str, Any]) -> None:
        """Commit updates of the table other than snapshots."""
        self.table = given_commit(self._catalog, self.table, updates)

    def spec(self, number: int) -> dict[str, Any]:
        """Return a spec of the table, counted from 0 in the order of addition."""
        specs: list[dict[str, Any]] = self.table.metadata["partition-specs"]
        known = {each["spec-id"]: each for each in specs if isinstance(each.get("spec-id"), int)}
        if number >= len(known):
            why = f"of the partition specs that were added, {len(known)} are shown with an id"
            raise Blocked("loadTable.full-metadata", why)
        return known[sorted(known)[number]]

    def forget(self) -> None:
        """Remove every file that this object wrote."""
        for path in self._written:
            path.unlink(missing_ok=True)

    def _next_snapshot(self, ref: str, operation: str) -> dict[str, Any]:
        self._snapshots += 1
        metadata = self.table.metadata
        parent = self._heads.get(ref, self._heads.get("main"))
        snapshot = bodies.snapshot(metadata, self._snapshots, parent=parent)
        path = self._folder / f"snap-{self._snapshots}.avro"
        return {
            **snapshot,
            "summary": {"operation": operation},
            "manifest-list": f"{self._location}/metadata/{path.name}",
        }

    def _commit(self, snapshot: dict[str, Any], ref: str, manifests: list[dict[str, Any]]) -> int:
        self._write(Path(snapshot["manifest-list"]).name, manifest_list_schema(), manifests, {})
        self._manifests[ref] = manifests
        snapshot_id: int = snapshot["snapshot-id"]
        self._content[snapshot_id] = (manifests, [*self._entries])
        updates = [
            {"action": "add-snapshot", "snapshot": snapshot},
            bodies.snapshot_ref(snapshot_id, ref),
        ]
        self._move(ref, snapshot_id, updates)
        return snapshot_id

    def _move(self, ref: str, snapshot_id: int, updates: list[dict[str, Any]]) -> None:
        """Commit updates that move a ref, or hold them for the one commit of several."""
        self._heads[ref] = snapshot_id
        if self._held is None:
            self._send(updates)
        else:
            self._held.append(updates)

    def _send(self, updates: list[dict[str, Any]]) -> None:
        """Commit updates of which the last one moves a ref."""
        try:
            self.table = given_commit(self._catalog, self.table, updates)
        except Blocked:
            # Without snapshots of absent files no probe can tell whether there are branches.
            status = self._catalog.exchanges[-1].status
            if updates[-1]["ref-name"] == "main" or status not in DOES_NOT:
                raise
            why = f"the catalog has no branches: it answers {status}"
            raise NotOffered(why, SkipKind.NOT_APPLICABLE) from None

    def _manifest(
        self, snapshot: dict[str, Any], statuses: Sequence[tuple[int, _Entry]]
    ) -> dict[str, Any]:
        """Write one manifest; return its entry in a manifest list."""
        first = statuses[0][1].file
        spec = self.spec(first.spec)
        names = [field["name"] for field in spec["fields"]]
        ids = [field.get("field-id") for field in spec["fields"]]
        if None in ids:
            raise Blocked("update.add-spec.effect", "a partition field has no id")
        avro_types = (self._layout.avro_types, *self._layout.later_avro_types)[first.spec]
        fields = zip(ids, names, avro_types, strict=True)
        content = first.content
        name = f"manifest-{self._snapshots}-{_CONTENT_NAMES[content]}-{first.spec}.avro"
        size = self._write(
            name,
            manifest_entry_schema([*fields]),
            [self._record(status, entry, names) for status, entry in statuses],
            {
                "schema": json.dumps(self._layout.table_schema),
                "schema-id": "0",
                "partition-spec": json.dumps(spec["fields"]),
                "partition-spec-id": str(spec["spec-id"]),
                "format-version": str(self.table.metadata["format-version"]),
                "content": _CONTENT_NAMES[content],
            },
        )
        categories = sorted(entry.file.category.encode() for _, entry in statuses)
        summaries = self._layout.summaries or [(categories[0], categories[-1])]
        counts = [sum(s == each for s, _ in statuses) for each in (ADDED, EXISTING, REMOVED)]
        sequence_numbers = [e.sequence_number for s, e in statuses if s != REMOVED]
        return {
            "manifest_path": f"{self._location}/metadata/{name}",
            "manifest_length": size,
            "partition_spec_id": spec["spec-id"],
            "content": int(content > 0),
            "sequence_number": snapshot["sequence-number"],
            "min_sequence_number": min(sequence_numbers, default=snapshot["sequence-number"]),
            "added_snapshot_id": snapshot["snapshot-id"],
            "added_files_count": counts[0],
            "existing_files_count": counts[1],
            "deleted_files_count": counts[2],
            "added_rows_count": counts[0] * _ROWS_PER_FILE,
            "existing_rows_count": counts[1] * _ROWS_PER_FILE,
            "deleted_rows_count": counts[2] * _ROWS_PER_FILE,
            "partitions": None
            if first.spec
            else [
                {"contains_null": False, "lower_bound": low, "upper_bound": high}
                for low, high in summaries
            ],
        }

    def _record(self, status: int, entry: _Entry, partition_names: Sequence[str]) -> dict[str, Any]:
        """Return a manifest entry; entries that a snapshot adds inherit its sequence number."""
        file = entry.file
        inherited = None if status == ADDED else entry.sequence_number
        offset, length = file.vector or (None, None)
        values = (file.category,) if file.partition is None else file.partition
        named = file.refers_to and not file.by_bounds
        return {
            "status": status,
            "snapshot_id": entry.snapshot_id,
            "sequence_number": inherited,
            "file_sequence_number": inherited,
            "data_file": {
                "content": file.content,
                "file_path": self.location(file.name),
                "file_format": "PARQUET" if file.vector is None else "PUFFIN",
                "partition": dict(zip(partition_names, values, strict=True)),
                "record_count": _ROWS_PER_FILE,
                "file_size_in_bytes": file.size_bytes,
                **self._statistics(file),
                "equality_ids": [1] if file.content == EQUALITY_DELETES else None,
                "referenced_data_file": self.location(file.refers_to) if named else None,
                "content_offset": offset,
                "content_size_in_bytes": length,
                **file.facts,
            },
        }

    def _statistics(self, file: PlannedFile) -> dict[str, Any]:
        """Return the column statistics of a file's manifest entry."""
        if file.by_bounds:
            path = self.path_bound(file.refers_to)
            return {"lower_bounds": path, "upper_bounds": path}
        if file.content == POSITION_DELETES or not file.measured:
            return {}
        if file.partition is not None:
            return {
                "value_counts": [{"key": at, "value": _ROWS_PER_FILE} for at in file.bounds],
                "null_value_counts": [{"key": at, "value": 0} for at in file.bounds],
                "lower_bounds": [{"key": at, "value": b[0]} for at, b in file.bounds.items()],
                "upper_bounds": [{"key": at, "value": b[1]} for at, b in file.bounds.items()],
            }
        low, high = (bound.to_bytes(8, "little", signed=True) for bound in file.ids)
        category = file.category.encode()
        return {
            "value_counts": _by_column(_ROWS_PER_FILE, _ROWS_PER_FILE),
            "null_value_counts": _by_column(0, 0),
            "lower_bounds": _by_column(low, category),
            "upper_bounds": _by_column(high, category),
        }

    def _write(
        self, name: str, schema: Any, records: list[dict[str, Any]], metadata: dict[str, str]
    ) -> int:
        import fastavro

        buffer = io.BytesIO()
        try:
            fastavro.writer(buffer, schema, records, codec="deflate", metadata=metadata)
        except OverflowError:
            why = "the catalog's metadata has a number beyond 64 bits, which no manifest can hold"
            raise NotOffered(why) from None
        path = self._folder / name
        self._written.append(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(buffer.getvalue())
        except OSError as error:
            raise NotOffered(f"cannot write beside the table's metadata: {error}") from error
        return len(buffer.getvalue())


@contextmanager
def given_files(
    catalog: Catalog, format_version: int = 2, layout: Layout = BY_CATEGORY
) -> Iterator[ManifestFiles]:
    """Yield a partitioned table of this format version, 2 or 3, to fill with manifests.

    Written files are removed at the end. Raises NotOffered when the table's files are not on this
    machine, that is when the metadata file that the catalog wrote cannot be read here.
    """
    table = given_table_of(
        catalog, format_version, table_schema=layout.table_schema, spec=layout.spec
    )
    location = table.metadata.get("location")
    if not isinstance(location, str):
        raise Blocked("schema.createTable.200", "the answer has no usable table metadata")
    location = location.rstrip("/")
    files = ManifestFiles(catalog, table, location, folder_here(catalog, table, location), layout)
    try:
        yield files
    finally:
        files.forget()


def _by_column(of_id: Any, of_category: Any) -> list[dict[str, Any]]:
    return [{"key": 1, "value": of_id}, {"key": CATEGORY_ID, "value": of_category}]
