"""Checks of one view in many states: versions and schemas after commits, renames and refusals."""

from dataclasses import replace
from itertools import islice

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace
from icecheck.client.given import shared_namespace as given_home
from icecheck.conformance.views.view_stages import (
    FIRST_SCHEMA,
    KEYS,
    PROPERTIES,
    RENAMED_AFTER,
    SQL,
    STAGES,
    Stage,
    Updates,
    refusals,
    schema_of,
    unwanted,
)
from icecheck.conformance.views.view_states import (
    ViewState,
    after_commit,
    expect_history,
    expect_state,
    first_state,
    history_of,
    state_of,
)
from icecheck.findings.shared_symptoms import (
    ANSWER_DIFFERS_FROM_LOAD,
    CHANGED_ALTHOUGH_REFUSED,
    CHANGED_BESIDE,
    EFFECT_MISSING,
)
from icecheck.findings.symptoms import ANOTHER_THING, Severity, Symptom, declare
from icecheck.findings.verdict import Group
from icecheck.judging.check import check
from icecheck.judging.probes import has_capability
from icecheck.objects import metadata_view
from icecheck.objects.arranging import require
from icecheck.objects.reading import not_applicable, refuses_place
from icecheck.objects.round_trip import refused
from icecheck.objects.views import (
    RENAME_CHANGED_THE_VIEW,
    create_view_body,
    given_view,
    loaded_view,
    replace_view,
    view_version,
)
from icecheck.replies.expect import Reply, equal

_SOMETHING_OF_THE_FIRST_LIFE = declare(
    "something-of-the-first-life",
    "A view created again under its name shows something of the earlier one",
    Severity.FALSE_OR_LOST,
    ANOTHER_THING,
)


_REFUSED_AT_ONCE = 3
"""The number of commits that are refused in one state, and of stages between such states."""


