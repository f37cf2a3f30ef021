"""What is read off the exchanges of checks, and what of it is only a consequence."""

import json
from dataclasses import replace
from typing import Any

import pytest

from icecheck.contract import Level
from icecheck.findings.verdict import Group, Outcome, Verdict
from icecheck.judging.envelopes import members_beside_errors
from icecheck.judging.evidence import evidence_from
from icecheck.judging.passive import observe, passive_checks, passive_verdicts
from icecheck.replies.schema import schema_judge
from icecheck.wire.exchange import Exchange, Step
from tests.kit.contracts import CONTRACT
from tests.kit.findings import a_finding

FORMS = {
    "http.json-in-utf-8",
    "http.json-has-no-nan",
    "http.json-members-once",
    "http.json-numbers-fit-doubles",
}
COMMIT = {"requirements": [], "updates": [{"action": "set-properties", "updates": {"a": "1"}}]}
NO_METADATA = {"metadata-location": "s3://b/m.json"}


def answered(status: int, body: object, sent: object = COMMIT, ordinal: int = 1) -> Exchange:
    return Exchange(
        check="some.check",
        ordinal=ordinal,
        step=Step.DO,
        operation="updateTable",
        method="POST",
        url="http://catalog.invalid/v1/namespaces/n/tables/t",
        request_headers=(),
        request_body=json.dumps(sent).encode(),
        status=status,
        response_headers=(("content-type", "application/json"),),
        response_body=json.dumps(body).encode(),
    )


def blaming(expected: str, actual: str, exchange: int) -> Verdict:
    return Verdict(
        check="some.check",
        title="Some check",
        group=Group.CHECKS,
        level=Level.MUST,
        requirements=(),
        operations=("updateTable",),
        profile="write",
        outcome=Outcome.FAIL,
        findings=(a_finding("status", expected, actual, exchange=exchange),),
    )


def outcomes(*exchanges: Exchange, verdict: Verdict | None = None) -> dict[str, Any]:
    observed = observe(exchanges, schema_judge(CONTRACT), verdict=verdict)
    verdicts = passive_verdicts(observed, CONTRACT)
    kept = [v for v in verdicts if not v.check.endswith(".reading") and v.check not in FORMS]
    return {v.check: v.outcome for v in kept}


def failed(exchange: Exchange) -> set[str]:
    verdicts = passive_verdicts(observe([exchange], schema_judge(CONTRACT)), CONTRACT)
    return {v.check for v in verdicts if v.outcome is Outcome.FAIL}


REFUSAL = b'{"error": {"message": "m", "type": "CommitFailedException", "code": 409%b}}'
ODD_FORMS = {
    "utf-16": (REFUSAL % b"").decode().encode("utf-16"),
    "utf-16-le": (REFUSAL % b"").decode().encode("utf-16-le"),
    "utf-32": (REFUSAL % b"").decode().encode("utf-32"),
    "mark": b"\xef\xbb\xbf" + REFUSAL % b"",
    "nan": REFUSAL % b', "a": NaN',
    "infinity": REFUSAL % b', "a": [-Infinity]',
    "nan-within-text": REFUSAL % b', "a": "NaN and Infinity"',
    "twice": REFUSAL % b', "stack": [], "stack": []',
    "exponent": REFUSAL % b', "a": -1e999',
    "digits": REFUSAL % (b', "a": ' + b"9" * 5000),
    "snapshot-id": REFUSAL % b', "a": 9223372036854775807',
    "all": b"\xef\xbb\xbf" + REFUSAL % b', "a": NaN, "a": 1e999',
}
BLAMED = {
    **{key: {"http.json-in-utf-8"} for key in ("utf-16", "utf-16-le", "utf-32", "mark")},
    **{key: {"http.json-has-no-nan"} for key in ("nan", "infinity")},
    "twice": {"http.json-members-once"},
    **{key: {"http.json-numbers-fit-doubles"} for key in ("exponent", "digits")},
    "all": FORMS,
}


