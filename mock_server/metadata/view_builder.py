"""The draft of a view's next metadata: it exists for one commit, and `build` checks the whole."""

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from icecheck.mock_server.metadata.builder import next_id
from icecheck.mock_server.metadata.invariants import FORMAT_VERSION_MAX
from icecheck.mock_server.metadata.model import Schema
from icecheck.mock_server.metadata.properties import integer_property, is_true
from icecheck.mock_server.metadata.requested import RequestedSchema
from icecheck.mock_server.metadata.schemas import same_schema, valid_schema
from icecheck.mock_server.metadata.view_metadata import (
    ViewHistoryEntry,
    ViewMetadata,
    ViewVersion,
    check_representations,
    check_view,
    dialects,
)
from icecheck.mock_server.protocol.problem import bad_request

_LAST_ADDED = -1
_FIRST_SCHEMA_ID = 0
_FIRST_VERSION_ID = 1
_HISTORY_PROPERTY = "version.history.num-entries"
_HISTORY_DEFAULT = 10
_DROP_DIALECT_PROPERTY = "replace.drop-dialect.allowed"


def view_schema(requested: RequestedSchema, schema_id: int) -> Schema:
    """Check a view's schema and give it its id; field ids stay as sent, every fault is a 400.

    A view has no table format version, so the types of all versions may occur in it.
    """
    return valid_schema(requested, schema_id, FORMAT_VERSION_MAX)


def history_entries_max(properties: Mapping[str, str]) -> int:
    """Return the number of versions that a view keeps; Problem 400 unless it is above 0."""
    kept = integer_property(properties, _HISTORY_PROPERTY, _HISTORY_DEFAULT)
    if kept <= 0:
        raise bad_request(f"{_HISTORY_PROPERTY} must be positive but was {kept}")
    return kept


def free_version_id(sent: int, versions: tuple[ViewVersion, ...] = ()) -> int:
    """Return the id of a new version: the one sent if it is above all others, else the next one."""
    lowest = next_id((version.version_id for version in versions), _FIRST_VERSION_ID)
    return max(sent, lowest)


