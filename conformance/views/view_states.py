"""The expected state of a view after a commit, and the judgement of answers by it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from icecheck.findings.shared_symptoms import CHANGED_BESIDE, EFFECT_MISSING
from icecheck.findings.symptoms import Severity, Symptom, declare
from icecheck.objects.metadata_view import field_ids, metadata_in, place, shape
from icecheck.objects.views import VIEW_HISTORY_LOST, View, definition_of, settled_view
from icecheck.replies.expect import ABSENT, SHAPE_ERRORS, Reply, difference, equal, show

__all__ = [
    "LAST_ADDED",
    "ViewState",
    "after_commit",
    "expect_history",
    "expect_state",
    "first_state",
    "history_of",
    "state_of",
]

_NO_VIEW = declare("no-view", "Answers without a view that can be read", Severity.SHAPE)

Json = dict[str, Any]
ViewState = Mapping[str, Any]
"""A view as a load shows it: ``settled_view`` with all ids as strings."""

LAST_ADDED = -1
_OF_A_VERSION = ("timestamp-ms", "summary")
_NEW = "the new "
_SHOWN_MAX = 3
_CALLED = {"schemas": "schema", "versions": "definition", "current-version-id": "definition"}
"""The names that other checks use: a lost member has one cause, whatever request showed it."""


def state_of(metadata: Json, property_keys: Sequence[str]) -> ViewState:
    """Return the state that metadata show: all versions, all schemas, and these properties."""
    state = settled_view(metadata, *property_keys)
    versions = {
        key: {**each, "schema-id": str(each["schema-id"])}
        for key, each in state["versions"].items()
    }
    return {**state, "current-version-id": str(state["current-version-id"]), "versions": versions}


# ---- the effect of a commit


def after_commit(before: ViewState, updates: Sequence[Json]) -> ViewState:
    """Return the expected state after updates, with placeholders for the ids of new things."""
    schemas, versions = dict(before["schemas"]), dict(before["versions"])
    due = {**before, "schemas": schemas, "versions": versions}
    due["properties"] = dict(before["properties"])
    schema_id = version_id = ""
    for update in updates:
        match update["action"]:
            case "set-properties":
                due["properties"] |= update["updates"]
            case "remove-properties":
                due["properties"] |= dict.fromkeys(update["removals"])
            case "set-location":
                due["location"] = place(update["location"])
            case "add-schema":
                schema_id = f"{_NEW}{len(schemas)}"
                sent = update["schema"]
                schemas[schema_id] = (shape(sent), [*field_ids(sent)])
            case "add-view-version":
                version_id = f"{_NEW}{len(versions)}"
                sent = update["view-version"]
                named = sent["schema-id"]
                versions[version_id] = {
                    "schema-id": schema_id if named == LAST_ADDED else str(named),
                    **definition_of(sent),
                }
            case "set-current-view-version":
                named = update["view-version-id"]
                due["current-version-id"] = version_id if named == LAST_ADDED else str(named)
    return due


def _as_assigned(before: ViewState, due: ViewState, seen: ViewState) -> ViewState:
    """Return the expected state with the ids that the server has assigned to new things.

    New things are found by their content. The server chooses the field ids of a new schema, once.
    """
    ids: dict[str, str] = {}
    schemas = {}
    for key, sent in due["schemas"].items():
        alike = [
            other
            for other, each in seen["schemas"].items()
            if key.startswith(_NEW)
            and other not in before["schemas"]
            and other not in schemas
            and each[0] == sent[0]
        ]
        ids[key] = alike[0] if alike else key
        schemas[ids[key]] = seen["schemas"][alike[0]] if alike else sent
    versions: Json = {}
    for key, sent in due["versions"].items():
        wanted = {**sent, "schema-id": ids.get(sent["schema-id"], sent["schema-id"])}
        new = [
            other
            for other in seen["versions"]
            if key.startswith(_NEW) and other not in before["versions"] and other not in versions
        ]
        # Prefer the version with the same definition and schema, then one with the same definition.
        best = sorted(new, key=lambda other: _unlike(wanted, seen["versions"][other]))
        ids[f"version {key}"] = best[0] if best else key
        versions[best[0] if best else key] = wanted
    current = ids.get(f"version {due['current-version-id']}", due["current-version-id"])
    return {**due, "schemas": schemas, "versions": versions, "current-version-id": current}


def _unlike(wanted: Json, seen: Json) -> tuple[bool, bool]:
    return definition_of(wanted) != definition_of(seen), wanted != seen


def _without_expired(before: ViewState, due: ViewState, seen: ViewState) -> ViewState:
    """Return the expected state without the older versions that are gone, and their schemas."""
    versions = {
        key: each
        for key, each in due["versions"].items()
        if key in seen["versions"]
        or key not in before["versions"]
        or key == due["current-version-id"]
    }
    used = {each["schema-id"] for each in versions.values()}
    schemas = {
        key: each
        for key, each in due["schemas"].items()
        if key in seen["schemas"] or key in used or key not in before["schemas"]
    }
    return {**due, "versions": versions, "schemas": schemas}


# ---- judgement


def expect_state(
    reply: Reply,
    before: ViewState,
    due: ViewState,
    what: str,
    *,
    symptom: Symptom | None = None,
    may_expire: bool = False,
) -> ViewState:
    """Judge that an answer shows the expected state of a view, and return the state that it shows.

    ``symptom`` is used for any difference; without it the symptom tells whether the commit named
    the member. If old versions ``may_expire``, they may be missing.
    """
    try:
        seen = state_of(metadata_in(reply), tuple(due["properties"]))
    except SHAPE_ERRORS:
        shown, wanted = "an answer without a usable view", "the view"
        raise reply.violation(symptom or _NO_VIEW, wanted, shown, detail=what) from None
    due = _as_assigned(before, due, seen)
    if may_expire:
        due = _without_expired(before, due, seen)
    if found := [*_differences(before, due, seen)]:
        told = "; ".join(
            f"{where} is {show(is_, 80)}, due is {show(wanted, 80)}"
            for where, wanted, is_, _ in found[:_SHOWN_MAX]
        )
        where, _, _, is_old = next((each for each in found if not each[3]), found[0])
        member = where.partition("/")[0]
        kind = CHANGED_BESIDE if is_old else EFFECT_MISSING
        raise reply.violation(
            symptom or kind.of(f"view-{_CALLED.get(member, member)}"),
            "the view as it was" if is_old else "what was sent",
            "something else",
            detail=f"{what}: {told}",
            pointer=f"/metadata/{member}",
        )
    return seen


def _differences(
    before: ViewState, due: ViewState, seen: ViewState
) -> Iterator[tuple[str, Any, Any, bool]]:
    """Yield the differences as (where, due, seen, whether the due value is the one from before)."""
    for member, wanted in due.items():
        if not isinstance(wanted, dict):
            if wanted != seen[member]:
                yield member, wanted, seen[member], wanted == before[member]
            continue
        for key in {**wanted, **seen[member]}:
            named, shown = wanted.get(key, ABSENT), seen[member].get(key, ABSENT)
            if found := difference(named, shown, exact=True):
                is_old = before[member].get(key, ABSENT) == named
                yield f"{member}/{key}{found[0]}", found[1], found[2], is_old


# ---- history


def history_of(metadata: Json) -> Json:
    """Return the history of a view: times and summaries of versions, schema ids, version log."""
    versions = {
        str(each.get("version-id")): {member: each.get(member) for member in _OF_A_VERSION}
        for each in metadata.get("versions") or ()
    }
    log = [
        {member: entry.get(member) for member in ("version-id", "timestamp-ms")}
        for entry in metadata.get("version-log") or ()
    ]
    schemas = {str(each.get("schema-id", 0)): True for each in metadata.get("schemas") or ()}
    return {"versions": versions, "schemas": schemas, "version-log": log}


def expect_history(reply: Reply, before: Json, sent: Sequence[Json], what: str) -> Json:
    """Judge that a view keeps its versions, schemas and log entries; return the history.

    The log's last entry must be the current version. A version that was added must have the sent
    summary and may have further entries of the server.
    """
    metadata = metadata_in(reply)
    now = history_of(metadata)
    for member in ("versions", "schemas"):
        for key, each in before[member].items():
            detail = f"{what}: {member}/{key}"
            equal(now[member].get(key), each, symptom=VIEW_HISTORY_LOST, detail=detail)
    kept = len(before["version-log"])
    log, added = now["version-log"][:kept], now["version-log"][kept:]
    detail = f"{what}: the entries of the version log that were there"
    equal(log, before["version-log"], symptom=VIEW_HISTORY_LOST, detail=detail)
    last = (added or log)[-1:]
    found = [str(entry["version-id"]) for entry in last]
    due = str(metadata.get("current-version-id"))
    equal(found, [due], symptom=VIEW_HISTORY_LOST, detail=f"{what}: the end of the version log")
    if added and not any(each["action"] == "set-current-view-version" for each in sent):
        equal(added, [], symptom=VIEW_HISTORY_LOST, detail=f"{what}: new in the version log")
    _expect_summaries(metadata, before, sent, what)
    return now


def _expect_summaries(metadata: Json, before: Json, sent: Sequence[Json], what: str) -> None:
    new = [
        each
        for each in metadata.get("versions") or ()
        if str(each.get("version-id")) not in before["versions"]
    ]
    for update in sent:
        if update["action"] != "add-view-version":
            continue
        version = update["view-version"]
        summaries = [
            each.get("summary") or {}
            for each in new
            if definition_of(each) == definition_of(version)
        ]
        wanted = version["summary"]
        if not any(summary | wanted == summary for summary in summaries):
            symptom = EFFECT_MISSING.of("view-summary")
            equal(show(summaries[:1]), show([wanted]), symptom=symptom, detail=what)


def first_state(view: View, body: Json, property_keys: Sequence[str]) -> ViewState:
    """Return the expected state of a view that was created with this body."""
    state = state_of(view.metadata, property_keys)
    current = state["current-version-id"]
    schema_id = state["versions"].get(current, {}).get("schema-id")
    sent = body["schema"]
    shown = state["schemas"].get(schema_id, (None, []))
    return {
        **state,
        "schemas": {schema_id: (shape(sent), shown[1])},
        "versions": {current: {"schema-id": schema_id, **definition_of(body["view-version"])}},
        "properties": {key: body["properties"].get(key) for key in property_keys},
    }