@pytest.mark.parametrize("form", ODD_FORMS)
def test_json_that_does_not_travel_has_one_finding_for_each_rule(form: str) -> None:
    answer = replace(answered(409, {}), response_body=ODD_FORMS[form])
    assert failed(answer) == BLAMED.get(form, set())


def test_what_is_no_json_at_all_is_left_to_the_schema() -> None:
    cut = replace(answered(409, {}), response_body=b'{"a": NaN')
    assert failed(cut) == {"schema.updateTable.409"}


def test_an_answer_that_lacks_a_member_is_blamed() -> None:
    assert outcomes(answered(200, NO_METADATA)) == {"schema.updateTable.200": Outcome.FAIL}


def test_an_explicit_null_does_not_make_a_request_malformed() -> None:
    sent = COMMIT | {"identifier": None}
    assert outcomes(answered(200, NO_METADATA, sent))["schema.updateTable.200"] is Outcome.FAIL


def test_what_answers_a_malformed_request_is_not_held_against_the_shape() -> None:
    assert outcomes(answered(200, NO_METADATA, {"updates": "all"})) == {}


def test_what_answers_where_a_malformed_request_broke_the_server_is_not_judged() -> None:
    page = {"message": "container"}
    assert outcomes(answered(500, page, {"updates": "all"})) == {}
    assert outcomes(answered(500, page)) == {"schema.updateTable.500": Outcome.FAIL}


def test_the_refusal_of_a_malformed_request_has_its_shape() -> None:
    refused = answered(400, {"message": "no"}, {"updates": "all"})
    assert outcomes(refused) == {"schema.updateTable.400": Outcome.FAIL}


def test_an_answer_that_a_check_blames_is_not_blamed_again() -> None:
    exchanges = (answered(200, NO_METADATA), answered(200, NO_METADATA, ordinal=2))
    accepted = blaming("400", "200", 2)
    assert outcomes(exchanges[1], verdict=accepted) == {}
    assert outcomes(*exchanges, verdict=accepted) == {"schema.updateTable.200": Outcome.FAIL}


def test_a_value_that_is_a_number_does_not_say_that_the_answer_was_not_due() -> None:
    number = a_finding("value:some.check", "a string", "5", exchange=1)
    verdict = replace(blaming("", "", 1), findings=(number,))
    exchange = answered(200, NO_METADATA)
    assert outcomes(exchange, verdict=verdict) == {"schema.updateTable.200": Outcome.FAIL}


def test_the_failure_that_blocks_a_check_is_a_consequence() -> None:
    failure = answered(500, {"message": "container"})
    blocked = replace(
        blaming("", "", 1),
        outcome=Outcome.BLOCKED,
        findings=(),
        blocked_by=("updateTable.200",),
        evidence=(evidence_from(failure, ""),),
    )
    assert outcomes(failure, verdict=blocked) == {}


def test_all_server_failures_of_a_check_that_blames_one_are_consequences() -> None:
    pages = [answered(500, {"message": "container"}, ordinal=n) for n in (1, 2, 3)]
    assert outcomes(*pages) == {"schema.updateTable.500": Outcome.FAIL}
    assert outcomes(*pages, verdict=blaming("4xx", "500", 2)) == {}


def test_no_check_waits_for_the_body_of_an_answer_to_head() -> None:
    operations = CONTRACT.operations
    waiting = [c.split(".")[1] for c in passive_checks(CONTRACT) if c.startswith("schema.")]
    assert {operations[operation].method for operation in waiting} == {"GET", "POST", "DELETE"}


def error_with(**more: object) -> Exchange:
    error = {"message": "m", "type": "CommitFailedException", "code": 409}
    return answered(409, {"error": error, **more})


def test_members_beside_an_error_are_an_observation_and_no_finding() -> None:
    exchanges = (error_with(), error_with(**{"request-id": "r"}), error_with(status=409))
    assert set(outcomes(*exchanges).values()) == {Outcome.PASS}
    (observation,) = members_beside_errors(observe(exchanges, schema_judge(CONTRACT)))
    assert observation["answer"] == "request-id, status"


