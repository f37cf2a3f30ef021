"""What generated requests find: planted misbehaviour, and nothing where a catalog is but strict."""

import json

import msgspec
import pytest

from icecheck.conformance.generated import generated_requests
from icecheck.conformance.generated import test_generated as generated
from icecheck.contract import Action, Level
from icecheck.judging.check import check_of, declaration_of
from icecheck.mock_server.core.context import Outcome
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.protocol.problem import Problem
from tests.kit.contracts import CONTRACT
from tests.kit.findings import told

CHECKS = {
    declaration_of(f).id: f for f in vars(generated).values() if declaration_of(f) is not None
}


@pytest.fixture
def misbehaving(new_mock):
    """Return mocks on which ``around(operation, context, state, call)`` stands for an operation."""

    def plant(operation_id, around):
        mock = new_mock()
        operation = mock.registries.operations[operation_id]
        mock.registries.operations[operation_id] = lambda context, state, call: around(
            operation, context, state, call
        )
        return mock

    return plant


def breaks_down(operation, context, state, call):
    try:
        return operation(context, state, call)
    except Problem as refusal:
        if refusal.status == 400:
            return Outcome(state, replies.error_reply(500, "X", "a stack trace"))
        raise


def takes_anything(operation, context, state, call):
    try:
        return operation(context, state, call)
    except Problem as refusal:
        if refusal.status == 400:
            return Outcome(state, replies.json_reply({}))
        raise


def textual(value):
    if isinstance(value, dict):
        return {k: textual(v) for k, v in value.items()}
    if isinstance(value, list):
        return [textual(v) for v in value]
    return value if isinstance(value, str) or value is None else json.dumps(value)


def converts(operation, context, state, call):
    try:
        body = textual(json.loads(call.request.body))
    except ValueError:
        return operation(context, state, call)
    request = msgspec.structs.replace(call.request, body=json.dumps(body).encode())
    return operation(context, state, msgspec.structs.replace(call, request=request))


def checked(kind):
    """Return the operations that have a generated check of a kind."""
    parts = [check_id.split(".") for check_id in CHECKS]
    return {operation_id for _, operation_id, *kinds in parts if kinds == [kind]}


def test_every_operation_of_the_contract_has_its_kinds_of_checks():
    every = CONTRACT.operations.values()
    bodies = {o.id for o in every if o.request_media_type == "application/json"}
    bodies -= {"reportMetrics"}  # a catalog may throw a report away unread
    listings = {*CONTRACT.by_object(Action.LIST).values()}
    told = f"the document of {CONTRACT.version} has other operations: write them in test_generated"
    assert checked("refused") == bodies, told
    assert checked("mistyped") == bodies | listings, told
    assert checked("accepted") == {*CONTRACT.operations} - {"getToken"}, told
    kinds = sum(len(checked(kind)) for kind in ("refused", "mistyped", "accepted"))
    assert len(CHECKS) == kinds + 1  # of what no schema calls wrong


def test_each_check_proves_a_row_of_its_own():
    for check_id, function in CHECKS.items():
        check = check_of(function, CONTRACT)
        assert check.proves == (check_id,)
        assert check.group == "generated"
        lesser = check_id.endswith(("mistyped", "beside-the-schema"))
        assert (check.level is Level.SHOULD) == lesser
        assert f"test_{check_id}".count("_") <= function.__name__.count("_")


@pytest.mark.parametrize("operation_id", generated.BODIES)
@pytest.mark.parametrize("kind", ["refused", "mistyped"])
def test_a_malformed_body_that_breaks_the_server_is_found(
    operation_id, kind, run_check, misbehaving
):
    mock = misbehaving(operation_id, breaks_down)
    verdict, _ = run_check(CHECKS[f"generated.{operation_id}.{kind}"], mock=mock)
    assert verdict.outcome == "fail"
    assert told(verdict.findings[0]) == ("status", "4xx", "500")
    assert verdict.findings[0].exchange is not None


@pytest.mark.parametrize("operation_id", generated.BODIES)
def test_a_malformed_body_that_is_answered_as_success_is_found(
    operation_id, run_check, misbehaving
):
    mock = misbehaving(operation_id, takes_anything)
    verdict, _ = run_check(CHECKS[f"generated.{operation_id}.refused"], mock=mock)
    assert verdict.outcome == "fail"
    assert told(verdict.findings[0]) == ("status", "4xx", "200")
    assert "such requests" in verdict.findings[0].detail
    assert len(verdict.findings) <= 12


