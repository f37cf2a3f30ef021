"""Decodes and applies a commit to a view: assertions against the base, then updates on a draft."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from icecheck.mock_server.commits.assertions import (
    VIEW_ASSERTIONS,
    AssertViewUUID,
    TableRequirement,
)
from icecheck.mock_server.commits.commit import TableIdentifier
from icecheck.mock_server.metadata.view_builder import ViewDraft
from icecheck.mock_server.metadata.view_metadata import ViewMetadata
from icecheck.mock_server.protocol.json_input import decode_json
from icecheck.mock_server.protocol.null_containers import COMMIT
from icecheck.mock_server.protocol.problem import bad_request
from icecheck.mock_server.updates import VIEW_UPDATES, ViewUpdate

ViewAssertionCheck = Callable[[Any, ViewMetadata], None]
ViewUpdateApply = Callable[[Any, ViewDraft], None]


class CommitViewRequest(Struct, frozen=True, gc=False, kw_only=True):
    """The body of replaceView; assertions about tables are decoded here and refused later."""

    identifier: TableIdentifier | None = None
    requirements: tuple[AssertViewUUID | TableRequirement, ...] | None = None
    updates: tuple[ViewUpdate, ...]


def default_view_registries() -> tuple[dict[str, ViewAssertionCheck], dict[str, ViewUpdateApply]]:
    """Return fresh dictionaries: requirement type to check, update action to apply."""
    assertions: dict[str, ViewAssertionCheck] = {
        name: assertion.check for name, assertion in VIEW_ASSERTIONS.items()
    }
    updates: dict[str, ViewUpdateApply] = {
        name: update.apply for name, update in VIEW_UPDATES.items()
    }
    return assertions, updates


def decode_view_commit(body: bytes) -> CommitViewRequest:
    """Read a replaceView body; anything malformed or not for views is a 400 Problem."""
    return decode_json(CommitViewRequest, body, COMMIT)


def apply_view_commit(
    base: ViewMetadata,
    commit: CommitViewRequest,
    *,
    assertions: Mapping[str, ViewAssertionCheck],
    updates: Mapping[str, ViewUpdateApply],
    now_ms: int,
) -> ViewMetadata | None:
    """Return the next metadata, or None when the commit changes nothing.

    Raises Problem 400 or 409; a commit is never applied in part.
    """
    for requirement in commit.requirements or ():
        tag = str(requirement.__struct_config__.tag)
        if tag not in assertions:
            raise bad_request(f"Not a requirement of a view: {tag}")
        assertions[tag](requirement, base)
    draft = ViewDraft(base, now_ms=now_ms)
    for update in commit.updates:
        tag = str(update.__struct_config__.tag)
        if tag not in updates:
            raise bad_request(f"Unknown update action: {tag}")
        updates[tag](update, draft)
    return draft.build()
