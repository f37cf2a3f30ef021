"""Defects of commits to views.

For every update of a view there is also a defect that accepts it without effect; an update that has
no effect anyway is refused as unknown instead.
"""

from typing import Any

from msgspec.structs import replace

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.changing import refuse_where
from icecheck.mock_server.defects.kit.declaring import by, declare, declare_each, defect, through
from icecheck.mock_server.defects.kit.places import request_of, view_update
from icecheck.mock_server.defects.kit.requests import Json, sent_json, with_members
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_body,
    answer_status,
    refuse_as,
)
from icecheck.mock_server.defects.kit.storing import store_view_otherwise
from icecheck.mock_server.defects.kit.updating import (
    FaithfulViewUpdate,
    alter_view_update,
    keep_known,
    read_view_update,
    refuse_updates_as,
)
from icecheck.mock_server.metadata.view_builder import ViewDraft
from icecheck.mock_server.metadata.view_metadata import ViewMetadata
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import Problem, bad_request, commit_failed

_UNREADABLE = "The view cannot be read any more."
_UUID = "assert-view-uuid"


# -------------------------------------------------------------------------- statuses


@defect(
    "view-commit-answers-before",
    on="replaceView",
    breaks="replaceView.answer-is-the-view",
    suffering="Who changed a view goes on with what it was before.",
)
def _answers_before(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """The answer to a commit is the view as it was before."""
    outcome = faithful(state, call)
    before = state.view(call.namespace, call.name)
    if before is None:
        return outcome
    return Outcome(outcome.state, before.reply, outcome.effects)


declare_each(
    ("view-commit-overwrites-file", "replaceView.new-metadata-location",
     "A commit to a view overwrites its metadata file.",
     "The Java client keeps its old view, because the location is the same.",
     by(store_view_otherwise, "replaceView", lambda _before, made, _sent: made,
        same_location=True)),
    ("view-commit-202", "replaceView.200", "A commit to a view is answered 202.",
     "The Java client fails, for it reads the new metadata from the answer.",
     by(answer_status, "replaceView", 202)),
    ("view-commit-malformed-500", "replaceView.400",
     "A commit to a view with an unusable body is a null pointer.",
     "Clients do not know whether the commit took place.",
     by(refuse_as, "replaceView", 400, 500, "InternalServerError")),
    ("view-commit-missing-409", "replaceView.404",
     "An update of a view that touches no row is answered 409.",
     "Clients try again and again to change what is not there.",
     by(refuse_as, "replaceView", 404, 409, "CommitFailedException")),
    ("view-commit-conflict-412", "replaceView.409",
     "A requirement of a view that fails is answered 412.",
     "Clients give up where they should try again.",
     by(refuse_as, "replaceView", 409, 412, "PreconditionFailed")),
    ("view-commit-other-location", "replaceView.answer-is-the-view",
     "The answer to a commit names a metadata location that no load does.",
     "Who changed a view looks for its metadata where it is not.",
     by(alter_body, "replaceView",
        lambda body: body | {"metadata-location": f"{body['metadata-location']}.tmp"})),
    ("view-commit-needs-identifier", "replaceView.minimal-body",
     "A commit to a view without an identifier in its body is refused.",
     "Clients that leave out what is optional cannot change views.",
     by(refuse_where, "replaceView", lambda _, call: "identifier" not in sent_json(call))),
)  # fmt: skip


@defect(
    "view-commit-skips-foreign-updates",
    breaks="replaceView.unknown-update-refused",
    suffering="A change that the server does not know is reported as made.",
)
def _skips_foreign_updates(registries: Registries) -> None:
    """Updates that views do not have are skipped."""
    keep_known(registries, "updates", "action", registries.view_updates, "replaceView")


@defect(
    "view-commit-half",
    on="replaceView",
    breaks="replaceView.all-or-nothing",
    suffering="A commit that was refused has been made in part.",
)
def _half(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Updates of a view are written one by one, up to the first that cannot be applied."""
    updates = sent_json(call).get("updates")
    try:
        return faithful(state, call)
    except Problem as refused:
        if refused.status != 400 or not isinstance(updates, list) or len(updates) < 2:
            raise
        written = faithful(state, with_members(call, updates=updates[:1]))
        return Outcome(written.state, replies.problem_reply(refused), written.effects)


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

    suffering = "A client is told that its change was made, and it was not."
    breaks = f"view-update.{action}.effect"
    declare(
        f"view-update-forgotten-{action}",
        f"{action} of a view is accepted and has no effect.",
        install,
        breaks=breaks,
        suffering=suffering,
    )


def _declare_unknown(action: str) -> None:
    def unknown(_update: Any, _draft: ViewDraft) -> None:
        raise bad_request(f"Unknown update: {action}")

    def install(registries: Registries) -> None:
        registries.view_updates[action] = unknown

    suffering = "A commit that also says what is true anyway is refused."
    breaks = f"view-update.{action}.same"
    declare(
        f"view-update-unknown-{action}",
        f"{action} is known for tables only.",
        install,
        breaks=breaks,
        suffering=suffering,
    )


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
    "view-added-version-goes-live",
    on=view_update("add-view-version"),
    breaks="view-update.add-view-version.effect",
    suffering="A definition that was only prepared is what everybody reads.",
)
def _added_version_goes_live(faithful: FaithfulViewUpdate, update: Any, draft: ViewDraft) -> None:
    """A version that is added becomes the current one at once."""
    faithful(update, draft)
    draft.set_current_version(draft.metadata.versions[-1].version_id)


@defect(
    "view-unknown-schema-is-the-first",
    on=view_update("add-view-version"),
    breaks="view-update.add-view-version.unknown-schema-refused",
    suffering=_UNREADABLE,
)
def _unknown_schema_is_the_first(
    faithful: FaithfulViewUpdate, update: Any, draft: ViewDraft
) -> None:
    """A version that refers to no schema of the view is given the first one."""
    version = update.view_version
    known = {schema.schema_id for schema in draft.metadata.schemas} | {-1}
    if version.schema_id not in known:
        update = replace(update, view_version=replace(version, schema_id=0))
    faithful(update, draft)


@defect(
    "view-unknown-version-skipped",
    on=view_update("set-current-view-version"),
    breaks="view-update.set-current-view-version.unknown-id-refused",
    suffering="A client believes that another definition is current.",
)
def _unknown_version_skipped(faithful: FaithfulViewUpdate, update: Any, draft: ViewDraft) -> None:
    """A version that the view does not have is not made current, and nothing is said of it."""
    known = {version.version_id for version in draft.metadata.versions} | {-1}
    if update.view_version_id in known:
        faithful(update, draft)


declare_each(
    ("view-last-added-schema-is-the-first", "view-update.add-view-version.last-added-schema",
     "A schema id of -1 is clamped to 0.", "A replaced view has the columns of the one before.",
     by(
         read_view_update,
         "add-view-version",
         lambda update, _: replace(
             update,
             view_version=replace(
                 update.view_version, schema_id=max(update.view_version.schema_id, 0)
             ),
         ),
     )),
    ("view-uuid-reassigned", "view-update.assign-uuid.reassign-refused",
     "assign-uuid replaces the uuid of an existing view.",
     "Every client that holds the view open takes it for another one.",
     by(alter_view_update, "assign-uuid",
        lambda _faithful, update, draft: draft.change(view_uuid=update.uuid))),
    ("view-properties-replaced", "view-update.set-properties.effect",
     "set-properties replaces the whole map of a view.",
     "Setting one property of a view removes all others.",
     by(alter_view_update, "set-properties",
        lambda _faithful, update, draft: draft.change(properties=dict(update.updates)))),
    ("view-version-99-accepted", "view-update.upgrade-format-version.unknown-refused",
     "Any format version of a view is accepted and left as it is.",
     "The view has another format version than the client was told.",
     by(alter_view_update, "upgrade-format-version", lambda _faithful, _update, _draft: None)),
    ("view-unknown-ids-conflict", "replaceView.unknown-ids-are-400",
     "Updates that name an unknown schema or version of a view are refused with 409.",
     "Clients send a commit again and again that can never succeed.",
     by(refuse_updates_as, 409, "add-view-version", "set-current-view-version")),
)  # fmt: skip


@defect(
    "view-last-added-version-unknown",
    on=view_update("set-current-view-version"),
    breaks="replaceView.as-spark-replaces",
    suffering="CREATE OR REPLACE VIEW fails in Spark.",
)
def _last_added_version_unknown(
    faithful: FaithfulViewUpdate, update: Any, draft: ViewDraft
) -> None:
    """A version id of -1 is looked for among the versions."""
    if update.view_version_id == -1:
        raise bad_request("Cannot set current version to unknown version: -1")
    faithful(update, draft)


@defect(
    "view-history-lost",
    on=through(store_view_otherwise, "replaceView"),
    breaks="view-update.set-current-view-version.history",
    suffering="Earlier definitions of a view cannot be looked up or restored.",
)
def _history_lost(before: ViewMetadata | None, made: ViewMetadata, _sent: Json) -> ViewMetadata:
    """The log of a view tells of the current version only."""
    if before is None or made.current_version_id == before.current_version_id:
        return made
    return replace(made, version_log=made.version_log[-1:])


@defect(
    "view-last-assertion-decides",
    on=request_of("replaceView"),
    breaks="view-assertion.assert-view-uuid.violated",
    suffering="A view that took another's place is changed in its stead.",
)
def _last_assertion_decides(body: Any) -> Any:
    """Of the requirements on a view the last one decides."""
    sent = body.get("requirements")
    return body | {"requirements": sent[-1:]} if isinstance(sent, list) else body


@defect(
    "view-last-added-version-ignored",
    on=view_update("set-current-view-version"),
    breaks="view-update.set-current-view-version.effect",
    suffering="CREATE OR REPLACE VIEW succeeds, and the view is what it was.",
)
def _last_added_ignored(faithful: FaithfulViewUpdate, update: Any, draft: Any) -> None:
    """A version id of -1 is no version, and nothing becomes current."""
    if update.view_version_id >= 0:
        faithful(update, draft)
