"""Ways in which servers get commits to views wrong.

Every update of a view is also forgotten once, or refused where it has no effect: accepted, and
left out, or not known.
"""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from icecheck.mock_server import replies
from icecheck.mock_server.context import Call, Context, Operation, Outcome, Registries
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import (
    alter_body,
    alter_request_body,
    answer_status,
    refuse_as,
    sent_json,
    wrap,
)
from icecheck.mock_server.defects.storing import Body, store_view_otherwise
from icecheck.mock_server.defects.versions import alter_view_update, with_body
from icecheck.mock_server.problem import Problem, bad_request, commit_failed
from icecheck.mock_server.state import WarehouseState
from icecheck.mock_server.view_builder import ViewDraft
from icecheck.mock_server.view_metadata import ViewMetadata

Faithful = Callable[[Any, ViewDraft], None]

_UNREADABLE = "The view cannot be read any more."
_UUID = "assert-view-uuid"


# -------------------------------------------------------------------------- statuses


@defect(
    "view-commit-202",
    breaks="replaceView.200",
    suffering="The Java client fails, for it reads the new metadata from the answer.",
)
def _commit_202(registries: Registries) -> None:
    """A commit to a view is answered 202."""
    answer_status(registries, "replaceView", 202)


@defect(
    "view-commit-malformed-500",
    breaks="replaceView.400",
    suffering="Clients do not know whether the commit took place.",
)
def _malformed_500(registries: Registries) -> None:
    """A commit to a view with an unusable body is a null pointer."""
    refuse_as(registries, "replaceView", 400, 500, "InternalServerError")


@defect(
    "view-commit-missing-409",
    breaks="replaceView.404",
    suffering="Clients try again and again to change what is not there.",
)
def _missing_409(registries: Registries) -> None:
    """An update of a view that touches no row is answered 409."""
    refuse_as(registries, "replaceView", 404, 409, "CommitFailedException")


@defect(
    "view-commit-conflict-412",
    breaks="replaceView.409",
    suffering="Clients give up where they should try again.",
)
def _conflict_412(registries: Registries) -> None:
    """A requirement of a view that fails is answered 412."""
    refuse_as(registries, "replaceView", 409, 412, "PreconditionFailed")


@defect(
    "view-commit-answers-before",
    breaks="replaceView.answer-is-the-view",
    suffering="Who changed a view goes on with what it was before.",
)
def _answers_before(registries: Registries) -> None:
    """The answer to a commit is the view as it was before."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        before = state.view(call.namespace, call.name)
        if before is None:
            return outcome
        return Outcome(outcome.state, before.reply, outcome.effects)

    wrap(registries, "replaceView", around)


@defect(
    "view-commit-other-location",
    breaks="replaceView.answer-is-the-view",
    suffering="Who changed a view looks for its metadata where it is not.",
)
def _other_location(registries: Registries) -> None:
    """The answer to a commit names a metadata location that no load does."""
    alter_body(
        registries,
        "replaceView",
        lambda body: body | {"metadata-location": f"{body['metadata-location']}.tmp"},
    )


@defect(
    "view-commit-overwrites-file",
    breaks="replaceView.new-metadata-location",
    suffering="The Java client keeps its old view, because the location is the same.",
)
def _overwrites_file(registries: Registries) -> None:
    """A commit to a view overwrites its metadata file."""
    store_view_otherwise(
        registries, "replaceView", lambda _before, made, _sent: made, same_location=True
    )


@defect(
    "view-commit-needs-identifier",
    breaks="replaceView.minimal-body",
    suffering="Clients that leave out what is optional cannot change views.",
)
def _needs_identifier(registries: Registries) -> None:
    """A commit to a view without an identifier in its body is refused."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        if "identifier" not in sent_json(call):
            raise bad_request("Missing identifier")
        return faithful(context, state, call)

    wrap(registries, "replaceView", around)


