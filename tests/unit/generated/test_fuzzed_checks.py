"""What drawn requests find, how small the finding is, and what leaves them alone."""

import itertools
import json

import msgspec
import pytest

from icecheck.conformance.fuzzed import test_fuzzed as fuzzed
from icecheck.conformance.fuzzed.drawn_requests import POSITIVE
from icecheck.conformance.fuzzed.fuzzed_requests import SHRINKING_REQUESTS_MAX
from icecheck.contract import Level
from icecheck.findings.verdict import Group
from icecheck.judging.check import check_of, declaration_of
from icecheck.mock_server.core.context import Outcome
from icecheck.mock_server.defects import defects
from icecheck.mock_server.protocol import problem, replies
from tests.kit.contracts import CONTRACT
from tests.kit.findings import told
from tests.kit.shares import some

CHECKS = {declaration_of(f).id: f for f in vars(fuzzed).values() if declaration_of(f) is not None}
CHECKED_FOR_CONFLICTS = ("updateTable", "replaceView", "commitTransaction")
REQUESTS_MAX = 500
SEEDS = range(1, 5)


def around(mock, operation_id, wrapper):
    faithful = mock.registries.operations[operation_id]
    mock.registries.operations[operation_id] = lambda context, state, call: wrapper(
        faithful, context, state, call
    )
    return mock


def test_each_operation_has_one_check_which_proves_a_must_of_its_own():
    drawn = {check_id.split(".")[1] for check_id in CHECKS}
    assert drawn == {*POSITIVE}
    assert len(CHECKS) == len(POSITIVE)
    for check_id, function in CHECKS.items():
        check = check_of(function, CONTRACT)
        assert check.proves == (check_id,)
        assert (check.group, check.level) == (Group.GENERATED, Level.MUST)


def test_all_of_them_pass_within_their_budget(run_check):
    total = 0
    for check_id, function in CHECKS.items():
        verdict, sent = run_check(function)
        assert verdict.outcome == "pass", (check_id, verdict.summary)
        total += len(sent)
    assert total <= REQUESTS_MAX


# tests/kill has a breakdown of each operation, for one seed.
@pytest.mark.parametrize("seed", some(SEEDS, 4))
@pytest.mark.parametrize("operation_id", ["createTable", "replaceView", "planTableScan"])
def test_a_breakdown_on_what_nobody_thought_of_is_found_with_any_seed(
    operation_id, seed, run_check, new_mock
):
    mock = new_mock()
    defects()[f"drawn-breakdown-{operation_id}"].install(mock.registries)
    verdict, _ = run_check(CHECKS[f"generated.{operation_id}.fuzzed"], mock=mock, seed=seed)
    assert verdict.outcome == "fail"
    assert told(verdict.findings[0])[2] == "500"
    # Every arranged object, ten cases, a look at each, and what makes one of them smaller.
    assert verdict.requests <= 60 + SHRINKING_REQUESTS_MAX


def test_the_failing_request_is_shown_in_its_smallest_form_and_nothing_else_is(run_check, new_mock):
    mock = new_mock()
    defects()["drawn-breakdown-updateTable"].install(mock.registries)
    verdict, _ = run_check(CHECKS["generated.updateTable.fuzzed"], mock=mock)
    *before, shown = verdict.evidence
    assert not [each for each in before if each.step == "do" and each.request.startswith("POST")]
    assert "-X POST" in shown.curl
    body = json.loads(shown.request_body)
    assert len(body["updates"]) == 4
    assert body["requirements"] == []
    assert len(json.dumps(body)) < 1000


def test_a_requirement_that_is_overlooked_is_a_false_success(run_check, new_mock):
    def forgets(faithful, context, state, call):
        try:
            return faithful(context, state, call)
        except problem.Problem as refusal:
            body = json.loads(call.request.body)
            if refusal.status != 409 or len(body["updates"]) < 2:
                raise
            free = json.dumps({**body, "requirements": []}).encode()
            request = msgspec.structs.replace(call.request, body=free)
            return faithful(context, state, msgspec.structs.replace(call, request=request))

    mock = around(new_mock(), "updateTable", forgets)
    verdict, _ = run_check(CHECKS["generated.updateTable.fuzzed"], mock=mock, fuzz_cases=40)
    assert told(verdict.findings[0]) == ("requirement-ignored", "4xx", "200")
    assert "does not" in verdict.findings[0].detail


def test_a_refused_request_that_leaves_a_trace_is_named(run_check, new_mock):
    def half_done(faithful, context, state, call):
        try:
            return faithful(context, state, call)
        except problem.Problem as refusal:
            after = state.with_namespace(call.namespace, {"icecheck.generated": "1"})
            return Outcome(after, replies.problem_reply(refusal))

    mock = around(new_mock(), "updateProperties", half_done)
    verdict, _ = run_check(CHECKS["generated.updateProperties.fuzzed"], mock=mock)
    assert verdict.findings[0].symptom.slug == "changed-although-refused"
    assert verdict.evidence[-1].status >= 400 or verdict.evidence[-2].status >= 400


REFUSALS = [400, 406, 409, 422]
UNSUPPORTED = [(operation_id, 501) for operation_id in CHECKED_FOR_CONFLICTS]


@pytest.mark.parametrize(
    ("operation_id", "status"),
    some([*UNSUPPORTED, *zip(POSITIVE, itertools.cycle(REFUSALS), strict=False)], 4),
)
def test_a_catalog_that_refuses_what_is_odd_is_not_blamed(
    operation_id, status, run_check, new_mock
):
    def refuses(faithful, context, state, call):
        if not call.request.body.isascii() or len(call.request.body) > 500:
            raise problem.Problem(status, "Odd", "Not with me")
        return faithful(context, state, call)

    mock = around(new_mock(), operation_id, refuses)
    verdict, _ = run_check(CHECKS[f"generated.{operation_id}.fuzzed"], mock=mock)
    assert verdict.outcome in {"pass", "skip"}, verdict.summary


def test_no_case_at_all_may_be_wanted(run_check):
    verdict, sent = run_check(CHECKS["generated.createTable.fuzzed"], fuzz_cases=0)
    assert verdict.outcome == "skip"
    assert "--fuzz-cases 0" in verdict.summary
    assert not [path for method, path, _ in sent if path.endswith("/tables")]


def test_the_time_that_is_wanted_ends_it(run_check):
    few, more = (
        len(run_check(CHECKS["generated.reportMetrics.fuzzed"], fuzz_cases=100_000, **limit)[1])
        for limit in ({"fuzz_seconds": 0.01}, {"fuzz_seconds": 1.0})
    )
    assert few < more < 100_000


def test_more_cases_begin_with_those_of_fewer(run_check):
    function = CHECKS["generated.reportMetrics.fuzzed"]
    (_, few), (_, more) = (run_check(function, fuzz_cases=n) for n in (5, 25))
    paths = [[path for _, path, _ in sent if "/metrics" in path] for sent in (few, more)]
    assert len(paths[1]) > len(paths[0])


@pytest.mark.complete("test_determinism compares two runs")
def test_the_same_seed_sends_the_same_requests_and_another_seed_others(run_check):
    function = CHECKS["generated.updateTable.fuzzed"]
    (_, first), (_, again), (_, other) = (
        run_check(function, seed=seed, fuzz_cases=25) for seed in (3, 3, 4)
    )
    assert first == again
    assert first != other