class ViewDraft:
    """The next metadata of a view while a commit changes it; only its frozen value is replaced.

    `metadata` is the present value, replaced by `change`. The rest is the memory of one commit: the
    objects added in it (for ids of -1, which mean "the last one added"), and the time.
    """

    __slots__ = (
        "_added_version_ids",
        "_base",
        "_last_added_schema_id",
        "_last_added_version_id",
        "_log_entry",
        "_now_ms",
        "changed",
        "metadata",
    )

    def __init__(self, base: ViewMetadata, *, now_ms: int) -> None:
        self.metadata = base
        self.changed = False
        self._base = base
        self._now_ms = now_ms
        self._added_version_ids: set[int] = set()
        self._last_added_schema_id: int | None = None
        self._last_added_version_id: int | None = None
        self._log_entry: ViewHistoryEntry | None = None

    def change(self, **members: Any) -> None:
        """Replace members of the metadata; after this the commit has an effect."""
        self.metadata = structs.replace(self.metadata, **members)
        self.changed = True

    def add_schema(self, requested: RequestedSchema) -> None:
        """Append a schema under the next id, or reuse an equal one: then nothing changes.

        "The last added" schema does not change if this one is reused.
        """
        schemas = self.metadata.schemas
        schema = view_schema(requested, 0)
        if any(same_schema(existing, schema) for existing in schemas):
            return
        schema_id = next_id((existing.schema_id for existing in schemas), _FIRST_SCHEMA_ID)
        self._last_added_schema_id = schema_id
        self.change(schemas=(*schemas, structs.replace(schema, schema_id=schema_id)))

    def add_version(self, sent: ViewVersion) -> None:
        """Append a version, or reuse an equal one: then nothing changes.

        Its schema may be -1, the last one added in this commit. A version that the view had before
        is not "the last added", so an id of -1 must not find it afterwards.
        """
        check_representations(sent)
        version = structs.replace(sent, schema_id=self._known_schema_id(sent.schema_id))
        versions = self.metadata.versions
        for existing in versions:
            if _same_definition(existing, version):
                is_new = existing.version_id in self._added_version_ids
                self._last_added_version_id = existing.version_id if is_new else None
                return
        version_id = free_version_id(sent.version_id, versions)
        self._added_version_ids.add(version_id)
        self._last_added_version_id = version_id
        self.change(versions=(*versions, structs.replace(version, version_id=version_id)))

    def set_current_version(self, sent: int) -> None:
        """Make a version current, -1 for the last one added in this commit; else 400 if unknown.

        The version log has the version's own time if the version is new, otherwise the server's. A
        commit that moves the pointer several times leaves one entry, for the last move.
        """
        refusal = "Cannot set last added version id: no version has been added"
        version = self._version(_or_last_added(sent, self._last_added_version_id, refusal))
        if version.version_id == self.metadata.current_version_id:
            return
        is_new = version.version_id in self._added_version_ids
        self._log_entry = ViewHistoryEntry(
            timestamp_ms=version.timestamp_ms if is_new else self._now_ms,
            version_id=version.version_id,
        )
        self.change(current_version_id=version.version_id)

    def build(self) -> ViewMetadata | None:
        """Return the next metadata with its logs, all rules checked (400); None if unchanged."""
        if not self.changed:
            return None
        metadata = self.metadata
        if self._log_entry is not None:
            log = (*metadata.version_log, self._log_entry)
            metadata = structs.replace(metadata, version_log=log)
        _check_dialects_are_kept(self._base, metadata)
        needed = len({*self._added_version_ids, metadata.current_version_id})
        kept = max(needed, history_entries_max(metadata.properties))
        metadata = _without_old_versions(metadata, kept)
        check_view(metadata)
        return metadata

    def _known_schema_id(self, sent: int) -> int:
        refusal = "Cannot set last added schema: no schema has been added"
        schema_id = _or_last_added(sent, self._last_added_schema_id, refusal)
        if schema_id not in {schema.schema_id for schema in self.metadata.schemas}:
            raise bad_request(f"Cannot add version with unknown schema: {schema_id}")
        return schema_id

    def _version(self, version_id: int) -> ViewVersion:
        for version in self.metadata.versions:
            if version.version_id == version_id:
                return version
        raise bad_request(f"Cannot set current version to unknown version: {version_id}")


def _or_last_added(sent: int, last_added: int | None, refusal: str) -> int:
    if sent != _LAST_ADDED:
        return sent
    if last_added is None:
        raise bad_request(refusal)
    return last_added


def _same_definition(one: ViewVersion, other: ViewVersion) -> bool:
    """Return whether two versions are equal but for id and time."""
    return one == structs.replace(other, version_id=one.version_id, timestamp_ms=one.timestamp_ms)


def _check_dialects_are_kept(base: ViewMetadata, metadata: ViewMetadata) -> None:
    if is_true(metadata.properties, _DROP_DIALECT_PROPERTY):
        return
    before, after = dialects(_current(base)), dialects(_current(metadata))
    if not before <= after:
        raise bad_request(
            f"Cannot replace view due to loss of view dialects ({_DROP_DIALECT_PROPERTY} is not "
            f"true): {', '.join(sorted(before - after))}"
        )


def _current(metadata: ViewMetadata) -> ViewVersion:
    current = metadata.current_version_id
    return next(version for version in metadata.versions if version.version_id == current)


def _without_old_versions(metadata: ViewMetadata, kept: int) -> ViewMetadata:
    """Keep the current version and the newest others, by id, and the log since the last gap."""
    if len(metadata.versions) <= kept:
        return metadata
    current = _current(metadata)
    others = [version for version in metadata.versions if version is not current]
    others.sort(key=lambda version: version.version_id, reverse=True)
    versions = (current, *others[: kept - 1])
    version_ids = {version.version_id for version in versions}
    log: list[ViewHistoryEntry] = []
    for entry in metadata.version_log:
        if entry.version_id in version_ids:
            log.append(entry)
        else:
            log.clear()  # a history has no gaps
    return structs.replace(metadata, versions=versions, version_log=tuple(log))
