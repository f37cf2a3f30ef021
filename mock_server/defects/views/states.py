"""Defects that show in some states of a view only, or where updates meet in one commit."""

from collections.abc import Callable
from typing import Any

from msgspec import convert
from msgspec.structs import replace

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare, declare_each, defect, through
from icecheck.mock_server.defects.kit.places import answer_of, view_update
from icecheck.mock_server.defects.kit.requests import Json, sent_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_request_body, wrap
from icecheck.mock_server.defects.kit.storing import store_view_otherwise, view_with
from icecheck.mock_server.defects.kit.updating import FaithfulViewUpdate, alter_view_update
from icecheck.mock_server.metadata.model import Schema
from icecheck.mock_server.metadata.requested import RequestedSchema
from icecheck.mock_server.metadata.view_builder import ViewDraft, view_schema
from icecheck.mock_server.metadata.view_metadata import ViewMetadata, ViewVersion
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import Problem

_LIFE = "states.view-life"
_HISTORY = "states.view-history"
_OTHER_COLUMNS = "A view is read with the columns of another definition."
_NO_WAY_BACK = "Earlier definitions of a view cannot be looked up or restored."


def _alter_updates(
    registries: Registries, change: Callable[[list[Json]], list[Json]], member: str = "updates"
) -> None:
    """Let replaceView see an altered list of updates, or of requirements."""

    def altered(body: Json) -> Json:
        sent = body.get(member)
        if not isinstance(sent, list) or not all(isinstance(each, dict) for each in sent):
            return body
        return {**body, member: change(sent)}

    alter_request_body(registries, "replaceView", altered)


def _current(metadata: ViewMetadata) -> ViewVersion:
    current = metadata.current_version_id
    return next(each for each in metadata.versions if each.version_id == current)


def _is(action: str) -> Callable[[Json], bool]:
    return lambda update: update.get("action") == action


# ---- updates that meet


def _only_first(registries: Registries, action: str) -> None:
    def first(sent: list[Json]) -> list[Json]:
        moves = [u for u in sent if _is(action)(u)]
        return [u for u in sent if u not in moves[1:]]

    _alter_updates(registries, first)


def _beside_a_version(sent: list[Json], ending: str) -> list[Json]:
    """Return the updates without those whose action ends so, if a version is added."""
    if not any(_is("add-view-version")(update) for update in sent):
        return sent
    return [update for update in sent if not str(update.get("action")).endswith(ending)]


declare_each(
    ("view-schemas-are-added-first", _LIFE,
     "All schemas of a commit are added before its versions: -1 is the last one for all.",
     _OTHER_COLUMNS,
     by(_alter_updates, lambda sent: sorted(sent, key=lambda u: not _is("add-schema")(u)))),
    ("view-last-added-version-is-that-of-the-commit", _LIFE,
     "The current version is set when all else of a commit is done: -1 is the last one of all.",
     "A definition that was only prepared is what everybody reads.",
     by(_alter_updates, lambda sent: sorted(sent, key=_is("set-current-view-version")))),
    ("view-first-of-two-moves", _LIFE,
     "Of several moves of the current version in one commit the first one counts.",
     "A definition that its author has taken back is what everybody reads.",
     by(_only_first, "set-current-view-version")),
    ("view-first-requirement-counts", _LIFE,
     "Of several requirements of a commit to a view the first one is looked at.",
     "A commit goes to a view that has taken another one's place.",
     by(_alter_updates, lambda sent: sent[:1], "requirements")),
    ("view-version-pushes-properties-aside", _LIFE,
     "A commit writes a version or properties: where it has a version, properties stay.",
     "A setting that was made along with a new definition has never been made.",
     by(_alter_updates, lambda sent: _beside_a_version(sent, "properties"))),
    ("view-version-pushes-location-aside", _LIFE,
     "A commit writes a version or moves the view: where it has a version, the location stays.",
     "Files of a view are looked for where it has been moved away from.",
     by(_alter_updates, lambda sent: _beside_a_version(sent, "location"))),
    ("view-properties-are-removed-last", _LIFE,
     "All removals of a view's properties are done when all else of a commit is.",
     "A setting that a commit makes anew is gone.",
     by(_alter_updates, lambda sent: sorted(sent, key=_is("remove-properties")))),
    ("view-properties-are-removed-first", _LIFE,
     "All removals of a view's properties are done before all else of a commit.",
     "A setting that a commit takes back stays in force.",
     by(_alter_updates, lambda sent: sorted(sent, key=lambda u: not _is("remove-properties")(u)))),
    ("view-first-location-counts", _LIFE,
     "Of several locations in one commit the first one counts.",
     "Files of a view are looked for where it has never been meant to be.",
     by(_only_first, "set-location")),
)  # fmt: skip


