"""The second judge tells the same as the first of every kind of answer, by code of its own."""

import ast
import json
from pathlib import Path

import pytest

import icecheck.bundles.second
from icecheck.bundles.replayed_run import observed_in
from icecheck.bundles.second.passive import SecondOpinion, second_opinion
from icecheck.bundles.second.reading import read_body
from icecheck.bundles.second.validators import (
    JsonSchemaValidator,
    OpenApiCoreValidator,
    Text,
    verdict_of,
)
from icecheck.findings.shared_symptoms import SCHEMA
from icecheck.findings.statuses import STATUS
from icecheck.findings.verdict import Evidence, Finding, Group, Level, Outcome, Verdict
from icecheck.judging.passive import observe, passive_checks
from icecheck.replies.schema import schema_judge
from icecheck.wire.exchange import Exchange, Step
from icecheck.wire.json_text import JsonFlaw
from tests.kit.contracts import CONTRACT

JSON = (("content-type", "application/json"),)
NAMESPACES = "http://catalog.test/v1/namespaces"


def error(code=404, name="NoSuchNamespaceException", **more):
    return {"error": {"message": "no", "type": name, "code": code}, **more}


def exchange(operation="loadNamespaceMetadata", status=200, body=b"{}", **members):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    given = {
        "check": "a.check",
        "ordinal": 1,
        "step": Step.DO,
        "operation": operation,
        "method": CONTRACT.operations[operation].method,
        "url": f"{NAMESPACES}/a",
        "request_headers": (),
        "request_body": None,
        "status": status,
        "response_headers": JSON,
        "response_body": content,
    }
    return Exchange(**given | members)


TABLE = {
    "format-version": 2,
    "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
    "location": "s3://b/t",
    "last-sequence-number": 0,
    "last-updated-ms": 1,
    "last-column-id": 1,
    "schemas": [{"type": "struct", "schema-id": 0, "fields": []}],
    "current-schema-id": 0,
    "partition-specs": [{"spec-id": 0, "fields": []}],
    "default-spec-id": 0,
    "last-partition-id": 999,
    "sort-orders": [{"order-id": 0, "fields": []}],
    "default-sort-order-id": 0,
}
TWICE = [
    {"snapshot-id": 1, "timestamp-ms": 1, "manifest-list": "x", "summary": {"operation": "append"}}
] * 2


def loaded(**members):
    return exchange(
        "loadTable", body={"metadata": {**TABLE, **members}, "metadata-location": "s3://b/m"}
    )


