"""Histories commit every update, alone and several together, and what must fail."""

import json

import pytest

from icecheck.scenarios.random.actions import Action
from icecheck.scenarios.random.playing import play
from icecheck.scenarios.steps.table_changes import TABLES
from icecheck.scenarios.steps.view_changes import VIEWS
from tests.kit.contracts import CONTRACT

SPACE = Action("create-namespace", ("n0",), ("1",))
TABLE = Action("create-table", ("n0.x0",), ("2",))
VIEW = Action("create-view", ("n0.x0",), ("2",))
OF_TABLES = (
    "properties", "relocate+same-uuid", "add-column", "add-schema+rename-column", "drop-column",
    "other-schema", "drop-schema", "partition+add-spec", "other-spec+drop-spec", "sort+add-order",
    "other-order", "append+tag", "branch", "ahead+retain", "fast-forward", "append+statistics",
    "partition-statistics", "drop-statistics+drop-partition-statistics", "stage-snapshot",
    "publish", "roll-back", "drop-branch+drop-tag", "append", "expire", "upgrade", "key+key",
    "drop-key",
)  # fmt: skip
OF_VIEWS = (
    "properties", "properties", "relocate", "same-uuid+same-format", "add-schema", "add-version",
    "replace+replace-schema", "other-version",
)  # fmt: skip


def commits(name, texts, number=10):
    return [Action(name, ("n0.x0",), (each, str(at))) for at, each in enumerate(texts, number)]


def sent(catalog, operation_id):
    """Return the actions of the updates in the accepted commits, and their requirements' types."""
    bodies = [
        json.loads(each.request_body)
        for each in catalog.exchanges
        if each.operation == operation_id and each.status == 200
    ]
    updates = {update["action"] for body in bodies for update in body["updates"]}
    return updates, {each["type"] for body in bodies for each in body["requirements"]}


def test_the_changes_of_tables_are_all_updates_and_each_is_accepted(catalog):
    assert {word for text in OF_TABLES for word in text.split("+")} == set(TABLES.changes)
    twice = ("properties", "properties")
    assert play(catalog, (SPACE, TABLE, *commits("evolve", (*OF_TABLES, *twice)))) is None
    updates, required = sent(catalog, "updateTable")
    assert updates == set(CONTRACT.table_updates)
    assert len(required) == 7


def test_the_changes_of_views_are_all_updates_and_each_is_accepted(catalog):
    assert {word for text in OF_VIEWS for word in text.split("+")} == set(VIEWS.changes)
    assert play(catalog, (SPACE, VIEW, *commits("evolve-view", OF_VIEWS))) is None
    updates, _ = sent(catalog, "replaceView")
    assert updates == set(CONTRACT.view_updates)


@pytest.mark.parametrize("word", [*TABLES.wrong, *TABLES.stale])
def test_a_commit_to_a_table_that_must_fail_does(word, catalog):
    history = (SPACE, TABLE, *commits("evolve", ("append", f"add-column+{word}", "sort")))
    assert play(catalog, history) is None
    statuses = [e.status for e in catalog.exchanges if e.operation == "updateTable"]
    assert statuses.count(409 if word in TABLES.stale else 400) == 1


@pytest.mark.parametrize("word", [*VIEWS.wrong, *VIEWS.stale])
def test_a_commit_to_a_view_that_must_fail_does(word, catalog):
    history = (SPACE, VIEW, *commits("evolve-view", ("replace", f"replace-schema+{word}")))
    assert play(catalog, history) is None
    statuses = [e.status for e in catalog.exchanges if e.operation == "replaceView"]
    assert statuses[-1] == (409 if word in VIEWS.stale else 400)


def test_every_change_goes_with_every_other_one_in_one_commit(catalog):
    words = [*TABLES.changes]
    pairs = [f"{one}+{words[(at * 7 + 3) % len(words)]}" for at, one in enumerate(words)]
    assert play(catalog, (SPACE, TABLE, *commits("evolve", ("append+branch", *pairs)))) is None
