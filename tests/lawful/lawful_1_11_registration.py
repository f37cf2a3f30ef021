"""Catalogs that follow 1.11.0, and treat registrations and entity tags unlike the mock."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.changing import refuse_where
from icecheck.mock_server.defects.kit.requests import sent_json, sent_name
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_body, wrap
from icecheck.mock_server.defects.kit.storing import store_view_otherwise, view_with
from icecheck.mock_server.metadata.view_metadata import ViewHistoryEntry, ViewMetadata
from icecheck.mock_server.protocol.problem import Problem, bad_request
from tests.lawful.lawful import Install

Body = dict[str, Any]
_TABLES = ("createTable", "loadTable", "registerTable", "updateTable")
_VIEWS = ("createView", "loadView", "replaceView", "registerView")


def _file(call: Call) -> str:
    return str(sent_json(call).get("metadata-location"))


def _without(*operation_ids: str) -> Install:
    def install(registries: Registries) -> None:
        for operation_id in operation_ids:
            del registries.operations[operation_id]

    return install


# ---- files


def _deletes(registries: Registries, kind: str, *, status: int = 400, later: bool = False) -> None:
    """Delete the files of what is dropped; ``later``, only after its next registration."""
    gone: set[str] = set()
    drop, register, load = (f"{each}{kind.title()}" for each in ("drop", "register", "load"))

    def entry_of(state: WarehouseState, call: Call, name: str) -> Any:
        return (state.table if kind == "table" else state.view)(call.namespace, name)

    def uuid_of(entry: Any) -> str:
        return str(getattr(entry.metadata, f"{kind}_uuid"))

    def dropping(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        entry = entry_of(state, call, call.name)
        outcome = faithful(state, call)
        gone.add(uuid_of(entry))
        return outcome

    def registering(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        if uuid_of(entry_of(outcome.state, call, sent_name(call))) in gone and not later:
            raise Problem(status, "NotFoundException", "The file does not exist")
        return outcome

    def loading(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        entry = entry_of(state, call, call.name)
        if entry is not None and uuid_of(entry) in gone:
            raise Problem(404, f"NoSuch{kind.title()}Exception", "Its file does not exist")
        return faithful(state, call)

    wrap(registries, drop, dropping)
    wrap(registries, register, registering)
    if later:
        wrap(registries, load, loading)


def _deletes_view_files(registries: Registries) -> None:
    """Delete the file of a view that is dropped."""
    _deletes(registries, "view")


def _deletes_view_files_later(registries: Registries) -> None:
    """Delete the file of a dropped view a little later, whoever has registered it since."""
    _deletes(registries, "view", later=True)


def _deletes_table_files(registries: Registries) -> None:
    """Delete the file of a table that is dropped, although nobody has asked for a purge."""
    _deletes(registries, "table", status=404)


def _one_view_a_file(registries: Registries) -> None:
    """Refuse with 409 a file that a view has, before the name and its namespace are looked at."""

    def registering(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        every = [view for _, each in state.namespaces.after() for _, view in each.views.after()]
        if sent_name(call) and any(v.metadata_location == _file(call) for v in every):
            raise Problem(409, "AlreadyExistsException", "Another view has this file")
        return faithful(state, call)

    wrap(registries, "registerView", registering)


def _one_view_a_uuid(registries: Registries) -> None:
    """Keep views by their uuid: what is there is not registered a second time, which is a 400."""

    def registering(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        made = outcome.state.view(call.namespace, sent_name(call))
        every = [view for _, each in state.namespaces.after() for _, view in each.views.after()]
        if made and any(v.metadata.view_uuid == made.metadata.view_uuid for v in every):
            raise bad_request("A view with this uuid exists")
        return outcome

    wrap(registries, "registerView", registering)


def _no_file_of_its_own(registries: Registries) -> None:
    """Delete the files of dropped views, and refuse those of views that are there."""
    _one_view_a_uuid(registries)
    _deletes_view_files(registries)


def _newest_file_only(registries: Registries) -> None:
    """Delete the metadata file that a commit to a view has followed: it cannot be registered."""
    gone: set[str] = set()

    def committing(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        before = state.view(call.namespace, call.name)
        outcome = faithful(state, call)
        gone.update([before.metadata_location] if before is not None else ())
        return outcome

    def registering(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        if _file(call) in gone:
            raise bad_request("The file does not exist")
        return outcome

    wrap(registries, "replaceView", committing)
    wrap(registries, "registerView", registering)


def _files_of_the_namespace_only(registries: Registries) -> None:
    """Refuse with 403 files that are not below the folder of the namespace."""

    def elsewhere(state: WarehouseState, call: Call) -> bool:
        there = state.namespace(call.namespace) is not None
        free = there and state.kind_of(call.namespace, sent_name(call)) is None
        return free and "metadata" in _file(call) and call.namespace[-1] not in _file(call)

    refuse_where(registries, "registerView", elsewhere, 403, "ForbiddenException")


def _one_dialect(registries: Registries) -> None:
    """Refuse views in several dialects, and those that name a catalog for their tables."""

    def refused(_: WarehouseState, call: Call) -> bool:
        sent = sent_json(call)
        added = [each.get("view-version") for each in sent.get("updates") or ()]
        versions = [each for each in (sent.get("view-version"), *added) if each]
        return any(len(v["representations"]) > 1 or "default-catalog" in v for v in versions)

    for operation_id in ("createView", "replaceView"):
        refuse_where(registries, operation_id, refused)


def _keeps_dialects(registries: Registries) -> None:
    """Refuse a version in fewer dialects than the one before, whatever the properties say."""

    def refused(state: WarehouseState, call: Call) -> bool:
        view = state.view(call.namespace, call.name)
        if view is None:
            return False
        held = {v.version_id: len(v.representations) for v in view.metadata.versions}
        due = held[view.metadata.current_version_id]
        updates = sent_json(call).get("updates") or ()
        added = [len(u["view-version"]["representations"]) for u in updates if "view-version" in u]
        named = [held.get(u["view-version-id"], due) for u in updates if "view-version-id" in u]
        return any(dialects < due for dialects in (*added, *named))

    refuse_where(registries, "replaceView", refused)


def _files_of_others_only(registries: Registries) -> None:
    """Refuse with 403 every file below the locations that the catalog gives out."""
    told = ("metadata-location", "name")
    refuse_where(
        registries, "registerView",
        lambda state, call: all(each in sent_json(call) for each in told)
        and state.namespace(call.namespace) is not None
        and state.kind_of(call.namespace, sent_name(call)) is None,
        403, "ForbiddenException",
    )  # fmt: skip


def no_table_files(registries: Registries) -> None:
    """Refuse with 400 to register any table: not lawful."""
    told = {"name", "metadata-location"}
    refuse_where(registries, "registerTable", lambda _, call: told <= {*sent_json(call)})


# ---- registered views


def _spelled_otherwise(registries: Registries) -> None:
    """Spell uuids in capitals, list versions newest first, and add properties and members."""

    def spelled(body: Body) -> Body:
        metadata = body["metadata"]
        return body | {
            "config": {"owner": "catalog"},
            "metadata": metadata | {
                "view-uuid": metadata["view-uuid"].upper(),
                "versions": metadata["versions"][::-1],
                "properties": metadata.get("properties", {}) | {"owner": "catalog"},
            },
        }  # fmt: skip

    for operation_id in _VIEWS:
        alter_body(registries, operation_id, spelled)


def _logs_registrations(registries: Registries) -> None:
    """Enter the registration in the version log, and give the view a place of its own."""

    def entered(_: ViewMetadata | None, made: ViewMetadata, _sent: Body) -> ViewMetadata:
        last = made.version_log[-1]
        entry = ViewHistoryEntry(timestamp_ms=last.timestamp_ms + 1, version_id=last.version_id)
        location = f"{made.location}_registered"
        return replace(made, version_log=(*made.version_log, entry), location=location)

    store_view_otherwise(registries, "registerView", entered)


def _copies_files(registries: Registries) -> None:
    """Copy a registered file to a place of its own, which the document does not recommend."""

    def registering(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        name = sent_name(call)
        entry = outcome.state.view(call.namespace, name)
        assert entry is not None
        parent = entry.metadata_location.rpartition("/")[0]
        copied = view_with(entry, entry.metadata, f"{parent}/{name}.metadata.json")
        return Outcome(outcome.state.with_view(call.namespace, name, copied), copied.reply)

    wrap(registries, "registerView", registering)


def _unreadable_is_missing(registries: Registries) -> None:
    """Answer 404 where a view's file is missing or no view's, as the Java reference does."""

    def registering(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(state, call)
        except Problem as refused:
            if refused.status != 400 or not {"name", "metadata-location"} <= {*sent_json(call)}:
                raise
            raise Problem(404, "NotFoundException", "The file does not exist") from None

    wrap(registries, "registerView", registering)


# ---- entity tags


def _tagged(
    registries: Registries, tag: Callable[[str, Call, Body], str | None], *, exactly: bool = True
) -> None:
    """Give answers the tag that ``tag`` makes of operation, call and body; none if it is None.

    A load is answered 304 to its own tag only, and never unless ``exactly``.
    """

    def wrapped(operation_id: str) -> None:
        def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
            headers = dict(call.request.headers)
            asked = headers.pop("if-none-match", None)
            plain = replace(call, request=replace(call.request, headers=headers))
            outcome = faithful(state, plain)
            if outcome.reply.status != 200:
                return outcome
            made = tag(operation_id, call, json.loads(outcome.reply.body))
            kept = tuple(each for each in outcome.reply.headers if each[0] != "etag")
            own = () if made is None else (("etag", made),)
            reply = replace(outcome.reply, headers=(*kept, *own))
            if exactly and made is not None and asked == made:
                reply = Reply(304, own)
            return replace(outcome, reply=reply)

        wrap(registries, operation_id, around)

    for operation_id in _TABLES:
        wrapped(operation_id)


def _digest(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def _no_tags_of_commits(registries: Registries) -> None:
    """Send tags with loads alone."""

    def of(operation_id: str, _: Call, body: Body) -> str | None:
        return f'"{_digest(body["metadata"])}"' if operation_id == "loadTable" else None

    _tagged(registries, of)


def _tags_of_queries(registries: Registries) -> None:
    """Make tags without quotes of location and query, as the Java reference does."""

    def of(operation_id: str, call: Call, body: Body) -> str:
        query = dict(call.query) if operation_id == "loadTable" else {"snapshots": "all"}
        return _digest(body.get("metadata-location"), query)

    _tagged(registries, of)


def _weak_tags(registries: Registries) -> None:
    """Make weak tags of the whole answer."""
    _tagged(registries, lambda _, __, body: f'W/"{_digest(body)}"')


def _tags_for_others(registries: Registries) -> None:
    """Send tags that caches on the way may use, and answer every load with the whole table."""
    _tagged(registries, lambda _, __, body: f'"{_digest(body)}"', exactly=False)


def _one_tag_a_version(registries: Registries) -> None:
    """Give both modes of a load one tag, which the document does not recommend."""
    _tagged(registries, lambda _, __, body: f'"{_digest(body.get("metadata-location"))}"')


# ---- referenced snapshots


def _all_snapshots_always(registries: Registries) -> None:
    """Show all snapshots where the referenced ones are asked for."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        asked = {k: v for k, v in call.query.items() if (k, v) != ("snapshots", "refs")}
        return faithful(state, replace(call, query=asked))

    wrap(registries, "loadTable", around)