def test_converting_values_is_a_lesser_finding_of_its_own(run_check, misbehaving):
    mock = misbehaving("updateProperties", converts)
    refused, _ = run_check(CHECKS["generated.updateProperties.refused"], mock=mock)
    mistyped, _ = run_check(CHECKS["generated.updateProperties.mistyped"], mock=mock)
    assert refused.outcome == "pass"
    assert mistyped.outcome == "fail"
    assert mistyped.findings[0].symptom.slug == "mistyped-value-accepted"


def test_what_a_lenient_catalog_makes_of_numbers_is_removed_again(run_check, misbehaving):
    mock = misbehaving("createNamespace", converts)
    verdict, _ = run_check(CHECKS["generated.createNamespace.mistyped"], mock=mock)
    assert verdict.outcome == "fail"
    assert list(mock.state("wh").namespaces.after(None)) == []


def test_a_refused_request_that_leaves_a_trace_is_found(run_check, misbehaving):
    def half_done(operation, context, state, call):
        try:
            return operation(context, state, call)
        except Problem as refusal:
            after = state.with_namespace(call.namespace, {"icecheck.generated": "1"})
            return Outcome(after, replies.problem_reply(refusal))

    mock = misbehaving("updateProperties", half_done)
    verdict, _ = run_check(CHECKS["generated.updateProperties.refused"], mock=mock)
    assert verdict.findings[0].symptom.slug == "changed-although-refused"


@pytest.mark.parametrize("operation_id", generated.OPERATIONS)
def test_an_allowed_request_that_breaks_the_server_is_found(
    operation_id, run_check, misbehaving, monkeypatch
):
    sending = []

    def breaks(operation, context, state, call):
        if sending:
            return Outcome(state, replies.error_reply(500, "X", "broken"))
        return operation(context, state, call)

    def send(catalog, request):
        sending.append(request)
        try:
            return original(catalog, request)
        finally:
            sending.clear()

    original = generated_requests.send
    monkeypatch.setattr(generated_requests, "send", send)
    mock = misbehaving(operation_id, breaks)
    verdict, _ = run_check(CHECKS[f"generated.{operation_id}.accepted"], mock=mock)
    assert verdict.outcome == "fail"
    assert told(verdict.findings[0]) == ("status", "2xx or 4xx", "500")


def test_a_catalog_that_refuses_what_is_allowed_is_not_blamed(run_check, misbehaving):
    def refuses(operation, context, state, call):
        raise problem.unsupported("not offered")

    mock = misbehaving("registerTable", refuses)
    for kind in ("refused", "mistyped", "accepted"):
        verdict, _ = run_check(CHECKS[f"generated.registerTable.{kind}"], mock=mock)
        assert verdict.outcome == "pass"


def test_what_is_not_implemented_is_no_breakdown(run_check, misbehaving):
    def lacks(operation, context, state, call):
        return Outcome(state, replies.error_reply(501, "NotImplemented", "later"))

    mock = misbehaving("renameTable", lacks)
    verdict, _ = run_check(CHECKS["generated.renameTable.accepted"], mock=mock)
    assert verdict.outcome == "pass"


def test_a_listing_without_pages_may_ignore_the_page_size(run_check, misbehaving):
    def whole(operation, context, state, call):
        return operation(context, state, msgspec.structs.replace(call, query={}))

    mock = misbehaving("listTables", whole)
    verdict, _ = run_check(CHECKS["generated.listTables.mistyped"], mock=mock)
    assert verdict.outcome == "skip"


def test_the_same_seed_sends_the_same_requests_and_another_seed_others(run_check):
    function = CHECKS["generated.updateTable.refused"]
    _, first = run_check(function, seed=3)
    _, again = run_check(function, seed=3)
    _, other = run_check(function, seed=4)
    assert first == again
    assert first != other


def test_a_whole_run_stays_below_its_number_of_requests(run_check):
    total = sum(len(run_check(function, seed=11)[1]) for function in CHECKS.values())
    assert total < 1800
