"""Defects of registerView."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import ViewEntry, WarehouseState
from icecheck.mock_server.defects.kit.changing import (
    answer_refusal,
    change_and_refuse,
    make_namespace,
    refuse_where,
    see_otherwise,
    without,
    write_and_refuse,
)
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.places import answer_of
from icecheck.mock_server.defects.kit.remembering import by_body, by_path, refuse_later
from icecheck.mock_server.defects.kit.requests import Json, sent_json, sent_name
from icecheck.mock_server.defects.kit.rewriting import (
    ANOTHER_UUID,
    Faithful,
    alter_request_body,
    answer_status,
    forget_effect,
    refuse_as,
    wrap,
)
from icecheck.mock_server.defects.kit.storing import store_view_otherwise, view_with
from icecheck.mock_server.metadata.view_metadata import ViewMetadata, ViewVersion
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.protocol.replies import problem_reply

_ANOTHER = "Whoever holds the view open, or moved it here, takes it for another one."
_MALFORMED = "A client's mistake is reported as a failure of the server."


def _keep(registries: Registries, /, **members: Any) -> None:
    """Let a registration keep these members of the metadata in place of those in the file."""
    store_view_otherwise(registries, "registerView", lambda _, made, __: replace(made, **members))


def _as_first(_before: ViewMetadata | None, made: ViewMetadata, _sent: Json) -> ViewMetadata:
    """Return a view whose current version is its first and only one."""
    (current,) = (v for v in made.versions if v.version_id == made.current_version_id)
    log = (replace(made.version_log[-1], version_id=1),)
    return replace(
        made, versions=(replace(current, version_id=1),), current_version_id=1, version_log=log
    )


def _current_schema(_before: ViewMetadata | None, made: ViewMetadata, _sent: Json) -> ViewMetadata:
    """Return a view that has the schema of its current version only, for all versions."""
    current = next(v for v in made.versions if v.version_id == made.current_version_id)
    kept = tuple(s for s in made.schemas if s.schema_id == current.schema_id)
    versions = tuple(replace(v, schema_id=current.schema_id) for v in made.versions)
    return replace(made, schemas=kept, versions=versions)


def _last_entry(_before: ViewMetadata | None, made: ViewMetadata, _sent: Json) -> ViewMetadata:
    return replace(made, version_log=made.version_log[-1:])


def _keep_versions(registries: Registries, change: Callable[[ViewVersion], ViewVersion]) -> None:
    """Let a registration keep each version of the file as `change` returns it."""
    store_view_otherwise(registries, "registerView", lambda _, made, __: _with_each(made, change))


def _made_now(_before: ViewMetadata | None, made: ViewMetadata, _sent: Json) -> ViewMetadata:
    """Return a view whose versions and log begin a second after what the file says."""
    later = _with_each(made, lambda each: replace(each, timestamp_ms=each.timestamp_ms + 1000))
    log = tuple(replace(e, timestamp_ms=e.timestamp_ms + 1000) for e in made.version_log)
    return replace(later, version_log=log)


def _with_each(made: ViewMetadata, change: Callable[[ViewVersion], ViewVersion]) -> ViewMetadata:
    return replace(made, versions=tuple(change(each) for each in made.versions))


def _at_the_greatest(_before: ViewMetadata | None, made: ViewMetadata, _sent: Json) -> ViewMetadata:
    return replace(made, current_version_id=max(each.version_id for each in made.versions))


def _in_another_namespace(_: WarehouseState, call: Call) -> bool:
    """Return whether the file is not in a folder that has the name of the namespace."""
    folders = str(sent_json(call).get("metadata-location")).split("/")
    return bool(sent_name(call)) and call.namespace[-1] not in folders


def _without_sent_view(state: WarehouseState, call: Call) -> WarehouseState:
    return without(state, (call.namespace, sent_name(call)), "view")


declare_each(
    ("view-register-201", "registerView.200", "A registered view is answered 201.",
     "The Java client takes 201 for an error, and the view is there all the same.",
     by(answer_status, "registerView", 201)),
    ("view-register-reads-tables", "registerView.200",
     "Every metadata file is read by the parser for those of tables.",
     "Views cannot be moved between catalogs, and their owner looks for a failure of the server.",
     by(refuse_where, "registerView", lambda _, call: bool(sent_name(call)), 500,
        "InternalServerError")),
    ("view-register-malformed-500", "registerView.400", "The parser's error is caught by nobody.",
     _MALFORMED, by(refuse_as, "registerView", 400, 500, "InternalServerError")),
    ("view-register-unnamed", "registerView.400",
     "A view that is registered without a name gets the one that views have by default.",
     "A view that nobody has named is in the list.",
     by(alter_request_body, "registerView", lambda body: {"name": "view", **body})),
    ("view-register-makes-its-namespace", "registerView.404",
     "A namespace that is missing is made along with the registered view.",
     "A misspelled database name makes a new database.", by(make_namespace, "registerView")),
    ("view-register-refused-in-a-new-namespace", "registerView.404",
     "A namespace that is missing is made, and the view is then refused all the same.",
     "A misspelled database name makes a new database, and nobody learns of it.",
     by(change_and_refuse, "registerView", 404,
        lambda _, state, call: state.with_namespace(call.namespace, {}))),
    ("view-register-over-another", "registerView.409", "A registration takes the name, as a PUT.",
     "Registering under a name that is taken destroys the view that has it.",
     by(see_otherwise, "registerView", _without_sent_view)),
    ("view-register-conflict-400", "registerView.409", "A name that is taken is a bad request.",
     "Clients do not learn that the name is taken.",
     by(refuse_as, "registerView", 409, 400, "BadRequestException")),
    ("view-register-conflict-writes", "registerView.conflict-changes-nothing",
     "A registration is written first and then refused because the view exists.",
     "A refused registration has replaced the view all the same.",
     by(write_and_refuse, "registerView", _without_sent_view)),
    ("view-register-conflict-drops", "registerView.conflict-changes-nothing",
     "A registration makes room for the view, and is then refused because the name is taken.",
     "A refused registration has removed the view that had the name.",
     by(change_and_refuse, "registerView", 409,
        lambda _, state, call: _without_sent_view(state, call))),
    ("view-register-new-uuid", "registerView.same-view",
     "A registered view gets a uuid of its own.", _ANOTHER,
     by(_keep, view_uuid=ANOTHER_UUID)),
    ("view-register-begins-at-1", "registerView.same-view",
     "A registered view begins at version 1, with the query that it has now.", _ANOTHER,
     by(store_view_otherwise, "registerView", _as_first)),
    ("view-register-one-schema", "registerView.same-view",
     "Registering takes over the schema of the current version only.",
     "Earlier versions of a view that was moved have columns that they never had.",
     by(store_view_otherwise, "registerView", _current_schema)),
    ("view-register-without-log", "registerView.same-view",
     "A registered view begins its version log anew.",
     "Nobody can tell what a view that was moved was like before.",
     by(store_view_otherwise, "registerView", _last_entry)),
    ("view-register-without-properties", "registerView.same-view",
     "A registered view has no properties.",
     "What the view's owner wrote down about it is gone in the catalog that it moved to.",
     by(_keep, properties={})),
    ("view-register-one-dialect", "registerView.same-view",
     "Registering takes over the first query of each version.",
     "The engine that the other query was written for can no longer read the view.",
     by(_keep_versions,
        lambda each: replace(each, representations=each.representations[:1]))),
    ("view-register-without-default-catalog", "registerView.same-view",
     "A registered view resolves names in the catalog that it is registered in.",
     "The query reads other tables than it did, of the same name.",
     by(_keep_versions, lambda each: replace(each, default_catalog=None))),
    ("view-register-without-summaries", "registerView.same-view",
     "The summary of each version says that the catalog imported it.",
     "Nobody can tell any more which engine wrote which version.",
     by(_keep_versions, lambda each: replace(each, summary={"engine-name": "import"}))),
    ("view-register-dated-anew", "registerView.same-view",
     "The versions of a registered view are dated from its registration.",
     "The history of a view that was moved says what was not so.",
     by(store_view_otherwise, "registerView", _made_now)),
    ("view-register-greatest-version", "registerView.same-view",
     "The current version of a registered view is the one with the greatest id.",
     "A view that was set back to an earlier query gives the later one's rows.",
     by(store_view_otherwise, "registerView", _at_the_greatest)),
    ("view-register-in-its-namespace-only", "registerView.200",
     "The new view's path is computed from the folder of its file, which must be the namespace's.",
     "Whoever moves a view to another namespace looks for a failure of the server.",
     by(refuse_where, "registerView", _in_another_namespace, 500, "InternalServerError")),
    ("view-register-forgotten", "registerView.same-view",
     "A registration is answered and not kept.", "A view that was moved here is not here.",
     by(forget_effect, "registerView")),
    ("view-register-read-only", "registerView.replaceable",
     "Registered views belong to somebody else: commits to them are refused.",
     "A view that was moved here can be read and no longer replaced.",
     by(refuse_later, ("registerView", by_body), ("replaceView", by_path), 400,
        "BadRequestException")),
)  # fmt: skip


@defect(
    "view-register-answer-is-a-draft",
    on=answer_of("registerView"),
    breaks="registerView.answer-is-the-view",
    suffering="A client works on a version that is not the view's.",
)
def _answer_is_a_draft(body: Any) -> Any:
    """The answer is made before the file is read to its end."""
    body["metadata"]["current-version-id"] += 1
    return body


@defect(
    "view-register-answers-where-it-would-be",
    on=answer_of("registerView"),
    breaks="registerView.answer-is-the-view",
    suffering="Whoever reads the file that the answer names finds none.",
)
def _answers_another_file(body: Any) -> Any:
    """The answer names the file that a creation would have written."""
    return body | {"metadata-location": f"{body['metadata']['location']}/metadata/00000-new.json"}


def _moved(registries: Registries, where: str) -> None:
    """Let a registered view have another metadata location; ``{file}`` is the name of its file."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        name = sent_name(call)
        entry = outcome.state.view(call.namespace, name)
        if entry is None:
            return outcome
        parent, _, file = entry.metadata_location.rpartition("/")
        location = where.format(parent=parent, file=file)
        moved = view_with(entry, entry.metadata, location)
        return Outcome(outcome.state.with_view(call.namespace, name, moved), moved.reply)

    wrap(registries, "registerView", around)


