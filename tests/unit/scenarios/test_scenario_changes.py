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


def _expect_each_change(texts, name, changes, module):
    words = {word for text in texts for word in text.split("+")}
    missing, unknown = sorted({*changes} - words), sorted(words - {*changes})
    where = f"{name} of tests/unit/scenarios/test_scenario_changes.py"
    assert not missing, f"write these changes of scenarios/steps/{module} into {where}: {missing}"
    assert not unknown, f"scenarios/steps/{module} has no such changes, strike out: {unknown}"


def _expect_every_update(updates, documented, module, name):
    missing = sorted({*documented} - updates)
    words = f"no change of scenarios/steps/{module} that {name} names sends these updates"
    assert not missing, f"{words}: write one, and its name into {name}: {missing}"
    assert updates == {*documented}


def test_the_changes_of_tables_are_all_updates_and_each_is_accepted(catalog):
    _expect_each_change(OF_TABLES, "OF_TABLES", TABLES.changes, "table_changes.py")
    twice = ("properties", "properties")
    assert play(catalog, (SPACE, TABLE, *commits("evolve", (*OF_TABLES, *twice)))) is None
    updates, required = sent(catalog, "updateTable")
    _expect_every_update(updates, CONTRACT.table_updates, "table_changes.py", "OF_TABLES")
    assert len(required) == 7


def test_the_changes_of_views_are_all_updates_and_each_is_accepted(catalog):
    _expect_each_change(OF_VIEWS, "OF_VIEWS", VIEWS.changes, "view_changes.py")
    assert play(catalog, (SPACE, VIEW, *commits("evolve-view", OF_VIEWS))) is None
    updates, _ = sent(catalog, "replaceView")
    _expect_every_update(updates, CONTRACT.view_updates, "view_changes.py", "OF_VIEWS")


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
