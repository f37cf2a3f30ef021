"""A commit decoded and applied: assertions against the base, then updates on a draft."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct, structs

from icecheck.mock_server.assertions import ASSERTIONS, AssertCreate, TableRequirement
from icecheck.mock_server.builder import Draft, canonical_location
from icecheck.mock_server.json_input import decode_json, unknown_snapshot_members
from icecheck.mock_server.model import TableMetadata
from icecheck.mock_server.problem import Problem, bad_request
from icecheck.mock_server.updates import UPDATES, TableUpdate
from icecheck.mock_server.updates.snapshots import AddSnapshotUpdate
from icecheck.mock_server.updates.table import UpgradeFormatVersionUpdate

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

_FORMAT_VERSION_DEFAULT = 2


class TableIdentifier(Struct, frozen=True, gc=False, kw_only=True):
    """A table's namespace levels and name."""

    namespace: tuple[str, ...]
    name: str


class CommitRequest(Struct, frozen=True, gc=False, kw_only=True):
    """The body of updateTable (document schema `CommitTableRequest`)."""

    identifier: TableIdentifier | None = None
    requirements: tuple[TableRequirement, ...]
    updates: tuple[TableUpdate, ...]

    @property
    def is_create(self) -> bool:
        """Whether the commit asserts that the table does not exist yet."""
        return any(isinstance(each, AssertCreate) for each in self.requirements)


class _Transaction(Struct, frozen=True, gc=False, rename="kebab"):
    table_changes: tuple[CommitRequest, ...]


class _UpdateAsSent(Struct, frozen=True, gc=False):
    snapshot: msgspec.Raw = msgspec.Raw()


class _CommitAsSent(Struct, frozen=True, gc=False):
    updates: tuple[_UpdateAsSent, ...]


class _TransactionAsSent(Struct, frozen=True, gc=False, rename="kebab"):
    table_changes: tuple[_CommitAsSent, ...]


_COMMIT = msgspec.json.Decoder(CommitRequest)
_COMMIT_AS_SENT = msgspec.json.Decoder(_CommitAsSent)
_TRANSACTION = msgspec.json.Decoder(_Transaction)
_TRANSACTION_AS_SENT = msgspec.json.Decoder(_TransactionAsSent)


def default_registries() -> tuple[dict[str, AssertionCheck], dict[str, UpdateApply]]:
    """Give fresh dictionaries: requirement type to check, update action to apply."""
    assertions: dict[str, AssertionCheck] = {
        name: assertion.check for name, assertion in ASSERTIONS.items()
    }
    updates: dict[str, UpdateApply] = {name: update.apply for name, update in UPDATES.items()}
    return assertions, updates


def decode_commit(body: bytes) -> CommitRequest:
    """Read an updateTable body; anything malformed or unknown is a 400 Problem (L1009)."""
    commit = decode_json(_COMMIT, body)
    if not _adds_snapshots(commit):
        return commit
    return _with_unknown_members(commit, decode_json(_COMMIT_AS_SENT, body))


def decode_commit_transaction(body: bytes) -> tuple[tuple[TableIdentifier, CommitRequest], ...]:
    """Read a commitTransaction body: at least one change, in order, each with its table.

    The document demands the identifier in words only (L3507); without one it is a 400 Problem.
    """
    changes = decode_json(_TRANSACTION, body).table_changes
    if not changes:
        raise bad_request("Invalid transaction: there are no table changes")
    if any(map(_adds_snapshots, changes)):
        sent = decode_json(_TRANSACTION_AS_SENT, body).table_changes
        changes = tuple(map(_with_unknown_members, changes, sent))
    return tuple((_identifier(change), change) for change in changes)


def _identifier(change: CommitRequest) -> TableIdentifier:
    if change.identifier is None:
        raise bad_request("Invalid transaction: a table identifier is required in every change")
    return change.identifier


def _adds_snapshots(commit: CommitRequest) -> bool:
    return any(isinstance(update, AddSnapshotUpdate) for update in commit.updates)


def _with_unknown_members(commit: CommitRequest, sent: _CommitAsSent) -> CommitRequest:
    updates = tuple(
        structs.replace(
            update,
            snapshot=structs.replace(
                update.snapshot, unknown=unknown_snapshot_members(bytes(as_sent.snapshot))
            ),
        )
        if isinstance(update, AddSnapshotUpdate)
        else update
        for update, as_sent in zip(commit.updates, sent.updates, strict=True)
    )
    return structs.replace(commit, updates=updates)


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

    `base` is None when the table does not exist: then only a create commit can succeed, and
    `default_location` is where the table goes unless the commit says so. `base_location` is the
    metadata file of `base`. Raises Problem 400, 404 or 409; nothing is ever half applied.
    """
    if commit.is_create and not all(isinstance(r, AssertCreate) for r in commit.requirements):
        raise bad_request("Invalid requirements: assert-create stands alone")
    if base is None and not commit.is_create:
        raise Problem(404, "NoSuchTableException", "Table does not exist")
    for requirement in commit.requirements:
        tag = str(requirement.__struct_config__.tag)
        if tag not in assertions:
            raise bad_request(f"Unknown requirement type: {tag}")
        assertions[tag](requirement, base)
    if base is None:
        draft = Draft.of_new_table(
            format_version=_first_format_version(commit), uuid=new_uuid(), now_ms=now_ms
        )
    else:
        draft = Draft.of(base, now_ms=now_ms)
    for update in commit.updates:
        tag = str(update.__struct_config__.tag)
        if tag not in updates:
            raise bad_request(f"Unknown update action: {tag}")
        updates[tag](update, draft)
    if base is None and not draft.metadata.location and default_location is not None:
        draft.change(location=canonical_location(default_location))
    return draft.build(base_location=base_location)


def _first_format_version(commit: CommitRequest) -> int:
    # A new table begins at the version it is first raised to, so that version 1 is no downgrade.
    for update in commit.updates:
        if isinstance(update, UpgradeFormatVersionUpdate):
            return update.format_version
    return _FORMAT_VERSION_DEFAULT
