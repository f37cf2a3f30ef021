"""Building blocks for defects of commits: altered bodies, updates and table versions."""

from collections.abc import Callable, Container
from typing import Any

import msgspec

from icecheck.mock_server.commits import publication
from icecheck.mock_server.commits.commit import AssertionCheck
from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.requests import Json
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_request_body, wrap
from icecheck.mock_server.metadata.builder import Draft
from icecheck.mock_server.metadata.encoding import encode
from icecheck.mock_server.metadata.model import TableMetadata
from icecheck.mock_server.metadata.view_builder import ViewDraft
from icecheck.mock_server.metadata.view_metadata import ViewMetadata
from icecheck.mock_server.protocol.problem import Problem, bad_request

__all__ = [
    "AssertionCheck",
    "alter_assertion",
    "alter_sent_list",
    "alter_sent_updates",
    "alter_update",
    "alter_version",
    "alter_view_update",
    "change_also",
    "ignore_update",
    "keep_known",
    "read_update",
    "read_view_update",
    "refuse_updates_as",
    "refuse_updates_where",
    "store_minus_one",
    "swallow_refusals",
]

FaithfulUpdate = Callable[[Any, Draft], None]
FaithfulViewUpdate = Callable[[Any, ViewDraft], None]


def alter_sent_list(
    registries: Registries,
    operation_id: str,
    alter: Callable[[list[Any]], list[Any]],
    member: str = "updates",
) -> None:
    """Let a commit see an altered list of updates, or of requirements, if one is sent."""

    def altered(body: Json) -> Json:
        sent = body.get(member)
        return {**body, member: alter(sent)} if isinstance(sent, list) else body

    alter_request_body(registries, operation_id, altered)


def alter_sent_updates(registries: Registries, action: str, alter: Callable[[Json], Json]) -> None:
    """Let updateTable see altered updates of one action; `alter` gets and returns JSON."""

    def altered(sent: list[Any]) -> list[Any]:
        return [
            alter(each) if isinstance(each, dict) and each.get("action") == action else each
            for each in sent
        ]

    alter_sent_list(registries, "updateTable", altered)


def keep_known(
    registries: Registries,
    member: str,
    tag: str,
    known: Container[Any],
    operation_id: str = "updateTable",
) -> None:
    """Hide from a commit the items of a list whose tag is not among the known ones."""

    def filtered(sent: list[Any]) -> list[Any]:
        return [each for each in sent if not isinstance(each, dict) or each.get(tag) in known]

    alter_sent_list(registries, operation_id, filtered, member)


def alter_assertion(
    registries: Registries, type_: str, check: Callable[[AssertionCheck, Any, TableMetadata], None]
) -> None:
    """Replace an assertion on an existing table by a function that gets the faithful one."""
    faithful = registries.assertions[type_]

    def altered(assertion: Any, metadata: TableMetadata | None) -> None:
        if metadata is None:
            faithful(assertion, metadata)
        else:
            check(faithful, assertion, metadata)

    registries.assertions[type_] = altered


def alter_update(
    registries: Registries, action: str, apply: Callable[[FaithfulUpdate, Any, Draft], None]
) -> None:
    """Replace an update by a function that gets the faithful one as its first argument."""
    faithful = registries.updates[action]

    def altered(update: Any, draft: Draft) -> None:
        apply(faithful, update, draft)

    registries.updates[action] = altered


def alter_view_update(
    registries: Registries, action: str, apply: Callable[[FaithfulViewUpdate, Any, ViewDraft], None]
) -> None:
    """Replace an update of views by a function that gets the faithful one as its first argument."""
    faithful = registries.view_updates[action]

    def altered(update: Any, draft: ViewDraft) -> None:
        apply(faithful, update, draft)

    registries.view_updates[action] = altered