@defect(
    "view-commit-skips-foreign-updates",
    breaks="replaceView.unknown-update-refused",
    suffering="A change that the server does not know is reported as made.",
)
def _skips_foreign_updates(registries: Registries) -> None:
    """Updates that views do not have are skipped."""

    def known(body: Body) -> Body:
        updates = body.get("updates")
        if not isinstance(updates, list):
            return body
        kept = [
            update
            for update in updates
            if not isinstance(update, dict) or update.get("action", "") in registries.view_updates
        ]
        return {**body, "updates": kept}

    alter_request_body(registries, "replaceView", known)


@defect(
    "view-commit-half",
    breaks="replaceView.all-or-nothing",
    suffering="A commit that was refused has been made in part.",
)
def _half(registries: Registries) -> None:
    """Updates of a view are written one by one, up to the first that cannot be applied."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        updates = sent_json(call).get("updates")
        try:
            return faithful(context, state, call)
        except Problem as refused:
            if refused.status != 400 or not isinstance(updates, list) or len(updates) < 2:
                raise
            written = faithful(context, state, with_body(call, updates=updates[:1]))
            return Outcome(written.state, replies.problem_reply(refused), written.effects)

    wrap(registries, "replaceView", around)


# ---------------------------------------------------------------------- requirements


@defect(
    "view-assertion-ignored",
    breaks="view-assertion.assert-view-uuid.violated",
    suffering="A view that took another's place is changed in its stead.",
)
def _assertion_ignored(registries: Registries) -> None:
    """The uuid that a commit asserts of a view is parsed and then forgotten."""
    registries.view_assertions[_UUID] = lambda _assertion, _metadata: None


@defect(
    "view-assertion-fails",
    breaks="view-assertion.assert-view-uuid.satisfied",
    suffering="Every commit of Spark to a view conflicts.",
)
def _assertion_fails(registries: Registries) -> None:
    """The uuid that a commit asserts of a view never matches."""

    def fails(_assertion: Any, _metadata: ViewMetadata) -> None:
        raise commit_failed("Requirement failed: view UUID does not match")

    registries.view_assertions[_UUID] = fails


# -------------------------------------------------------------------------- updates


def _declare_forgotten(action: str) -> None:
    def install(registries: Registries) -> None:
        registries.view_updates[action] = lambda _update, _draft: None

    install.__doc__ = f"{action} of a view is accepted and has no effect."
    suffering = "A client is told that its change was made, and it was not."
    breaks = f"view-update.{action}.effect"
    declared = defect(f"view-update-forgotten-{action}", breaks=breaks, suffering=suffering)
    declared(install)


def _declare_unknown(action: str) -> None:
    def unknown(_update: Any, _draft: ViewDraft) -> None:
        raise bad_request(f"Unknown update: {action}")

    def install(registries: Registries) -> None:
        registries.view_updates[action] = unknown

    install.__doc__ = f"{action} is known for tables only."
    suffering = "A commit that also says what is true anyway is refused."
    breaks = f"view-update.{action}.same"
    declared = defect(f"view-update-unknown-{action}", breaks=breaks, suffering=suffering)
    declared(install)


for _action in (
    "add-schema",
    "set-location",
    "set-properties",
    "remove-properties",
    "add-view-version",
    "set-current-view-version",
):
    _declare_forgotten(_action)
for _action in ("assign-uuid", "upgrade-format-version"):
    _declare_unknown(_action)


@defect(
    "view-uuid-reassigned",
    breaks="view-update.assign-uuid.reassign-refused",
    suffering="Every client that holds the view open takes it for another one.",
)
def _uuid_reassigned(registries: Registries) -> None:
    """assign-uuid replaces the uuid of an existing view."""
    alter_view_update(
        registries,
        "assign-uuid",
        lambda _faithful, update, draft: draft.change(view_uuid=update.uuid),
    )


@defect(
    "view-version-99-accepted",
    breaks="view-update.upgrade-format-version.unknown-refused",
    suffering="The view has another format version than the client was told.",
)
def _version_99_accepted(registries: Registries) -> None:
    """Any format version of a view is accepted and left as it is."""
    alter_view_update(registries, "upgrade-format-version", lambda _faithful, _update, _draft: None)


@defect(
    "view-properties-replaced",
    breaks="view-update.set-properties.effect",
    suffering="Setting one property of a view removes all others.",
)
def _properties_replaced(registries: Registries) -> None:
    """set-properties replaces the whole map of a view."""
    alter_view_update(
        registries,
        "set-properties",
        lambda _faithful, update, draft: draft.change(properties=dict(update.updates)),
    )


@defect(
    "view-added-version-goes-live",
    breaks="view-update.add-view-version.effect",
    suffering="A definition that was only prepared is what everybody reads.",
)
def _added_version_goes_live(registries: Registries) -> None:
    """A version that is added becomes the current one at once."""

    def apply(faithful: Faithful, update: Any, draft: ViewDraft) -> None:
        faithful(update, draft)
        draft.set_current_version(draft.metadata.versions[-1].version_id)

    alter_view_update(registries, "add-view-version", apply)


@defect(
    "view-last-added-schema-is-the-first",
    breaks="view-update.add-view-version.last-added-schema",
    suffering="A replaced view has the columns of the one before.",
)
def _last_added_schema_is_the_first(registries: Registries) -> None:
    """A schema id of -1 is clamped to 0."""

    def apply(faithful: Faithful, update: Any, draft: ViewDraft) -> None:
        version = update.view_version
        known = replace(version, schema_id=max(version.schema_id, 0))
        faithful(replace(update, view_version=known), draft)

    alter_view_update(registries, "add-view-version", apply)


@defect(
    "view-unknown-schema-is-the-first",
    breaks="view-update.add-view-version.unknown-schema-refused",
    suffering=_UNREADABLE,
)
def _unknown_schema_is_the_first(registries: Registries) -> None:
    """A version that refers to no schema of the view is given the first one."""

    def apply(faithful: Faithful, update: Any, draft: ViewDraft) -> None:
        version = update.view_version
        known = {schema.schema_id for schema in draft.metadata.schemas} | {-1}
        if version.schema_id not in known:
            update = replace(update, view_version=replace(version, schema_id=0))
        faithful(update, draft)

    alter_view_update(registries, "add-view-version", apply)


@defect(
    "view-unknown-version-skipped",
    breaks="view-update.set-current-view-version.unknown-id-refused",
    suffering="A client believes that another definition is current.",
)
def _unknown_version_skipped(registries: Registries) -> None:
    """A version that the view does not have is not made current, and nothing is said of it."""

    def apply(faithful: Faithful, update: Any, draft: ViewDraft) -> None:
        known = {version.version_id for version in draft.metadata.versions} | {-1}
        if update.view_version_id in known:
            faithful(update, draft)

    alter_view_update(registries, "set-current-view-version", apply)


@defect(
    "view-last-added-version-unknown",
    breaks="replaceView.as-spark-replaces",
    suffering="CREATE OR REPLACE VIEW fails in Spark.",
)
def _last_added_version_unknown(registries: Registries) -> None:
    """A version id of -1 is looked for among the versions."""

    def apply(faithful: Faithful, update: Any, draft: ViewDraft) -> None:
        if update.view_version_id == -1:
            raise bad_request("Cannot set current version to unknown version: -1")
        faithful(update, draft)

    alter_view_update(registries, "set-current-view-version", apply)


@defect(
    "view-history-lost",
    breaks="view-update.set-current-view-version.history",
    suffering="Earlier definitions of a view cannot be looked up or restored.",
)
def _history_lost(registries: Registries) -> None:
    """The log of a view tells of the current version only."""

    def change(before: ViewMetadata | None, made: ViewMetadata, _sent: Body) -> ViewMetadata:
        if before is None or made.current_version_id == before.current_version_id:
            return made
        return replace(made, version_log=made.version_log[-1:])

    store_view_otherwise(registries, "replaceView", change)
