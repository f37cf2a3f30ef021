"""Decodes and applies a commit: assertions against the base, then updates on a draft."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from icecheck.mock_server.commits.assertions import ASSERTIONS, AssertCreate, TableRequirement
from icecheck.mock_server.metadata.builder import Draft, canonical_location
from icecheck.mock_server.metadata.model import TableMetadata
from icecheck.mock_server.protocol.json_input import decode_json
from icecheck.mock_server.protocol.null_containers import COMMIT, TRANSACTION
from icecheck.mock_server.protocol.problem import Problem, bad_request
from icecheck.mock_server.updates import UPDATES, TableUpdate
from icecheck.mock_server.updates.table import UpgradeFormatVersionUpdate

AssertionCheck = Callable[[Any, TableMetadata | None], None]
UpdateApply = Callable[[Any, Draft], None]

_FORMAT_VERSION_DEFAULT = 2
_ASSERTION_TYPES = {assertion: name for name, assertion in ASSERTIONS.items()}
_UPDATE_ACTIONS = {update: name for name, update in UPDATES.items()}


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


def default_registries() -> tuple[dict[str, AssertionCheck], dict[str, UpdateApply]]:
    """Return fresh dictionaries: requirement type to check, update action to apply."""
    assertions: dict[str, AssertionCheck] = {
        name: assertion.check for name, assertion in ASSERTIONS.items()
    }
    updates: dict[str, UpdateApply] = {name: update.apply for name, update in UPDATES.items()}
    return assertions, updates


def decode_commit(body: bytes) -> CommitRequest:
    """Read an updateTable body; anything malformed or unknown is a 400 Problem (L1009).

    A null list or map is read as an empty one at the places where an empty one is lawful.
    """
    return decode_json(CommitRequest, body, COMMIT)


def decode_commit_transaction(body: bytes) -> tuple[tuple[TableIdentifier, CommitRequest], ...]:
    """Read a commitTransaction body: at least one change, in order, each with its table.

    The document demands the identifier in prose only (L3507); a change without one is a 400
    Problem.
    """
    changes = decode_json(_Transaction, body, TRANSACTION).table_changes
    if not changes:
        raise bad_request("Invalid transaction: there are no table changes")
    return tuple((_identifier(change), change) for change in changes)


def _identifier(change: CommitRequest) -> TableIdentifier:
    if change.identifier is None:
        raise bad_request("Invalid transaction: a table identifier is required in every change")
    return change.identifier


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
    """Return the next metadata, or None when the commit changes nothing.

    `base` is None when the table does not exist: then only a create commit can succeed, and
    `default_location` is the table's location unless the commit sets one. `base_location` is the
    metadata file of `base`. Raises Problem 400, 404 or 409; a commit is never applied in part.
    """
    if commit.is_create and not all(isinstance(r, AssertCreate) for r in commit.requirements):
        raise bad_request("Invalid requirements: assert-create stands alone")
    if base is None and not commit.is_create:
        raise Problem(404, "NoSuchTableException", "Table does not exist")
    for requirement in commit.requirements:
        tag = _ASSERTION_TYPES[type(requirement)]
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
        tag = _UPDATE_ACTIONS[type(update)]
        if tag not in updates:
            raise bad_request(f"Unknown update action: {tag}")
        updates[tag](update, draft)
    if base is None and not draft.metadata.location and default_location is not None:
        draft.change(location=canonical_location(default_location))
    return draft.build(base_location=base_location)


def _first_format_version(commit: CommitRequest) -> int:
    # A new table starts at the first version that it is set to, so that version 1 is no downgrade.
    for update in commit.updates:
        if isinstance(update, UpgradeFormatVersionUpdate):
            return update.format_version
    return _FORMAT_VERSION_DEFAULT