def change_also(
    registries: Registries,
    action: str,
    change: Callable[[TableMetadata, TableMetadata, Any], Json],
) -> None:
    """Change more with an update than it names, or less.

    `change` gets the metadata before and after it and the update, and returns members to change.
    """

    def apply(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
        before = draft.metadata
        faithful(update, draft)
        if members := change(before, draft.metadata, update):
            draft.change(**members)

    alter_update(registries, action, apply)


def read_update(
    registries: Registries, action: str, read: Callable[[Any, TableMetadata], Any]
) -> None:
    """Apply another update of a table than the sent one; `read` gets the metadata before too."""
    alter_update(
        registries,
        action,
        lambda faithful, update, draft: faithful(read(update, draft.metadata), draft),
    )


def read_view_update(
    registries: Registries, action: str, read: Callable[[Any, ViewMetadata], Any]
) -> None:
    """Apply another update of a view than the sent one, as `read_update`."""
    alter_view_update(
        registries,
        action,
        lambda faithful, update, draft: faithful(read(update, draft.metadata), draft),
    )


def ignore_update(
    registries: Registries, action: str, when: Callable[[Any, Draft], bool] = lambda *_: True
) -> None:
    """Accept an update without effect: always, or for some updates."""

    def apply(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
        if not when(update, draft):
            faithful(update, draft)

    alter_update(registries, action, apply)


def store_minus_one(
    registries: Registries, action: str, sent: str, current: str, added: str
) -> None:
    """Store the id -1 as it comes, where the commit has added nothing that it could mean."""
    stored: list[Draft] = []

    def apply(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
        if getattr(update, sent) == -1 and not getattr(draft, added):
            stored.append(draft)
        else:
            faithful(update, draft)

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        stored.clear()
        outcome = faithful(state, call)
        kept = outcome.state.table(call.namespace, call.name)
        if kept is None or not stored:
            return outcome
        metadata = msgspec.structs.replace(kept.metadata, **{current: -1})
        location = kept.metadata_location
        entry = publication.entry_of(faithful.context, metadata, location, encode(metadata))
        return msgspec.structs.replace(
            outcome,
            state=outcome.state.with_table(call.namespace, call.name, entry),
            reply=publication.commit_reply(entry),
        )

    alter_update(registries, action, apply)
    wrap(registries, "updateTable", around)


def swallow_refusals(
    registries: Registries, action: str, where: Callable[[Any], bool] = lambda _: True
) -> None:
    """Accept an update that cannot be applied, without effect, if `where` holds for it."""

    def apply(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
        try:
            faithful(update, draft)
        except Problem:
            if not where(update):
                raise

    alter_update(registries, action, apply)


def refuse_updates_where(
    registries: Registries, action: str, where: Callable[[Any, Draft], Any]
) -> None:
    """Refuse (400) the updates of a table for which `where` holds."""

    def apply(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
        if where(update, draft):
            raise bad_request(f"Refused: {action}")
        faithful(update, draft)

    alter_update(registries, action, apply)


def refuse_updates_as(registries: Registries, status: int, *actions: str) -> None:
    """Refuse the updates of tables and views that cannot be applied with another status."""

    def apply(faithful: Callable[[Any, Any], None], update: Any, draft: Any) -> None:
        try:
            faithful(update, draft)
        except Problem as problem:
            raise Problem(status, problem.type, problem.message) from None

    for action in actions:
        alter = alter_update if action in registries.updates else alter_view_update
        alter(registries, action, apply)


def alter_version(
    registries: Registries,
    change: Callable[[TableMetadata | None, TableMetadata], TableMetadata],
    *,
    same_location: bool = False,
) -> None:
    """Keep and answer changed metadata after a commit; `change` gets those before and after.

    With `same_location` the new version has the metadata location of the old one. A table that the
    commit does not change is left alone; the result is not checked for contradictions.
    """

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        before = state.table(call.namespace, call.name)
        outcome = faithful(state, call)
        after = outcome.state.table(call.namespace, call.name)
        if after is None or after is before:
            return outcome
        metadata = change(None if before is None else before.metadata, after.metadata)
        location = after.metadata_location
        if same_location and before is not None:
            location = before.metadata_location
        entry = publication.entry_of(faithful.context, metadata, location, encode(metadata))
        return msgspec.structs.replace(
            outcome,
            state=outcome.state.with_table(call.namespace, call.name, entry),
            reply=publication.commit_reply(entry),
        )

    wrap(registries, "updateTable", around)