declare_each(
    ("view-register-copies-the-file", "registerView.in-place",
     "A registered file is copied to where the catalog would have put it.",
     "Two catalogs that share a view drift apart.",
     by(_moved, "{parent}/00000-copy.metadata.json")),
    ("view-register-tells-a-link", "registerView.in-place",
     "A registered file is told by a link for downloads.",
     "Engines that read the file themselves do not find it by the name that it was given.",
     by(_moved, "https://files.invalid/{file}")),
)  # fmt: skip


@defect(
    "view-register-newest-file",
    breaks="registerView.same-view",
    suffering="Whoever goes back to an earlier file of a view gets the query they wanted to undo.",
)
def _newest_file(registries: Registries) -> None:
    """The newest metadata file of the view is registered, whichever one was named."""
    newest: dict[str, ViewEntry] = {}

    def commit(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        after = outcome.state.view(call.namespace, call.name)
        if after is not None:
            newest[after.metadata.view_uuid] = after
        return outcome

    def register(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        made = outcome.state.view(call.namespace, sent_name(call))
        other = newest.get(made.metadata.view_uuid) if made is not None else None
        if other is None:
            return outcome
        changed = outcome.state.with_view(call.namespace, sent_name(call), other)
        return Outcome(changed, other.reply)

    wrap(registries, "replaceView", commit)
    wrap(registries, "registerView", register)


@defect(
    "view-register-shares-one-row",
    on="replaceView",
    breaks="registerView.replaceable",
    suffering="A change of one view changes another, of somebody else.",
)
def _one_row(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """The row of a view has its uuid as the key, so that a commit reaches all of its names."""
    before = state.view(call.namespace, call.name)
    outcome = faithful(state, call)
    after = outcome.state.view(call.namespace, call.name)
    entry = state.namespace(call.namespace)
    if before is None or after is None or entry is None:
        return outcome
    changed = outcome.state
    for name, other in entry.views.after():
        if other.metadata.view_uuid == before.metadata.view_uuid:
            changed = changed.with_view(call.namespace, name, after)
    return replace(outcome, state=changed)


@defect(
    "view-register-file-rewritten",
    breaks="registerView.replaceable",
    suffering="The catalog that a view was moved from reads a version that it never had.",
)
def _rewritten(registries: Registries) -> None:
    """Commits to a registered view are written into the file that was named."""
    files: set[str] = set()

    def register(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        files.add(str(sent_json(call).get("metadata-location")))
        return outcome

    def commit(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        before = state.view(call.namespace, call.name)
        outcome = faithful(state, call)
        after = outcome.state.view(call.namespace, call.name)
        if before is None or after is None or before.metadata_location not in files:
            return outcome
        kept = view_with(after, after.metadata, before.metadata_location)
        changed = outcome.state.with_view(call.namespace, call.name, kept)
        return Outcome(changed, kept.reply)

    wrap(registries, "registerView", register)
    wrap(registries, "replaceView", commit)


# ---- files that are no views


def _enter_unread(registries: Registries, *, refuse: bool) -> None:
    """Enter another view of the namespace where the file of a registration cannot be read."""

    def answer(_: Faithful, state: WarehouseState, call: Call, refused: Problem) -> Outcome:
        entry = state.namespace(call.namespace)
        others = [] if entry is None else [view for _, view in entry.views.after()]
        if not others or not {"name", "metadata-location"} <= sent_json(call).keys():
            raise refused
        entered = state.with_view(call.namespace, sent_name(call), others[0])
        return Outcome(entered, problem_reply(refused) if refuse else others[0].reply)

    answer_refusal(registries, "registerView", 400, answer)


declare_each(
    ("view-register-unread", "registerView.unreadable-refused",
     "A file that cannot be read is taken to be the one that was read before.",
     "A misspelled location makes a view that is another one.", by(_enter_unread, refuse=False)),
    ("view-register-refused-yet-there", "registerView.unreadable-refused",
     "A name is entered before the file is read, and stays when that fails.",
     "A view whose registration was refused is there.", by(_enter_unread, refuse=True)),
)  # fmt: skip