# ---- named and unnamed parts


@defect(
    "view-later-dialects-keep-their-queries",
    on=view_update("add-view-version"),
    breaks=_LIFE,
    suffering="Two engines read one view with different queries, one of them replaced long ago.",
)
def _later_dialects(faithful: FaithfulViewUpdate, update: Any, draft: ViewDraft) -> None:
    """A version has its first query; the others are those that the view has in their dialects."""
    had = {each.dialect: each for each in _current(draft.metadata).representations}
    first, *others = update.view_version.representations
    kept = (first, *(had.get(each.dialect, each) for each in others))
    version = replace(update.view_version, representations=kept)
    faithful(replace(update, view_version=version), draft)


@defect(
    "view-version-of-the-current-schema",
    on=view_update("add-view-version"),
    breaks=_LIFE,
    suffering=_OTHER_COLUMNS,
)
def _of_current_schema(faithful: FaithfulViewUpdate, update: Any, draft: ViewDraft) -> None:
    """A version that names a schema by its id gets the one that is current."""
    version = update.view_version
    if version.schema_id in {each.schema_id for each in draft.metadata.schemas}:
        version = replace(version, schema_id=_current(draft.metadata).schema_id)
    faithful(replace(update, view_version=version), draft)


def _without(schema: Schema, *members: str) -> Any:
    """Return the top-level fields of a schema without some of their members."""
    return [
        [getattr(field, member) for member in field.__struct_fields__ if member not in members]
        for field in schema.fields
    ]


def _alike(registries: Registries, *members: str) -> None:
    def apply(faithful: FaithfulViewUpdate, update: Any, draft: ViewDraft) -> None:
        sent = view_schema(update.schema, 0)
        before = draft.metadata.schemas
        faithful(update, draft)
        twins = [each for each in before if _without(each, *members) == _without(sent, *members)]
        if twins and draft.metadata.schemas != before:
            last = replace(twins[0], schema_id=draft.metadata.schemas[-1].schema_id)
            draft.change(schemas=(*draft.metadata.schemas[:-1], last))

    alter_view_update(registries, "add-schema", apply)


declare_each(
    ("view-schemas-are-alike-but-for-docs", _LIFE,
     "A schema that differs from one of the view in its docs only is that one.",
     "Comments on a view's columns cannot be changed.", by(_alike, "doc")),
    ("view-schemas-are-alike-but-for-nulls", _LIFE,
     "A schema that differs from one of the view in what is required only is that one.",
     "Rows with nulls are lost where a view's column has become optional.", by(_alike, "required")),
)  # fmt: skip


# ---- refusals, answers and names


