"""The same run id and seed give the same requests; a seeded mock gives the same answers to them."""

import shutil

import pytest

from icecheck.findings.verdict import Group
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.core.clock import VirtualClock
from icecheck.run.collect import collect
from icecheck.run.options import RunOptions
from icecheck.run.runner import run_checks
from icecheck.targets.secret_marks import SecretMarks
from icecheck.targets.target import Target
from icecheck.wire.redaction import Redactor
from tests.kit.contracts import CONTRACT
from tests.kit.shares import has_turn, in_shares, is_plain, judges_everything, share


def told(root, *, run_id="r1", seed=7, groups=(Group.CHECKS,), globs=()):
    """Everything that was said in a run: what was sent, and what was answered."""
    shutil.rmtree(root, ignore_errors=True)
    mock = MockCatalog(seed=3, clock=VirtualClock(1_700_000_000_000, 1), root=root, token="t0ken")
    said = []
    try:
        run_checks(
            RunOptions(
                Target("http://mock.invalid", warehouse="wh", token="t0ken"),
                run_id=run_id,
                seed=seed,
                groups=groups,
                globs=globs,
                redactor=Redactor(marks=SecretMarks(b"the key of all runs here")),
            ),
            transport=mock.httpx_transport(),
            on_exchange=said.append,
        )
    finally:
        mock.stop()
    requests = [
        (e.check, e.ordinal, e.method, e.url, e.request_headers, e.request_body) for e in said
    ]
    answers = [(e.status, e.response_headers, e.response_body) for e in said]
    return requests, answers


def without_races(group):
    """The checks in which nobody competes: who is faster decides what a server says and makes.

    The usual command has half of the plain ones, and a share of the generated ones.
    """
    every = collect((group,), CONTRACT)
    checks = share(every, 0, 9, always=lambda check: is_plain(check) and has_turn(check, 1, 2))
    return tuple(check.id for check in checks if not check.id.startswith("race."))


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Where every mock of these tests keeps its files: their place is in its answers."""
    return tmp_path_factory.mktemp("determinism") / "warehouse"


@pytest.fixture(scope="module")
def plain(root):
    """Everything that was said in a run of the plain checks."""
    return told(root, globs=without_races(Group.CHECKS))


@in_shares
@pytest.mark.parametrize("group", [Group.CHECKS, Group.GENERATED, Group.SCENARIOS])
def test_the_same_run_id_and_seed_give_the_same_requests_and_answers(root, plain, group):
    globs = without_races(group)
    shared = group is Group.CHECKS and not judges_everything()
    first = plain if shared else told(root, groups=(group,), globs=globs)
    second = told(root, groups=(group,), globs=globs)
    assert len(first[0]) > 20
    assert first == second


def test_another_run_id_gives_other_names(root):
    globs = ("createTable.succeeds",)
    one, _ = told(root, globs=globs)
    other, _ = told(root, run_id="r2", globs=globs)
    assert [r[3] for r in one] != [r[3] for r in other]
    assert [r[3].replace("_r1", "_r2") for r in one] == [r[3] for r in other]


def test_a_selection_sends_what_the_whole_run_sends(root, plain):
    alone, _ = told(root, globs=("renameTable.moves-table",))
    mine = [r for r in plain[0] if r[0] == "renameTable.moves-table"]
    assert [r for r in alone if r[0] == "renameTable.moves-table"] == mine
