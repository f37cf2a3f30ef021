"""Finds the columns of a schema by the names in requests (L4402-L4417)."""

from collections.abc import Iterable

from icecheck.mock_server.metadata.model import Schema
from icecheck.mock_server.metadata.schemas import Column, columns_by_id
from icecheck.mock_server.protocol.problem import bad_request

ALL_COLUMNS = "*"

_METADATA_COLUMNS = frozenset(
    {
        "_file",
        "_pos",
        "_deleted",
        "_spec_id",
        "_partition",
        "_row_id",
        "_last_updated_sequence_number",
        "_change_type",
        "_change_ordinal",
        "_commit_snapshot_id",
    }
)
"""The names that engines select besides the table's columns (Iceberg's reserved field ids)."""


class ColumnNames:
    """Finds columns by full name, or by the name without `element` and `value` steps above structs.

    A full name wins over a short one. Without case, a name that two columns share finds neither.
    """

    __slots__ = ("_by_name", "_case_sensitive")

    def __init__(self, schema: Schema, *, case_sensitive: bool) -> None:
        self._case_sensitive = case_sensitive
        self._by_name: dict[str, Column | None] = {}
        columns = columns_by_id(schema).values()
        for short in (False, True):
            named: dict[str, Column | None] = {}
            for column in columns:
                name = self._key(column.short_name if short else column.name)
                known = named.get(name, column)
                named[name] = column if known is column else None
            self._by_name = named | self._by_name

    def find(self, name: str) -> Column:
        """Return the column of this name; Problem 400 if there is none, or more than one."""
        found = self._by_name.get(self._key(name))
        if found is None:
            reason = "is ambiguous" if self._key(name) in self._by_name else "does not exist"
            raise bad_request(f"Column {reason}: {name[:200]}")
        return found

    def check_selected(self, names: Iterable[str]) -> None:
        """Refuse (400) a selection with a name that is neither a column nor a reserved name."""
        for name in names:
            if name != ALL_COLUMNS and name.partition(".")[0] not in _METADATA_COLUMNS:
                self.find(name)

    def _key(self, name: str) -> str:
        return name if self._case_sensitive else name.lower()
