"""Defects of views and commits to them: parts are lost or ignored."""

from msgspec.structs import replace

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare, defect, through
from icecheck.mock_server.defects.kit.places import answer_of, request_of
from icecheck.mock_server.defects.kit.remembering import place_of
from icecheck.mock_server.defects.kit.requests import Json, Name, sent_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.defects.kit.storing import store_view_otherwise, view_with
from icecheck.mock_server.defects.kit.updating import read_view_update
from icecheck.mock_server.metadata.view_metadata import ViewHistoryEntry, ViewMetadata
from icecheck.mock_server.protocol import problem

declare(
    "view-commit-default-catalog-lost",
    "A version that a commit adds has no default catalog.",
    by(
        read_view_update,
        "add-view-version",
        lambda update, _: replace(
            update, view_version=replace(update.view_version, default_catalog=None)
        ),
    ),
    breaks="view-update.add-view-version.effect",
    suffering="A view reads tables of another catalog than it was written for.",
)


@defect(
    "view-commit-skips-unknown-requirements",
    on=request_of("replaceView"),
    breaks="view-assertion.unknown-refused",
    suffering="A condition that a newer client relies on is ignored.",
)
def _skips_unknown_requirements(body: Json) -> Json:
    """Requirements on a view that the server does not know count as satisfied."""
    requirements = body.get("requirements") or []
    kept = [r for r in requirements if r.get("type") == "assert-view-uuid"]
    return {**body, "requirements": kept}


@defect(
    "view-commit-keeps-a-query-for-each-dialect",
    on=request_of("replaceView"),
    breaks="replaceView.kept-or-refused",
    suffering="Of two queries that were sent one is lost, and nobody is told which.",
)
def _one_for_each_dialect(body: Json) -> Json:
    """The queries of a version are kept by their dialect, the last one of each."""

    def kept(update: Json) -> Json:
        version = update.get("view-version")
        if not isinstance(version, dict):
            return update
        by_dialect = {each.get("dialect"): each for each in version["representations"]}
        queries = {"representations": [*by_dialect.values()]}
        return update | {"view-version": version | queries}

    updates = body.get("updates")
    return body | {"updates": [*map(kept, updates)]} if isinstance(updates, list) else body


@defect(
    "view-default-namespace-looked-up",
    on="createView",
    breaks="createView.unknown-default-namespace",
    suffering="CREATE VIEW fails in a session whose current namespace is elsewhere.",
)
def _default_namespace_looked_up(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A view is refused whose default namespace is not in the catalog."""
    version = sent_json(call).get("view-version")
    named = version.get("default-namespace") if isinstance(version, dict) else None
    if isinstance(named, list) and state.namespace(tuple(named)) is None:
        raise problem.bad_request("The default namespace does not exist")
    return faithful(state, call)


@defect(
    "view-made-at-version-one",
    on=answer_of("createView"),
    breaks="states.view-life",
    suffering="A view that was just made cannot be read: its current version is not there.",
)
def _made_at_version_one(body: Json) -> Json:
    """The answer to a creation says that version 1 is current, whatever the version is called."""
    return {**body, "metadata": {**body["metadata"], "current-version-id": 1}}


@defect(
    "view-version-replaces-that-of-its-id",
    on=through(store_view_otherwise, "replaceView"),
    breaks="states.view-life",
    suffering="Of two writers that did not know of each other, one loses what was acknowledged.",
)
def _version_replaces(before: ViewMetadata | None, after: ViewMetadata, body: Json) -> ViewMetadata:
    """A version that is sent under an id that the view has takes the place of that version."""
    had = [] if before is None else [each.version_id for each in before.versions]
    new = [each.version_id for each in after.versions if each.version_id not in had]
    updates = body["updates"]
    sent = [each["view-version"]["version-id"] for each in updates if "view-version" in each]
    taken = {is_: id_ for is_, id_ in zip(new, sent, strict=False) if id_ in had}
    return _under_other_ids(after, taken)


def _under_other_ids(metadata: ViewMetadata, ids: dict[int, int]) -> ViewMetadata:
    """Return metadata with other version ids; versions that had these ids before are removed."""
    current = metadata.current_version_id
    return replace(
        metadata,
        current_version_id=ids.get(current, current),
        versions=tuple(
            replace(each, version_id=ids.get(each.version_id, each.version_id))
            for each in metadata.versions
            if each.version_id not in ids.values()
        ),
        version_log=tuple(
            replace(each, version_id=ids.get(each.version_id, each.version_id))
            for each in metadata.version_log
        ),
    )


@defect(
    "view-log-goes-on-after-the-drop",
    breaks="states.view-history",
    suffering="The log of a view names versions that it has never had.",
)
def _log_goes_on(registries: Registries) -> None:
    """The log of a view is kept by name: one that is made anew goes on with that of the dropped."""
    logs: dict[Name, tuple[ViewHistoryEntry, ...]] = {}

    def dropped(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        entry = state.view(call.namespace, call.name)
        outcome = faithful(state, call)
        if entry is not None:
            logs[place_of(call)] = entry.metadata.version_log
        return outcome

    def made(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        name = sent_json(call)["name"]
        entry = outcome.state.view(call.namespace, name)
        log = logs.get((call.namespace, name))
        if entry is None or log is None:
            return outcome
        metadata = replace(entry.metadata, version_log=(*log, *entry.metadata.version_log))
        kept = view_with(entry, metadata)
        state = outcome.state.with_view(call.namespace, name, kept)
        return Outcome(state, kept.reply, outcome.effects)

    wrap(registries, "dropView", dropped)
    wrap(registries, "createView", made)


# ---- nulls


def _with_catalog(version: Json) -> Json:
    """Return a version in which a default catalog that is null has become a text."""
    is_null = version.get("default-catalog", "") is None
    return version | {"default-catalog": "null"} if is_null else version


@defect(
    "view-commit-null-catalog-is-a-text",
    on=request_of("replaceView"),
    breaks="replaceView.null-is-absent",
    suffering="A view that was replaced reads tables of a catalog that is called null.",
)
def _null_catalog(body: Json) -> Json:
    """Whatever the default catalog of an added version is, it is turned into a text."""
    for update in body["updates"]:
        if "view-version" in update:
            update["view-version"] = _with_catalog(update["view-version"])
    return body
