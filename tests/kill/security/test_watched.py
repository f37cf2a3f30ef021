"""A catalog that behaves only while it recognises the suite is found out."""

import dataclasses

import pytest

from icecheck.client.catalog import Catalog
from icecheck.findings.verdict import Outcome
from icecheck.judging.judge import judge
from icecheck.mock_server.core.context import Call
from icecheck.mock_server.defects.commits.assertions import careless_unless
from icecheck.proof.defective import defective_session
from icecheck.targets.target import AGENT, Target, UsageError, is_unlike_words, new_run_id
from tests.kill.killing import checks_of

CHECK = next(check for check in checks_of("test_commits") if "updateTable.409" in check.proves)


def is_named_as_usual(call: Call) -> bool:
    return call.name.startswith("icecheck_")


def outcome_with(pattern: str) -> Outcome:
    installs = [lambda registries: careless_unless(registries, is_named_as_usual)]
    with defective_session(installs, name_pattern=pattern) as (_, session):
        verdict = judge(CHECK, Catalog(session, CHECK.id))
        assert all(
            pattern.partition("{")[0] in e.url for e in session.exchanges if "/tables" in e.url
        )
    return verdict.outcome


def test_names_that_begin_otherwise_show_a_catalog_that_knows_ours():
    assert outcome_with("icecheck_{run}") is Outcome.PASS
    assert outcome_with("sales_{run}") is Outcome.FAIL


@pytest.mark.parametrize(
    "pattern",
    ["", "sales", "{run}", "1_{run}", "Sales_{run}", "a.{run}", "{run}_{run}", "a b{run}"],
)
def test_a_pattern_that_makes_no_names_is_refused(pattern):
    with pytest.raises(UsageError, match="name pattern"):
        Target("http://a", name_pattern=pattern)


@pytest.mark.parametrize("run_id", ["1", "2026", "202611", "orders", "ab1"])
def test_a_run_id_that_other_names_may_contain_is_refused_behind_a_pattern(run_id):
    with pytest.raises(UsageError, match="might be part of other names"):
        Target("http://a", name_pattern="orders_{run}").owner(run_id)
    assert Target("http://a").owner(run_id) == f"icecheck_{run_id}"


def test_names_without_anything_of_their_own_are_refused():
    with pytest.raises(UsageError, match="8 characters"):
        Target("http://a", name_pattern="t{run}").owner("ab12cd")


def test_every_random_run_id_may_stand_behind_a_pattern():
    assert all(is_unlike_words(new_run_id()) for _ in range(200))


def test_every_request_bears_the_agent_of_a_common_client_or_the_users():
    target = Target("http://a")
    assert target.agent == AGENT
    assert "icecheck" not in AGENT
    assert dataclasses.replace(target, headers={"user-agent": "mine"}).agent == "mine"