def test_errors_as_documented_are_no_observation() -> None:
    assert members_beside_errors(observe((error_with(),), schema_judge(CONTRACT))) == ()


def test_other_members_are_no_substitute_for_the_error() -> None:
    found = outcomes(answered(409, {"message": "m", "url": "/x", "status": 409}))
    assert found["schema.updateTable.409"] is Outcome.FAIL


def test_an_answer_that_was_not_due_is_not_blamed_for_its_type_name() -> None:
    error = {"message": "m", "type": "NoSuchTableException", "code": 409}
    exchange = answered(409, {"error": error})
    assert outcomes(exchange)["error.type-names"] is Outcome.FAIL
    blamed = outcomes(exchange, verdict=blaming("404", "409", 1))
    assert "error.type-names" not in blamed


def test_a_slash_in_a_name_may_be_stopped_before_the_catalog() -> None:
    answer = replace(
        answered(404, {"detail": "Not Found"}), url="http://c.invalid/v1/namespaces/a%2Fb"
    )
    elsewhere = replace(answer, url="http://c.invalid/v1/arn%2Fof/namespaces/a")
    for exchange, found in ((answer, 0), (elsewhere, 1)):
        observed = observe([exchange], schema_judge(CONTRACT))
        told = [v for v in passive_verdicts(observed, CONTRACT) if v.outcome is Outcome.FAIL]
        assert len(told) == found


REFUSALS = {401: "updateTable", 403: "updateTable", 419: "updateTable", 400: "getToken"}
NAMES_OF_TWO_LEVELS = "http://c.invalid/v1/namespaces/a%1Fb/tables/t"


@pytest.mark.parametrize("status", REFUSALS)
@pytest.mark.parametrize("body", [b"", b"<html>Stop</html>"])
def test_whoever_is_refused_is_told_in_json(status: int, body: bytes) -> None:
    answer = replace(
        answered(status, {}),
        operation=REFUSALS[status],
        url=NAMES_OF_TWO_LEVELS,
        request_body=None,
        response_headers=(("content-type", "text/html"),),
        response_body=body,
    )
    assert failed(answer) == {f"schema.{REFUSALS[status]}.{status}"}


@pytest.mark.parametrize("status", [401, 403, 419])
@pytest.mark.parametrize("escaped", ["namespaces/a%27", "namespaces/a/tables?pageToken=%00"])
def test_a_firewall_may_take_offence_at_a_name(status: int, escaped: str) -> None:
    page = (("content-type", "text/html"),)
    answer = replace(answered(status, {}), response_headers=page, response_body=b"<html>Stop")
    assert failed(replace(answer, url=f"http://c.invalid/v1/{escaped}")) == set()


@pytest.mark.parametrize(
    ("media", "body", "judged"),
    [
        ("text/html; charset=UTF-8", b"<html>Stop</html>", False),
        ("text/html", b"", True),
        ("text/plain", b"Forbidden", True),
        ("application/json", b"{}", True),
    ],
)
def test_a_firewall_may_take_offence_at_a_body(media: str, body: bytes, judged: bool) -> None:
    headers = (("content-type", media),)
    answer = replace(answered(403, {}), response_headers=headers, response_body=body)
    assert failed(answer) == ({"schema.updateTable.403"} if judged else set())


def test_a_bad_request_may_be_told_in_words() -> None:
    words = (("content-type", "text/plain"),)
    answer = replace(answered(400, {}), response_headers=words, response_body=b"Bad Request")
    assert failed(answer) == set()


def test_what_was_accepted_wrong_or_is_removed_again_is_not_judged_by_its_shape() -> None:
    junk = answered(200, {}, {"updates": 1}, ordinal=1)
    shown = answered(200, NO_METADATA, COMMIT, ordinal=2)
    removed = replace(shown, step=Step.UNDO)
    for exchanges in ([junk, shown], [removed]):
        observed = observe(exchanges, schema_judge(CONTRACT))
        assert [v for v in passive_verdicts(observed, CONTRACT) if v.outcome is Outcome.FAIL] == []