def _no_log_and_no_statistics(registries: Registries) -> None:
    """Show neither a snapshot log nor statistics, which tables need not have."""
    hidden = ("snapshot-log", "statistics", "partition-statistics")

    def shown(body: Body) -> Body:
        return body | {"metadata": {k: v for k, v in body["metadata"].items() if k not in hidden}}

    for operation_id in _TABLES:
        alter_body(registries, operation_id, shown)


LAWFUL_REGISTRATIONS: dict[str, Install] = {
    "no-registration-of-views": _without("registerView"),
    "no-views": _without(
        "listViews", "createView", "loadView", "viewExists", "replaceView", "dropView",
        "renameView", "registerView",
    ),
    "views-are-not-replaced": _without("replaceView"),
    "views-are-not-dropped": _without("dropView"),
    "deletes-view-files": _deletes_view_files,
    "deletes-view-files-later": _deletes_view_files_later,
    "deletes-table-files": _deletes_table_files,
    "one-view-a-file": _one_view_a_file,
    "one-view-a-uuid": _one_view_a_uuid,
    "no-file-of-its-own": _no_file_of_its_own,
    "newest-file-only": _newest_file_only,
    "files-of-the-namespace-only": _files_of_the_namespace_only,
    "one-dialect": _one_dialect,
    "keeps-dialects": _keeps_dialects,
    "files-of-others-only": _files_of_others_only,
    "spelled-otherwise": _spelled_otherwise,
    "logs-registrations": _logs_registrations,
    "unreadable-is-missing": _unreadable_is_missing,
    "no-tags-of-commits": _no_tags_of_commits,
    "tags-of-queries": _tags_of_queries,
    "weak-tags-of-all": _weak_tags,
    "tags-for-others": _tags_for_others,
    "all-snapshots-always": _all_snapshots_always,
    "no-log-and-no-statistics": _no_log_and_no_statistics,
}  # fmt: skip
"""Name -> the installation of such a catalog; no check of registrations and tags fails there."""

RECOMMENDED: dict[str, tuple[Install, frozenset[str]]] = {
    "copies-files": (_copies_files, frozenset({"registerView.keeps-location"})),
    "one-tag-a-version": (_one_tag_a_version, frozenset({"etag.per-snapshots-mode"})),
}
"""Name -> a catalog that does not do as recommended, and the checks that fail there for it."""
