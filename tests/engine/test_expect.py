"""Expectations: what matches, what is a violation, and what is blocked instead."""

import json

import pytest

from icecheck.exchange import Exchange, Step
from icecheck.expect import (
    ABSENT,
    ABSENT_OR_NULL,
    ANY_INTEGER,
    ANY_STRING,
    Blocked,
    Reply,
    Violation,
    containing,
    equal,
    lacking,
    one_of,
)
from icecheck.schema import schema_judge


def reply(body, status=200, operation="getConfig", check="some.check"):
    exchange = Exchange(
        check=check,
        ordinal=3,
        step=Step.DO,
        operation=operation,
        method="GET",
        url="http://h/v1/config",
        request_headers=(),
        request_body=None,
        status=status,
        response_headers=(("content-type", "application/json"),),
        response_body=body if isinstance(body, bytes) else json.dumps(body).encode(),
    )
    return Reply(exchange, schema_judge())


CONFIG = {"defaults": {}, "overrides": {"a": "1"}}


def test_a_status_that_is_due_passes_and_another_names_both():
    assert reply(CONFIG).expect(200, 204).status == 200
    with pytest.raises(Violation) as caught:
        reply(CONFIG).expect(409)
    assert caught.value.finding.key == ("status", "409", "200")
    assert caught.value.finding.exchange == 3


def test_any_4xx_is_a_refusal_and_a_5xx_is_none():
    assert reply({}, status=422).expect_refused()
    with pytest.raises(Violation):
        reply({}, status=500).expect_refused()
    with pytest.raises(Violation):
        reply({}, status=200).expect_refused()


@pytest.mark.parametrize(
    ("expected", "body"),
    [
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": [1, {"b": "x"}]}, {"a": [1, {"b": "x", "c": 0}]}),
        ({"a": ANY_STRING}, {"a": "x"}),
        ({"a": ABSENT}, {}),
        ({"a": ABSENT_OR_NULL}, {"a": None}),
        ({"a": containing({"k": 1})}, {"a": [{"k": 1, "l": 2}]}),
        ({"a": lacking("x")}, {"a": ["y"]}),
        ({"a": one_of(None, -1)}, {"a": -1}),
        ({"a": 2**62 + 1}, {"a": 2**62 + 1}),
    ],
)
def test_a_body_that_has_what_is_named_matches(expected, body):
    assert reply({**CONFIG, **body}).expect_json(expected)


@pytest.mark.parametrize(
    ("expected", "body", "pointer"),
    [
        ({"a": 1}, {"a": 2}, "/a"),
        ({"a": 1}, {"a": True}, "/a"),
        ({"a": True}, {"a": 1}, "/a"),
        ({"a": 1}, {"a": 1.0}, "/a"),
        ({"a": "1"}, {"a": 1}, "/a"),
        ({"a": [1]}, {"a": [1, 2]}, "/a"),
        ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, "/a/0/b"),
        ({"a": ABSENT}, {"a": None}, "/a"),
        ({"a": ANY_INTEGER}, {"a": True}, "/a"),
        ({"a": containing("x")}, {"a": ["y"]}, "/a"),
        ({"a": lacking("x")}, {"a": ["x"]}, "/a"),
        ({"a": 2**62 + 1}, {"a": 2**62}, "/a"),
        ({"missing": 1}, {}, "/missing"),
    ],
)
def test_a_body_that_differs_is_a_violation_at_its_place(expected, body, pointer):
    with pytest.raises(Violation) as caught:
        reply({**CONFIG, **body}).expect_json(expected)
    assert caught.value.finding.pointer == pointer


def test_a_member_that_the_schema_demands_blocks_the_check_that_needs_it():
    with pytest.raises(Blocked) as caught:
        reply({"defaults": {}}).member("overrides")
    assert caught.value.by == "schema.getConfig.200"


def test_a_member_that_no_schema_demands_is_a_violation_of_the_check():
    with pytest.raises(Violation):
        reply(CONFIG).member("endpoints")


def test_a_body_that_is_no_json_is_a_violation():
    with pytest.raises(Violation):
        reply(b"<html>").json()


def test_exact_equality_sees_superfluous_members():
    with pytest.raises(Violation):
        equal({"a": 1, "b": 2}, {"a": 1}, symptom="x")
    equal({"a": [1]}, {"a": [1]}, symptom="x")