class _Walk:
    """Leads one view through its stages.

    ``loaded`` is the last load, and ``before`` the state that it showed.
    """

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        namespace = given_home(catalog)
        version = view_version(SQL[0], namespace=namespace)
        version["default-catalog"] = "prod"
        members = {"version": version, "schema": FIRST_SCHEMA, "properties": PROPERTIES}
        self.body = create_view_body("", namespace, **members)
        self.view = loaded_view(catalog, given_view(catalog, namespace, **members))
        self.other = loaded_view(catalog, given_view(catalog, namespace, properties=PROPERTIES))
        self.homes = [namespace]
        if has_capability(catalog, "nested-namespaces"):
            self.homes.append(given_namespace(catalog))
        self.before: ViewState = state_of(self.view.metadata, KEYS)
        self.refusals = refusals(self.view, self.other)
        self.loaded = self.load()
        self.taken = 0

    def load(self) -> Reply:
        self.loaded = self.catalog.load_view(self.view.namespace, self.view.name).expect(200)
        return self.loaded

    def expect_first(self) -> None:
        """Judge that the new view is as its creation defined it."""
        due = first_state(self.view, self.body, KEYS)
        expect_state(
            self.load(), due, due, "a new view", symptom=EFFECT_MISSING.of("view-definition")
        )

    def go_on(self, reply: Reply, state: ViewState) -> None:
        location = reply.json().get("metadata-location")
        metadata = metadata_view.metadata_in(reply)
        self.view = replace(self.view, metadata=metadata, metadata_location=location)
        self.before = state

    def commit(self, stage: Stage) -> Updates:
        """Send a stage with the view's uuid; return no updates if it is impossible or refused."""
        try:
            updates = stage.make(self.view)
        except LookupError:
            return ()
        # No requirement, or the same one twice, makes no difference.
        requirements = [self.view.same] * (1, 2, 0)[self.taken % 3]
        reply = replace_view(self.catalog, self.view, updates, requirements)
        if refused(reply, stage.what):
            self.expect_same(CHANGED_ALTHOUGH_REFUSED, stage.what)
            return ()
        self.taken += 1
        due = after_commit(self.before, updates)
        loaded = self.load()
        # Another check judges how long a view keeps old versions.
        state = expect_state(loaded, self.before, due, stage.what, may_expire=True)
        symptom = ANSWER_DIFFERS_FROM_LOAD
        expect_state(reply, state, state, stage.what, symptom=symptom)
        location = loaded.json().get("metadata-location")
        if location != reply.json().get("metadata-location"):
            due_location = "the metadata location that a load shows"
            raise reply.violation(symptom, due_location, "another one", detail=stage.what)
        self.go_on(loaded, state)
        return updates

    def expect_same(self, symptom: Symptom, what: str) -> None:
        expect_state(self.load(), self.before, self.before, what, symptom=symptom)

    def refuse(self, what: str) -> None:
        """Judge that some invalid commits are refused and change nothing of the view."""
        told = []
        for wrong, requirements, updates, status in islice(self.refusals, _REFUSED_AT_ONCE):
            sent = [*unwanted(self.view), *updates]
            told.append(f"{wrong}, after {what}")
            reply = replace_view(self.catalog, self.view, sent, requirements)
            reply.expect(status, detail=told[-1])
        self.expect_same(CHANGED_ALTHOUGH_REFUSED, "; ".join(told))

    def rename(self, what: str) -> None:
        """Rename the view, into another namespace if possible; its location may change."""
        if not self.catalog.claims("renameView"):
            return
        homes = [each for each in self.homes if each != self.view.namespace] or self.homes
        new = replace(self.view, namespace=homes[0], name=self.catalog.new_name())
        ends = {"source": self.view.identifier, "destination": new.identifier}
        if refused(self.catalog.call("renameView", body=ends), f"a rename after {what}"):
            return
        self.view = new
        loaded = self.load()
        location = metadata_view.place(metadata_view.metadata_in(loaded).get("location"))
        due = {**self.before, "location": location}
        symptom = RENAME_CHANGED_THE_VIEW
        state = expect_state(loaded, self.before, due, f"renamed after {what}", symptom=symptom)
        self.go_on(loaded, state)

    def create_again(self) -> None:
        """Drop the view and create another with its name, which must show nothing of the first."""
        if not self.catalog.claims("dropView"):
            return
        where = (self.view.namespace, self.view.name)
        self.catalog.drop_view(*where).expect(200, 204)
        schema = schema_of("of a second life")
        version = view_version("SELECT 'again'", namespace=self.homes[0], version_id=3)
        body = create_view_body(
            self.view.name,
            self.homes[0],
            version=version,
            schema=schema,
            properties={"icecheck.turn": "0"},
        )
        reply = self.catalog.create_view(where[0], body)
        if refuses_place(reply):
            return  # files of the renamed view may lie at its location
        reply.expect(200)
        self.view = loaded_view(self.catalog, self.view)
        due = first_state(self.view, body, KEYS)
        expect_state(self.load(), due, due, "created again", symptom=_SOMETHING_OF_THE_FIRST_LIFE)
        symptom = ANSWER_DIFFERS_FROM_LOAD
        expect_state(reply, due, due, "created again, by the answer", symptom=symptom)

    def expect_new_log(self) -> None:
        """Judge that the log of the new view names only versions that the view has."""
        history = history_of(metadata_view.metadata_in(self.load()))
        named = {str(entry["version-id"]) for entry in history["version-log"]}
        strange = sorted(named - {*history["versions"]})
        equal(strange, [], symptom=_SOMETHING_OF_THE_FIRST_LIFE, detail="its version log")

    def expect_other(self) -> None:
        state = state_of(self.other.metadata, KEYS)
        reply = self.catalog.load_view(self.other.namespace, self.other.name).expect(200)
        what = "a view that no commit named"
        expect_state(reply, state, state, what, symptom=CHANGED_BESIDE.of("another-view"))


def _begin(catalog: Catalog) -> _Walk:
    require(catalog, "createView", "loadView", "replaceView")
    return _Walk(catalog)


@check("states.view-life", proves="states.view-life", group=Group.GENERATED)
def test_a_life_of_a_view(catalog: Catalog) -> None:
    """In every state a commit to a view does its part, and all else of it stays as it was."""
    walk = _begin(catalog)
    walk.expect_first()
    for ordinal, stage in enumerate(STAGES, 1):
        if walk.commit(stage) and walk.taken % _REFUSED_AT_ONCE == 0:
            walk.refuse(stage.what)
        if ordinal in RENAMED_AFTER:
            walk.rename(stage.what)
    if not walk.taken:
        raise not_applicable("the catalog refuses every one of these commits")
    walk.create_again()
    walk.expect_other()


@check("states.view-history", proves="states.view-history", group=Group.GENERATED)
def test_the_history_of_a_view(catalog: Catalog) -> None:
    """A view keeps its versions with their times and summaries, and a log of what was current."""
    walk = _begin(catalog)
    history = history_of(walk.view.metadata)
    for ordinal, stage in enumerate(STAGES, 1):
        updates = walk.commit(stage)
        if ordinal in RENAMED_AFTER:
            walk.rename(stage.what)
        history = expect_history(walk.loaded, history, updates, stage.what)
    walk.create_again()
    walk.expect_new_log()
