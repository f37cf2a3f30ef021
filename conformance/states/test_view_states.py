"""Checks of one view in many states: versions and schemas after commits, renames and refusals."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace
from icecheck.client.given import shared_namespace as given_home
from icecheck.conformance.states.view_stages import (
    FIRST_SCHEMA,
    PROPERTIES,
    RENAMED_AFTER,
    SQL,
    refusals,
    schema_of,
    stages_of_views,
    unwanted,
)
from icecheck.conformance.states.walk import (
    VIEWS,
    Step,
    expect_only_moved,
    lead,
    renamed,
)
from icecheck.findings.shared_symptoms import (
    CHANGED_ALTHOUGH_REFUSED,
    EFFECT_MISSING,
    FIRST_LIFE_SHOWS,
)
from icecheck.findings.symptoms import ANOTHER_THING, Severity, Symptom, declare
from icecheck.judging.check import generated_check
from icecheck.judging.probes import has_capability
from icecheck.objects.after_updates import as_assigned
from icecheck.objects.arranging import require
from icecheck.objects.comparing import expect_answer, expect_shown
from icecheck.objects.metadata_view import metadata_in
from icecheck.objects.reading import refuses_place
from icecheck.objects.round_trip import expect_bystander, loaded_answer, shown_of
from icecheck.objects.views import (
    RENAME_CHANGED_THE_VIEW,
    VIEW_HISTORY_LOST,
    View,
    create_view_body,
    definition_of,
    given_view,
    replace_view,
    shared_view,
    view_version,
)
from icecheck.replies.expect import Reply, equal
from icecheck.replies.matching import show

_SOMETHING_OF_THE_FIRST_LIFE = declare(
    "something-of-the-first-life",
    "A view created again under its name shows something of the earlier one",
    Severity.FALSE_OR_LOST,
    ANOTHER_THING,
    family=FIRST_LIFE_SHOWS,
)

Json = dict[str, Any]

_REFUSED_AT_ONCE = 2
"""The number of commits that are refused in one state."""
_REFUSED_AFTER = 3
"""The number of stages between such states."""
_OF_A_VERSION = ("timestamp-ms", "summary")


class _Walk:
    """Leads one view through its stages, and renames it between them."""

    def __init__(self, catalog: Catalog, renamed_after: Sequence[int]) -> None:
        self.catalog = catalog
        self.renamed_after = renamed_after
        namespace = given_home(catalog)
        version = view_version(SQL[0], namespace=namespace)
        members = {"version": version, "schema": FIRST_SCHEMA, "properties": PROPERTIES}
        self.body = create_view_body("", namespace, **members)
        self.made = given_view(catalog, namespace, **members)
        self.loaded = loaded_answer(catalog, self.made)
        self.view = shown_of(self.loaded, self.made)
        self.homes = [namespace]
        if has_capability(catalog, "nested-namespaces"):
            self.homes.append(given_namespace(catalog))

    def lead(self, visit: Callable[[Step[View]], None]) -> None:
        """Call ``visit`` after each stage, and after the rename that follows some of them."""

        def visited(step: Step[View]) -> View:
            expect_answer(step.answer, step.after, step.what)
            if step.ordinal in self.renamed_after:
                step = self._renamed(step)
            visit(step)
            return step.after

        stages = stages_of_views(self.homes[0])
        self.view = lead(self.catalog, VIEWS, self.view, stages, visited)

    def _renamed(self, step: Step[View]) -> Step[View]:
        """Rename the view, into another namespace if possible; return the step with that load."""
        others = [each for each in self.homes if each != step.after.namespace] or self.homes
        new, reply = renamed(self.catalog, VIEWS, step.after, step.what, others[0])
        if reply is None:
            return step
        what = f"renamed after {step.what}"
        expect_only_moved(reply, step.after, what, RENAME_CHANGED_THE_VIEW)
        return replace(step, after=new, loaded=reply)

    def created_again(self) -> Reply | None:
        """Drop the view and create another with its name, which must show nothing of the first.

        Returns a load of it; None if the catalog does not do that.
        """
        if not self.catalog.claims("dropView"):
            return None
        self.catalog.drop_view(self.view.namespace, self.view.name).expect(200, 204)
        body = create_view_body(
            self.view.name,
            self.homes[0],
            version=view_version("SELECT 'again'", namespace=self.homes[0], version_id=3),
            schema=schema_of("of a second life"),
            properties={"icecheck.turn": "0"},
        )
        reply = self.catalog.create_view(self.view.namespace, body)
        if refuses_place(reply):
            return None  # files of the renamed view may lie at its location
        loaded = loaded_answer(self.catalog, shown_of(reply.expect(200), self.view))
        symptom = _SOMETHING_OF_THE_FIRST_LIFE
        again = _expect_created(loaded, self.view, body, "created again", symptom)
        expect_answer(reply, again, "created again, by the answer")
        return loaded


def _expect_created(reply: Reply, view: View, body: Json, what: str, symptom: Symptom) -> View:
    """Judge that a load shows a view as its creation defined it; return the view."""
    seen = shown_of(reply, view)
    sent = body["view-version"]
    due = {
        **seen.metadata,
        "schemas": [body["schema"]],
        "versions": [sent],
        "current-version-id": sent["version-id"],
        "properties": body["properties"],
    }
    expect_shown(reply, seen, as_assigned({}, due, seen.metadata), what, symptom=symptom)
    return seen


def _begin(catalog: Catalog, renamed_after: Sequence[int]) -> _Walk:
    require(catalog, "createView", "loadView", "replaceView")
    return _Walk(catalog, renamed_after)


@generated_check("states.view-life")
def test_a_life_of_a_view(catalog: Catalog) -> None:
    """In every state a commit to a view does its part, and all else of it stays as it was."""
    walk = _begin(catalog, RENAMED_AFTER)
    symptom = EFFECT_MISSING.of("view-definition")
    _expect_created(walk.loaded, walk.view, walk.body, "a new view", symptom)
    expect_answer(walk.loaded, walk.made, "a new view, unlike what its creation answered")
    other = shared_view(catalog)
    wrong = refusals(walk.view, other)

    def visit(step: Step[View]) -> None:
        if step.ordinal % _REFUSED_AFTER:
            return
        told = []
        for what, requirements, updates, statuses in islice(wrong, _REFUSED_AT_ONCE):
            sent = [*unwanted(step.after), *updates]
            told.append(f"{what}, after {step.what}")
            reply = replace_view(catalog, step.after, sent, requirements)
            reply.expect_refused(*statuses, detail=told[-1])
        reply, symptom = loaded_answer(catalog, step.after), CHANGED_ALTHOUGH_REFUSED
        expect_shown(reply, step.after, {}, "; ".join(told), symptom=symptom)

    walk.lead(visit)
    walk.created_again()
    expect_bystander(catalog, other)


# ---- history


@generated_check("states.view-history")
def test_the_history_of_a_view(catalog: Catalog) -> None:
    """A view keeps its versions with their times and summaries, and a log of what was current."""
    walk = _begin(catalog, RENAMED_AFTER[1:2])  # what a rename keeps, states.view-life judges
    history = _history_of(walk.view.metadata)

    def visit(step: Step[View]) -> None:
        nonlocal history
        history = _expect_history(step.loaded, history, step.updates, step.what)

    walk.lead(visit)
    if loaded := walk.created_again():
        new = _history_of(metadata_in(loaded))
        named = {str(entry["version-id"]) for entry in new["version-log"]}
        strange = sorted(named - {*new["versions"]})
        equal(strange, [], symptom=_SOMETHING_OF_THE_FIRST_LIFE, detail="its version log")


def _history_of(metadata: Json) -> Json:
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


def _expect_history(reply: Reply, before: Json, sent: Sequence[Json], what: str) -> Json:
    """Judge that a view keeps its versions, schemas and log entries; return the history.

    The log's last entry must be the current version. A version that was added must have the sent
    summary and may have further entries of the server.
    """
    metadata = metadata_in(reply)
    now = _history_of(metadata)
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