ODD = {
    "a lawful namespace": exchange(body={"namespace": ["a"], "properties": {}}),
    "properties that are null": exchange(body={"namespace": ["a"], "properties": None}),
    "a name that is a number": exchange(body={"namespace": [1]}),
    "no name": exchange(body={}),
    "no JSON": exchange(body=b"{"),
    "nothing where JSON is due": exchange(body=b"", response_headers=()),
    "JSON that is called text": exchange(
        body={"namespace": ["a"]}, response_headers=(("content-type", "text/plain"),)
    ),
    "a page": exchange(
        status=404, body=b"<html>", response_headers=(("content-type", "text/html"),)
    ),
    "a page with 503": exchange(status=503, body=b"<html>", response_headers=()),
    "an error": exchange(status=404, body=error()),
    "an error that is a word": exchange(status=404, body={"error": "no"}),
    "an error with another code": exchange(status=404, body=error(400)),
    "an error of another name": exchange(status=404, body=error(name="Missing")),
    "a table that is missing": exchange("loadTable", 404, error(404, "NoSuchTableException")),
    "a missing table by another name": exchange("loadTable", 404, error(404, "Missing")),
    "an error with more beside it": exchange(status=404, body=error(trace=[])),
    "an error without a type": exchange(status=404, body={"error": {"message": "", "code": 404}}),
    "an error of the server": exchange(status=500, body=error(500, "Oops")),
    "a broken error of the server": exchange(status=500, body={"oops": 1}),
    "text with 400": exchange(status=400, body=b"no", response_headers=()),
    "refused by a firewall": exchange(
        status=403,
        body=b"<html>",
        response_headers=(("content-type", "text/html"),),
        request_body=b"{}",
    ),
    "refused for its name on the way": exchange(
        status=400, body=b"no", response_headers=(), url=f"{NAMESPACES}/a%2fb"
    ),
    "refused as a stranger, as text": exchange(status=401, body=b"no", response_headers=()),
    "refused as a stranger with an escape": exchange(
        status=401, body=b"no", response_headers=(), url=f"{NAMESPACES}/a%20b"
    ),
    "204 with a body": exchange("dropNamespace", 204, b"gone"),
    "204": exchange("dropNamespace", 204, b"", response_headers=()),
    "a member twice": exchange(body=b'{"namespace":["a"],"namespace":["a"]}'),
    "not a number": exchange(body=b'{"namespace":["a"],"more":NaN}'),
    "infinity": exchange(body=b'{"namespace":["a"],"more":-Infinity}'),
    "a large number": exchange(body=b'{"namespace":["a"],"more":1e999}'),
    "a very long number": exchange(body=b'{"namespace":["a"],"more":%s}' % (b"9" * 400)),
    "a byte order mark": exchange(body=b'\xef\xbb\xbf{"namespace":["a"]}'),
    "UTF-16": exchange(body='{"namespace":["ä"]}'.encode("utf-16")),
    "half a pair": exchange(body=rb'{"namespace":["\ud800"]}'),
    "Latin-1": exchange(body=b'{"namespace":["\xe4"]}'),
    "too deep": exchange(body=b"[" * 300 + b"]" * 300),
    "just not too deep": exchange(body=b"[" * 200 + b"]" * 200),
    "flaws that were noted before a secret was hidden": exchange(
        body={"namespace": ["a"]}, response_text=((JsonFlaw.REPEATED, "one of them again"),)
    ),
    "a table": loaded(),
    "a table without a schema": loaded(schemas=None),
    "a snapshot twice": loaded(snapshots=TWICE),
    "a schema twice": loaded(schemas=[*TABLE["schemas"] * 2]),
    "a table of version 3 without row ids": loaded(**{"format-version": 3}),
    "no list": exchange("listTables", body={}),
    "a list that is null": exchange("listTables", body={"identifiers": None}),
    "a loser told of a failure": exchange("dropTable", 500, error(500), raced=True),
    "a loser refused": exchange("dropTable", 404, error(404, "NoSuchTableException"), raced=True),
    "a loser told that it is unknown": exchange("updateTable", 500, error(500), raced=True),
    "a loser throttled": exchange("dropTable", 429, error(429), raced=True),
    "a loser about properties": exchange("updateProperties", 500, error(500), raced=True),
    "a HEAD": exchange("tableExists", 404, b""),
    "a HEAD with a body": exchange("tableExists", 404, error()),
    "another method": exchange(method="PUT", status=405, body=b""),
    "no answer": exchange(status=None, error="ReadError: x"),
    "a status without a row": exchange(status=418, body=error(418, "Teapot")),
    "malformed, and taken": exchange(
        "createNamespace", request_body=b'{"namespace":"a"}', body={"namespace": "a"}
    ),
    "malformed, and refused badly": exchange(
        "createNamespace", 400, {"no": 1}, request_body=b'{"namespace":"a"}'
    ),
    "with null members, and taken": exchange(
        "createNamespace",
        request_body=b'{"namespace":["a"],"properties":null}',
        body={"namespace": []},
    ),
    "cleaning up": exchange(body={}, step=Step.UNDO),
    "a conflict of a creation": exchange(
        "updateTable",
        409,
        error(409, "AlreadyExistsException"),
        request_body=b'{"requirements":[{"type":"assert-create"}],"updates":[]}',
    ),
    "a conflict": exchange(
        "updateTable",
        409,
        error(409, "AlreadyExistsException"),
        request_body=b'{"requirements":[],"updates":[]}',
    ),
    "an error of OAuth2": exchange("getToken", 400, {"error": "invalid_client"}),
    "an error of OAuth2 as text": exchange("getToken", 400, b"no", response_headers=()),
}


def outcomes_by_the_first(exchanges, verdict=None):
    observed = observe(exchanges, schema_judge(CONTRACT), verdict=verdict)
    told = {}
    for check_id in passive_checks(CONTRACT):
        names = [c for c in observed if c == check_id or c.startswith(f"{check_id} ")]
        if any(observed[c].seen for c in names):
            told[check_id] = any(observed[c].findings for c in names)
    return told


def outcomes_of(opinion: SecondOpinion):
    return {c: bool(t.failing) for c, t in opinion.tallies.items() if t.seen}


@pytest.mark.parametrize("what", ODD)
def test_both_judges_say_the_same_of_an_answer(what):
    exchanges = [ODD[what]]
    opinion = second_opinion(exchanges, {}, CONTRACT)
    assert outcomes_of(opinion) == outcomes_by_the_first(exchanges)
    assert opinion.disagreements == []


def verdict(outcome, *findings, evidence=()):
    return Verdict(
        check="a.check",
        title="A check",
        group=Group.CHECKS,
        level=Level.MUST,
        requirements=(),
        operations=(),
        profile="core",
        outcome=outcome,
        findings=findings,
        evidence=evidence,
    )


