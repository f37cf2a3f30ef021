"""A commit decoded and applied: assertions against the base, then updates on a draft."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from icecheck.mock_server.builder import Draft
from icecheck.mock_server.model import TableMetadata

__all__ = [
    "AssertionCheck",
    "CommitRequest",
    "TableIdentifier",
    "UpdateApply",
    "apply_commit",
    "decode_commit",
    "decode_commit_transaction",
    "default_registries",
]

AssertionCheck = Callable[[Any, TableMetadata | None], None]
UpdateApply = Callable[[Any, Draft], None]


class TableIdentifier(Struct, frozen=True, gc=False, kw_only=True):
    """A table's namespace levels and name."""

    namespace: tuple[str, ...]
    name: str


class CommitRequest(Struct, frozen=True, gc=False, kw_only=True):
    """The body of updateTable; `is_create` says whether it asserts that the table is absent."""

    identifier: TableIdentifier | None = None
    requirements: tuple[Any, ...]
    updates: tuple[Any, ...]

    @property
    def is_create(self) -> bool:
        """Whether an `assert-create` is among the requirements."""
        raise NotImplementedError


def default_registries() -> tuple[dict[str, AssertionCheck], dict[str, UpdateApply]]:
    """Give fresh dictionaries: requirement type to check, update action to apply."""
    raise NotImplementedError


def decode_commit(body: bytes) -> CommitRequest:
    """Read an updateTable body; anything malformed or unknown is a 400 Problem."""
    raise NotImplementedError


def decode_commit_transaction(body: bytes) -> tuple[CommitRequest, ...]:
    """Read a commitTransaction body: changes in order, each with an identifier, at least one."""
    raise NotImplementedError


def apply_commit(
    base: TableMetadata | None,
    commit: CommitRequest,
    *,
    assertions: Mapping[str, AssertionCheck],
    updates: Mapping[str, UpdateApply],
    now_ms: int,
    new_uuid: Callable[[], str],
    base_location: str | None = None,
    default_location: str | None = None,
) -> TableMetadata | None:
    """Give the next metadata, or None when the commit changes nothing.

    `base` is None when the table does not exist: then only a create commit can succeed.
    Raises Problem 400, 404 or 409; nothing is ever half applied.
    """
    raise NotImplementedError