@defect(
    "view-refused-schemas-stay",
    on="replaceView",
    breaks=_LIFE,
    suffering="Every conflict leaves a schema behind, until the view's file is full of them.",
)
def _refused_schemas_stay(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Schemas are written before the rest of a commit is judged."""
    try:
        return faithful(state, call)
    except Problem as refused:
        entry, updates = state.view(call.namespace, call.name), sent_json(call).get("updates")
        if refused.status not in {400, 409} or entry is None or not isinstance(updates, list):
            raise
        draft = ViewDraft(entry.metadata, now_ms=faithful.context.clock.now_ms())
        for update in updates:
            if isinstance(update, dict) and _is("add-schema")(update):
                draft.add_schema(convert(update["schema"], RequestedSchema))
        kept = state.with_view(call.namespace, call.name, view_with(entry, draft.metadata))
        return Outcome(kept, replies.problem_reply(refused))


@defect(
    "view-answers-with-its-current-schema",
    on=answer_of("replaceView"),
    breaks=_LIFE,
    suffering="Whoever has just committed to a view takes its other schemas for gone.",
)
def _answers_with_current_schema(body: Json) -> Json:
    """The answer to a commit has the schema of the current version only."""
    metadata = body["metadata"]
    current = metadata["current-version-id"]
    used = {v["schema-id"] for v in metadata["versions"] if v["version-id"] == current}
    kept = [s for s in metadata["schemas"] if s.get("schema-id", 0) in used]
    return {**body, "metadata": {**metadata, "schemas": kept}}


def _rename_otherwise(
    registries: Registries, change: Callable[[ViewMetadata], ViewMetadata]
) -> None:
    """Let a rename keep a changed view under the new name."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        new = sent_json(call)["destination"]
        where = tuple(new["namespace"]), new["name"]
        entry = outcome.state.view(*where)
        if entry is None:
            return outcome
        kept = outcome.state.with_view(*where, view_with(entry, change(entry.metadata)))
        return replace(outcome, state=kept)

    wrap(registries, "renameView", around)


declare_each(
    ("view-rename-goes-to-the-last-version", _LIFE,
     "A renamed view is read in anew, and its last version is the current one.", _OTHER_COLUMNS,
     by(_rename_otherwise,
        lambda metadata: replace(metadata, current_version_id=metadata.versions[-1].version_id))),
)  # fmt: skip


@defect(
    "view-rename-forgets-what-is-not-used",
    on=through(_rename_otherwise),
    breaks=_LIFE,
    suffering="A schema that a client has prepared is gone.",
)
def _rename_forgets(metadata: ViewMetadata) -> ViewMetadata:
    """A view is renamed by making it anew, with its current version and schema."""
    current = _current(metadata)
    schemas = tuple(s for s in metadata.schemas if s.schema_id == current.schema_id)
    return replace(metadata, schemas=schemas, versions=(current,))


# ---- earlier versions


declare(
    "view-rename-begins-a-log",
    "A renamed view has a version log of its current version only.",
    by(_rename_otherwise, lambda m: replace(m, version_log=m.version_log[-1:])),
    breaks=_HISTORY,
    suffering=_NO_WAY_BACK,
)


@defect(
    "view-way-back-forgets-what-was-later",
    on=through(store_view_otherwise, "replaceView"),
    breaks=_HISTORY,
    suffering=_NO_WAY_BACK,
)
def _way_back_forgets(before: ViewMetadata | None, made: ViewMetadata, _sent: Json) -> ViewMetadata:
    """To make an earlier version current is to undo what came after it."""
    if before is None or made.current_version_id >= before.current_version_id:
        return made
    kept = [v for v in made.versions if v.version_id <= made.current_version_id]
    return replace(made, versions=tuple(kept))


@defect(
    "view-current-version-is-of-now",
    on=through(store_view_otherwise, "replaceView"),
    breaks=_HISTORY,
    suffering="It cannot be told when a view was defined as it is.",
)
def _of_now(before: ViewMetadata | None, made: ViewMetadata, _sent: Json) -> ViewMetadata:
    """A version that is made current once more gets the time of that."""
    if before is None or made.current_version_id == before.current_version_id:
        return made
    last = made.version_log[-1].timestamp_ms
    versions = [
        replace(v, timestamp_ms=last) if v.version_id == made.current_version_id else v
        for v in made.versions
    ]
    return replace(made, versions=tuple(versions))


@defect(
    "view-schemas-are-collected",
    on=through(store_view_otherwise, "replaceView"),
    breaks=_HISTORY,
    suffering=_NO_WAY_BACK,
)
def _collected(before: ViewMetadata | None, made: ViewMetadata, _sent: Json) -> ViewMetadata:
    """With every new version the schemas are let go that no version uses yet."""
    if before is None or len(made.versions) == len(before.versions):
        return made
    used = {version.schema_id for version in made.versions}
    kept = [schema for schema in made.schemas if schema.schema_id in used]
    return replace(made, schemas=tuple(kept))