WRONG_SHAPE = exchange(body={}, ordinal=2)
BROKEN = exchange(status=500, body={"oops": 1}, ordinal=3)
SHOWN = Evidence(3, "do", "loadNamespaceMetadata", "GET x", 500, "", "", "", "")
SENT = [
    exchange("createNamespace", body={"namespace": "a"}, request_body=b'{"namespace":"a"}'),
    WRONG_SHAPE,
    BROKEN,
]
VERDICTS = {
    "none": None,
    "a wrong answer": verdict(
        Outcome.FAIL, Finding(STATUS, "404", "200", exchange=2, answered=200)
    ),
    "a wrong value": verdict(Outcome.FAIL, Finding(SCHEMA, "a", "b", exchange=2)),
    "a failure of the server": verdict(
        Outcome.FAIL, Finding(STATUS, "404", "500", exchange=9, answered=500)
    ),
    "blocked by one": verdict(Outcome.BLOCKED, evidence=(SHOWN,)),
    "passed beside one": verdict(Outcome.PASS, evidence=(SHOWN,)),
}


@pytest.mark.parametrize("what", VERDICTS)
@pytest.mark.parametrize("first", [0, 1])
def test_both_judges_leave_out_what_the_check_itself_was_about(what, first):
    told, sent = VERDICTS[what], SENT[first:]
    verdicts = {} if told is None else {"a.check": told}
    opinion = second_opinion(sent, verdicts, CONTRACT)
    assert outcomes_of(opinion) == outcomes_by_the_first(sent, told)


def test_names_of_errors_where_nothing_is_served_are_nobodys():
    sent = [exchange("loadTable", 404, error(name="Missing"))]
    opinion = second_opinion(sent, {}, CONTRACT, [("loadTable", 404)])
    assert "error.type-names" not in outcomes_of(opinion)
    assert outcomes_of(second_opinion(sent, {}, CONTRACT))["error.type-names"] is True


def test_validators_that_disagree_are_named_and_the_worse_counts(monkeypatch):
    monkeypatch.setattr(OpenApiCoreValidator, "fits", lambda *_: False)
    opinion = second_opinion([ODD["a lawful namespace"]], {}, CONTRACT)
    [divided] = opinion.disagreements
    assert (divided.openapi_core, divided.jsonschema) == (False, True)
    assert outcomes_of(opinion)["schema.loadNamespaceMetadata.200"] is True


@pytest.mark.parametrize("validator", [OpenApiCoreValidator, JsonSchemaValidator])
def test_each_validator_judges_by_each_reading(validator):
    judge = validator(CONTRACT)
    row = "loadNamespaceMetadata", "200"
    null = {"namespace": ["a"], "properties": None}
    assert not judge.fits(Text.PUBLISHED, *row, null)
    assert judge.fits(Text.REPAIRED, *row, null)
    assert verdict_of(judge, *row, null) == (True, True)
    assert verdict_of(judge, *row, {"namespace": [1]}) == (False, True)
    assert verdict_of(judge, "listTables", "200", {}) == (True, False)
    assert verdict_of(judge, "loadTable", "5XX", error(500)) == (True, True)
    assert verdict_of(judge, "loadTable", "5XX", {"error": 1}) == (False, True)


def test_a_body_is_read_as_clients_read_it():
    assert read_body(b'{"a": NaN}').value == {"a": 0.0}
    assert read_body('{"a": 1}'.encode("utf-16")).value == {"a": 1}
    assert not read_body(b"").is_json


def test_the_second_judge_shares_no_code_with_the_first():
    folder = Path(icecheck.bundles.second.__file__).parent
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [a.name for a in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                first = ("icecheck.judging", "icecheck.replies", "jsonschema_rs", "msgspec")
                assert not name.startswith(first), (path.name, name)
                assert name != "icecheck.wire.json_text", path.name


def test_both_judges_say_the_same_of_an_error_after_something_wrong_was_accepted():
    accepted = exchange("updateTable", 200, {"metadata": {}}, request_body=b"{}")
    broken = exchange("renameView", 500, error(500, "NullPointerException"), request_body=b"{}")
    for exchanges in ([accepted, broken], [broken]):
        observed = observed_in(exchanges, {}, schema_judge(CONTRACT))
        names = {check for check, each in observed.items() if each.seen}
        seen = {
            check
            for check, each in second_opinion(exchanges, {}, CONTRACT).tallies.items()
            if each.seen
        }
        assert ("schema.renameView.5XX" in names) == ("schema.renameView.5XX" in seen)
        assert ("schema.renameView.5XX" in names) == (exchanges == [broken])
