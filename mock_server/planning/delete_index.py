"""Finds the delete files for each data file (table format, Scan Planning, scope rules)."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from icecheck.mock_server.metadata.schemas import Column
from icecheck.mock_server.planning.content_files import Bounds, ContentFile
from icecheck.mock_server.planning.failure import PlanningFailure
from icecheck.mock_server.planning.filters.projection import BoundPartitionSpec
from icecheck.mock_server.planning.filters.single_values import Value, is_nan, value_of_bound

_FILE_PATH_ID = 2147483546
"""The reserved field id of `file_path` in position delete files."""

_PartitionKey: TypeAlias = tuple[int, tuple[Value | str | None, ...]]


class DeleteIndex:
    """Delete files, grouped by the data files that they apply to, and ordered by sequence number.

    PlanningFailure for two deletion vectors of one data file: the format forbids it.
    """

    __slots__ = ("_by_partition", "_by_path", "_columns", "_equality", "_vectors")

    def __init__(
        self,
        deletes: Iterable[ContentFile],
        specs: Mapping[int, BoundPartitionSpec],
        columns: Mapping[int, Column],
    ) -> None:
        self._columns = columns
        self._vectors: dict[str, ContentFile] = {}
        self._by_path: dict[str, list[ContentFile]] = {}
        self._by_partition: dict[_PartitionKey, list[ContentFile]] = {}
        self._equality: dict[_PartitionKey | None, list[ContentFile]] = {}
        for delete in sorted(deletes, key=_sequence_number):
            if delete.is_deletion_vector:
                self._add_vector(delete)
            elif delete.content == "equality-deletes":
                unpartitioned = specs[delete.spec_id].is_unpartitioned
                key = None if unpartitioned else _partition_key(delete)
                self._equality.setdefault(key, []).append(delete)
            elif (path := _only_path(delete)) is not None:
                self._by_path.setdefault(path, []).append(delete)
            else:
                self._by_partition.setdefault(_partition_key(delete), []).append(delete)

    def applying_to(self, file: ContentFile) -> tuple[ContentFile, ...]:
        """Return the delete files that a reader of this data file has to apply.

        Equality deletes apply to older files only; position deletes also to those of the same
        commit. A deletion vector replaces all position deletes of its file.
        """
        key = _partition_key(file)
        applying = [
            delete
            for group in (None, key)
            for delete in _since(self._equality.get(group), file.sequence_number + 1)
            if self._could_delete_rows(delete, file)
        ]
        vector = self._vectors.get(file.file_path)
        if vector is not None and vector.sequence_number >= file.sequence_number:
            return (*applying, vector)
        in_partition = _since(self._by_partition.get(key), file.sequence_number)
        applying += (delete for delete in in_partition if _could_name(delete, file.file_path))
        applying += _since(self._by_path.get(file.file_path), file.sequence_number)
        return tuple(applying)

    def _add_vector(self, vector: ContentFile) -> None:
        path = vector.referenced_data_file
        if path is None:
            raise PlanningFailure.unreadable(
                vector.file_path, "a deletion vector without a referenced data file"
            )
        if path in self._vectors:
            raise PlanningFailure.unreadable(
                vector.file_path, f"more than one deletion vector for {path}"
            )
        self._vectors[path] = vector

    def _could_delete_rows(self, delete: ContentFile, file: ContentFile) -> bool:
        """Return whether, by the metrics, a row of the file could equal one of the deletes."""
        columns = (self._columns.get(column_id) for column_id in delete.equality_ids or ())
        return all(column is None or _could_share(column, delete, file) for column in columns)


def _sequence_number(file: ContentFile) -> int:
    return file.sequence_number


def _since(deletes: list[ContentFile] | None, sequence_number: int) -> list[ContentFile]:
    if deletes is None:
        return []
    return deletes[bisect_left(deletes, sequence_number, key=_sequence_number) :]


def _partition_key(file: ContentFile) -> _PartitionKey:
    # NaN is the same partition as NaN; 0.0 and -0.0 are different ones.
    exact = (repr(value) if isinstance(value, float) else value for value in file.partition)
    return file.spec_id, tuple(exact)


def _only_path(delete: ContentFile) -> str | None:
    """Return the one data file of position deletes, if the manifest names it."""
    if delete.referenced_data_file is not None:
        return delete.referenced_data_file
    lower, upper = _path_bounds(delete)
    return lower if lower is not None and lower == upper else None


def _could_name(delete: ContentFile, path: str) -> bool:
    lower, upper = _path_bounds(delete)
    return lower is None or upper is None or lower <= path <= upper


def _path_bounds(delete: ContentFile) -> tuple[str | None, str | None]:
    return _path_bound(delete.lower_bounds), _path_bound(delete.upper_bounds)


def _path_bound(bounds: Bounds | None) -> str | None:
    data = None if bounds is None else bounds.get(_FILE_PATH_ID)
    value = None if data is None else value_of_bound("string", data)
    return value if isinstance(value, str) else None


def _could_share(column: Column, delete: ContentFile, file: ContentFile) -> bool:
    """Return whether a value of the column could be in both files."""
    if not isinstance(column.type, str):
        return True
    if not (column.required and column.reachable_as_required):
        if _could_have_null(delete, column.id) and _could_have_null(file, column.id):
            return True
        if _only_nulls(delete, column.id) or _only_nulls(file, column.id):
            return False
    if column.type == "uuid":
        return True  # bounds may be in either of two orders
    of_file = _range(column.type, column.id, file)
    of_deletes = _range(column.type, column.id, delete)
    if of_file is None or of_deletes is None:
        return True
    overlapping = of_file[0] <= of_deletes[1] and of_deletes[0] <= of_file[1]  # type: ignore[operator]
    return bool(overlapping)


def _range(type_: str, column_id: int, file: ContentFile) -> tuple[Value, Value] | None:
    lower = _bound(type_, column_id, file.lower_bounds)
    upper = _bound(type_, column_id, file.upper_bounds)
    return None if lower is None or upper is None else (lower, upper)


def _bound(type_: str, column_id: int, bounds: Bounds | None) -> Value | None:
    data = None if bounds is None else bounds.get(column_id)
    value = None if data is None else value_of_bound(type_, data)
    return None if is_nan(value) else value


def _could_have_null(file: ContentFile, column_id: int) -> bool:
    return (file.null_value_counts or {}).get(column_id) != 0


def _only_nulls(file: ContentFile, column_id: int) -> bool:
    values = (file.value_counts or {}).get(column_id, 0)
    return values > 0 and values == (file.null_value_counts or {}).get(column_id)
