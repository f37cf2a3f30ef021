"""Histories that are run again: whole or not at all, and told even if nothing shorter begins."""

import pytest

from icecheck.findings.replay import Replay, Replays
from icecheck.judging.judge import judge
from icecheck.mock_server.protocol import problem
from icecheck.replies.expect import Violation
from icecheck.scenarios.random.replaying import replay
from icecheck.wire.connection import Connection
from icecheck.wire.unreachable import Unreachable
from tests.unit.scenarios.test_race_programs import CHECKS, program_of, to_json
from tests.unit.scenarios.test_scenario_histories import CHECK, TOUR, forgotten, names, shortest_of


@pytest.mark.parametrize("ends", ["unreachable", "refused"])
def test_what_was_found_is_told_where_no_shorter_history_can_begin(
    ends, catalog, mock, misbehave, monkeypatch
):
    send, lost = Connection.send, []

    def broken_after_the_loss(self, wire, record):
        if ends == "unreachable" and lost and wire.operation == "createNamespace":
            raise Unreachable("gone")
        return send(self, wire, record)

    def lose(outcome, state, call):
        if b"icecheck.kept" in call.request.body:
            lost.append(call)
        return forgotten(outcome, state, call)

    def refuse(outcome, state, call):
        if ends == "refused" and lost:
            raise problem.Problem(500, "InternalServerError", "no more")
        return outcome

    monkeypatch.setattr(Connection, "send", broken_after_the_loss)
    misbehave("updateProperties", lose)
    misbehave("createNamespace", refuse)
    with pytest.raises(Violation) as caught:
        replay(catalog, TOUR)
    assert caught.value.finding.symptom.slug == "effect-missing:properties"
    assert names(shortest_of(caught.value))[-1] == "update-properties"


def test_a_history_that_is_run_again_is_judged_whole_or_not_at_all(open_catalog):
    for alone, ends in ((True, "skip"), (False, "pass")):
        catalog = open_catalog()
        steps = '[["create-namespace",["n0"],["1"]],["create-namespace",["n0.n0"],["2"]]]'
        catalog.session.replays = Replays.of(Replay(CHECK.id, "1.10.0", steps), alone=alone)
        catalog.session.capabilities["nested-namespaces"] = False
        verdict = judge(CHECK, catalog)
        assert verdict.outcome == ends, verdict.summary
        catalog.session.close()


def test_a_program_that_is_run_again_is_judged_whole_or_not_at_all(open_catalog):
    for alone, ends in ((True, "skip"), (False, "pass")):
        catalog = open_catalog("race.random-changes")
        kept = Replay(catalog.check_id, "1.10.0", to_json(program_of("move-main x0 1 0 | drop x0")))
        catalog.session.replays = Replays.of(kept, alone=alone)
        catalog.session.capabilities["metadata-only-snapshots"] = False
        verdict = judge(CHECKS[0], catalog)
        assert verdict.outcome == ends
        assert ("move main of table x0" in verdict.summary) is alone
        catalog.session.close()
