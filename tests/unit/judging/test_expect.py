"""Expectations: what matches, what is a violation, and what is blocked instead."""

import json

import pytest

from icecheck.replies.expect import Reply, Violation
from icecheck.replies.matching import (
    ABSENT,
    ABSENT_OR_NULL,
    ANY_INTEGER,
    ANY_STRING,
    containing,
    difference,
    lacking,
    one_of,
)
from icecheck.replies.schema import schema_judge
from icecheck.wire.exchange import Exchange, Step
from tests.kit.contracts import CONTRACT


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
    return Reply(exchange, schema_judge(CONTRACT))


CONFIG = {"defaults": {}, "overrides": {"a": "1"}}


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


@pytest.mark.parametrize(
    ("expected", "actual", "exact", "found"),
    [
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 2}]}, True, None),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, True, ("/a/1/b", 2, 3)),
        ({"a": 1}, {"a": 1, "more": 2}, False, None),
        ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, True, ("/a", {"b": 1}, {"b": 1, "c": 2})),
        (1, True, True, ("", 1, True)),
    ],
)
def test_a_difference_is_told_by_its_place_and_both_values(expected, actual, exact, found):
    assert difference(expected, actual, exact=exact) == found
