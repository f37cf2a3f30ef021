"""What an expectation that does not hold says: symptom, expected, actual, place and exchange."""

import pytest

from icecheck.findings.verdict import SkipKind
from icecheck.replies.expect import Blocked, NotOffered, Violation, equal
from icecheck.replies.matching import (
    ABSENT,
    ABSENT_OR_NULL,
    ANY_INTEGER,
    ANY_OBJECT,
    ANY_STRING,
    containing,
    find,
    lacking,
    one_of,
    show,
)
from icecheck.wire.unreachable import CredentialsEnded, Unreachable
from tests.kit.findings import a_finding, a_symptom, a_violation
from tests.unit.answering import ORDINAL, reply

X = a_symptom("x")
CONFIG = {"defaults": {}, "overrides": {"a": "1"}}
NESTED = {**CONFIG, "a": {"b": [10, {"c": "x"}]}}


def finding_of(expectation):
    with pytest.raises(Violation) as caught:
        expectation()
    return caught.value.finding


# ---- what a violation says


STATUS = {
    "one": (lambda r: r.expect(409), a_finding("status", "409", "200", exchange=ORDINAL)),
    "several": (
        lambda r: r.expect(409, 204, 404, detail="why"),
        a_finding("status", "204 or 404 or 409", "200", "why", exchange=ORDINAL),
    ),
    "refused": (lambda r: r.expect_refused(), a_finding("status", "4xx", "200", exchange=ORDINAL)),
    "refused-and-why": (
        lambda r: r.expect_refused(detail="why"),
        a_finding("status", "4xx", "200", "why", exchange=ORDINAL),
    ),
    "refused-with-one-of": (
        lambda r: r.expect_refused(409, 400),
        a_finding("status", "400 or 409", "200", exchange=ORDINAL),
    ),
    "refused-with-one-and-why": (
        lambda r: r.expect_refused(400, detail="why"),
        a_finding("status", "400", "200", "why", exchange=ORDINAL),
    ),
}
BODY = {
    "value": (
        lambda r: r.expect_json({"a": {"b": [10, {"c": "y"}]}}),
        a_finding("value:some.check", '"y"', '"x"', pointer="/a/b/1/c", exchange=ORDINAL),
    ),
    "named": (
        lambda r: r.expect_json({"a": 1}, symptom=a_symptom("other"), detail="why"),
        a_finding("other", "1", show(NESTED["a"]), "why", "/a", ORDINAL),
    ),
    "at-a-place": (
        lambda r: r.expect_json({"c": "y"}, at=("a", "b", 1), symptom=a_symptom("other")),
        a_finding("other", '"y"', '"x"', pointer="/a/b/1/c", exchange=ORDINAL),
    ),
    "missing": (
        lambda r: r.expect_json({"a": {"z": ANY_STRING}}, symptom=a_symptom("other")),
        a_finding("other", "a string", "absent", pointer="/a/z", exchange=ORDINAL),
    ),
    "nothing-at-that-place": (
        lambda r: r.expect_json({"c": "y"}, at=("a", "q"), symptom=a_symptom("other")),
        a_finding("other", '{"c": "y"}', "absent", pointer="/a/q", exchange=ORDINAL),
    ),
    "there-though-it-must-not-be": (
        lambda r: r.expect_json(ABSENT, at=("a", "b", 0), symptom=a_symptom("other")),
        a_finding("other", "absent", "10", pointer="/a/b/0", exchange=ORDINAL),
    ),
    "another-length": (
        lambda r: r.expect_json({"a": {"b": [10]}}, symptom=a_symptom("other")),
        a_finding("other", "[10]", '[10, {"c": "x"}]', pointer="/a/b", exchange=ORDINAL),
    ),
    "no-member": (
        lambda r: r.member("a", "b", 1, "z"),
        a_finding(
            "member-missing",
            "a member /a/b/1/z",
            "absent",
            pointer="/a/b/1/z",
            exchange=ORDINAL,
        ),
    ),
}


@pytest.mark.parametrize("which", STATUS)
def test_a_wrong_status_says_which_were_due_and_which_came(which):
    expectation, said = STATUS[which]
    assert finding_of(lambda: expectation(reply(CONFIG))) == said


@pytest.mark.parametrize("which", BODY)
def test_a_wrong_body_says_what_is_wrong_and_where(which):
    expectation, said = BODY[which]
    assert finding_of(lambda: expectation(reply(NESTED))) == said


def test_a_body_that_is_no_json_is_quoted_as_far_as_its_beginning():
    said = finding_of(reply(b"<p>" + b"x" * 57 + b"tail").json)
    assert said == a_finding("body-is-no-json", "a JSON body", f'"<p>{"x" * 57}"', exchange=ORDINAL)
    assert finding_of(reply(b"\xff").json).actual == '"\ufffd"'
    assert finding_of(reply(b"[" * 200_000).json).symptom.slug == "body-is-no-json"


def test_a_derived_value_that_differs_says_what_is_wrong_and_where():
    said = finding_of(lambda: equal({"a": [1, 2]}, {"a": [1, 3]}, symptom=X, detail="why"))
    assert said == a_finding("x", "3", "2", "why", "/a/1")
    assert finding_of(lambda: equal(1, 2, symptom=X)) == a_finding("x", "2", "1")


@pytest.mark.parametrize(
    ("actual", "pointer"),
    [({"a": {"b": 1, "c": 2}}, "/a"), ({"a": {}}, "/a/b"), ({"a": {"b": 1}, "d": 0}, "")],
    ids=["too-much-inside", "too-little", "too-much"],
)
def test_a_derived_value_must_be_equal_at_every_depth(actual, pointer):
    assert finding_of(lambda: equal(actual, {"a": {"b": 1}}, symptom=X)).pointer == pointer


def test_a_derived_list_must_be_equal_in_each_of_its_objects():
    wanted = [{"a": 1}]
    assert finding_of(lambda: equal([{"a": 1, "b": 2}], wanted, symptom=X)).pointer == "/0"


def test_a_violation_keeps_what_else_was_found_behind_the_first():
    other = a_finding("y", "c", "d")
    plain, both = a_violation("x", "a", "b"), a_violation("x", "a", "b", others=(other,))
    assert plain.findings == (a_finding("x", "a", "b"),)
    assert both.findings == (a_finding("x", "a", "b"), other)
    assert str(plain) == "x: expected a, got b"
    assert Violation.again(other, pointer="/z").finding == a_finding("y", "c", "d", pointer="/z")


def test_the_other_endings_keep_who_is_to_blame_and_why():
    blocked = Blocked("createTable.200", "it failed", exchange=4)
    assert (blocked.by, blocked.reason, blocked.exchange) == ("createTable.200", "it failed", 4)
    assert Blocked("x", "y").exchange is None
    assert "createTable.200" in str(blocked)
    assert "it failed" in str(blocked)
    left = NotOffered("no views", SkipKind.NOT_APPLICABLE)
    assert (left.kind, left.reason, str(left)) == (SkipKind.NOT_APPLICABLE, "no views", "no views")
    assert NotOffered("no views").kind is SkipKind.MISSING_FIXTURE
    assert isinstance(CredentialsEnded("over"), Unreachable)


# ---- what is accepted


@pytest.mark.parametrize(
    ("status", "refused", "ok"),
    [
        (199, False, False),
        (200, False, True),
        (299, False, True),
        (300, False, False),
        (399, False, False),
        (400, True, False),
        (499, True, False),
        (500, False, False),
    ],
)
def test_a_status_is_a_success_or_a_refusal_by_its_class(status, refused, ok):
    answer = reply({}, status=status)
    assert answer.ok is ok
    if refused:
        assert answer.expect_refused() is answer
    else:
        assert finding_of(answer.expect_refused).actual == str(status)


def test_an_expectation_that_holds_returns_the_reply():
    answer = reply(NESTED)
    assert answer.expect(200) is answer
    assert answer.expect_json({"a": ANY_OBJECT, "z": ABSENT}) is answer
    assert reply({}, status=409).expect_refused(400, 409).status == 409


def test_a_reply_hands_out_its_members_and_its_headers():
    answer = reply(NESTED)
    assert answer.member("a", "b", 1, "c") == "x"
    assert answer.member("a", "b", -1) == {"c": "x"}
    assert answer.json() == NESTED
    assert answer.header("content-TYPE") == "application/json"
    assert answer.header("etag") is None


@pytest.mark.parametrize(
    ("path", "there"),
    [
        ((), NESTED["a"]),
        (("b",), [10, {"c": "x"}]),
        (("b", 0), 10),
        (("b", -2), 10),
        (("b", 1, "c"), "x"),
        (("b", 2), ABSENT),
        (("b", -3), ABSENT),
        (("b", "0"), ABSENT),
        ((0,), ABSENT),
        (("b", 0, "c"), ABSENT),
        (("z", "b"), ABSENT),
    ],
    ids=str,
)
def test_what_lies_at_a_path_is_found_or_absent(path, there):
    assert find(NESTED["a"], path) == there


# How a matcher is made belongs to what is tested: each is made when its test runs.
MATCHERS = {
    "string": (lambda: ANY_STRING, ["", "x"], [1, None, ABSENT, ["x"]]),
    "integer": (lambda: ANY_INTEGER, [0, -1, 2**70], [True, 1.0, "1", None, ABSENT]),
    "object": (lambda: ANY_OBJECT, [{}, {"a": 1}], [[], "x", None, ABSENT]),
    "absent-or-null": (lambda: ABSENT_OR_NULL, [None, ABSENT], [0, "", False, {}, []]),
    "containing": (
        lambda: containing("x", {"k": 1}),
        [["x", {"k": 1}], [{"k": 1, "l": 2}, "y", "x"]],
        [["x"], [{"k": 1}], ["x", {"k": 2}], [], "x", None, {"x": {"k": 1}}, ABSENT],
    ),
    "lacking": (
        lambda: lacking("x", {"k": 1}),
        [[], ["y", {"k": 2}]],
        [["x"], ["y", "x"], [{"k": 1, "l": 2}], "y", None, {}, ABSENT],
    ),
    "one-of": (lambda: one_of(None, -1), [None, -1], [0, "null", ABSENT]),
    "one-of-a-type": (
        lambda: one_of(1, False, {"a": 1}),
        [1, False, {"a": 1}],
        [True, 1.0, 0, 0.0, {"a": True}, {"a": 1, "b": 2}, ABSENT],
    ),
}


@pytest.mark.parametrize("which", MATCHERS)
def test_a_matcher_accepts_what_it_names_and_nothing_else(which):
    make, accepted, refused = MATCHERS[which]
    matcher = make()
    assert [value for value in accepted if not matcher.accepts(value)] == []
    assert [value for value in refused if matcher.accepts(value)] == []


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (False, 0),
        (0, False),
        (0.0, 0),
        (None, 0),
        (None, False),
        ({}, []),
        ([], {}),
        ({"a": 1}, "a"),
        ("a", {"a": 1}),
        ([1], 1),
        (1, [1]),
        ([[1], [2]], [[1], [3]]),
        (2**62 + 1, 2**62),
        (ABSENT, None),
    ],
    ids=repr,
)
def test_another_value_or_one_of_another_kind_is_never_equal(expected, actual):
    body = {**CONFIG, "a": actual}
    assert finding_of(lambda: reply(body).expect_json({"a": expected})).symptom
    assert finding_of(lambda: equal(actual, expected, symptom=X)).symptom.slug == "x"


@pytest.mark.parametrize("value", [0, False, None, 1.5, "", [], {}, [{"a": [1]}]], ids=repr)
def test_a_value_equals_itself(value):
    equal(value, value, symptom=X)
    assert reply({**CONFIG, "a": value}).expect_json({"a": value}).ok


def test_a_tuple_stands_for_a_list():
    equal([1, [2]], (1, (2,)), symptom=X)
    said = finding_of(lambda: equal([1], (1, 2), symptom=X))
    assert said == a_finding("x", "[1, 2]", "[1]")


# ---- how a report names it


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": "é"}, '{"a": "é", "b": 1}'),
        (None, "null"),
        (True, "true"),
        (ABSENT, "absent"),
        (ANY_STRING, "a string"),
        ({ANY_STRING.name: ANY_INTEGER}, '{"a string": "an integer"}'),
        ("x" * 158, f'"{"x" * 158}"'),
        ("x" * 159, f'"{"x" * 158}…'),
    ],
)
def test_a_value_is_shown_as_json_and_no_longer_than_a_line(value, text):
    assert show(value) == text
    assert len(text) <= 160


def test_a_matcher_is_named_by_what_it_accepts():
    assert repr(containing("x", 1)) == 'a list with "x", 1'
    assert repr(lacking("x", 1)) == 'a list without "x", 1'
    assert repr(one_of(None, -1)) == "null or -1"


def test_a_value_is_shortened_where_it_is_asked_for():
    assert show("abcdef", 5) == '"abc…'
    assert show("abc", 5) == '"abc"'


# ---- blocked by the schema check instead


BROKEN = {"defaults": {}, "a": 1}


@pytest.mark.parametrize(
    "expectation",
    [lambda r: r.member("overrides"), lambda r: r.expect_json({"overrides": {}})],
    ids=["member", "expect_json"],
)
def test_a_member_that_the_schema_demands_is_the_schema_checks_finding(expectation):
    with pytest.raises(Blocked) as caught:
        expectation(reply(BROKEN))
    assert caught.value.by == "schema.getConfig.200"
    assert caught.value.exchange == ORDINAL
    assert "overrides" in caught.value.reason


def test_an_unlisted_5xx_is_blocked_by_the_row_that_stands_for_it():
    with pytest.raises(Blocked) as caught:
        reply({}, status=507).member("error")
    assert caught.value.by == "schema.getConfig.5XX"


def test_a_member_with_a_wrong_value_is_a_violation_though_the_schema_is_broken_too():
    assert finding_of(lambda: reply(BROKEN).expect_json({"a": 2})).actual == "1"
    mistaken = {**BROKEN, "defaults": 1}
    assert finding_of(lambda: reply(mistaken).expect_json({"defaults": {}})).actual == "1"


def test_what_only_a_strict_reading_demands_blocks_nobody():
    listing = reply({"next-page-token": None}, operation="listNamespaces")
    assert finding_of(lambda: listing.member("namespaces")).symptom.slug == "member-missing"


def test_an_answer_of_no_operation_has_no_schema_that_could_block():
    said = finding_of(lambda: reply({"defaults": {}}, operation=None).member("overrides"))
    assert said.pointer == "/overrides"


@pytest.mark.parametrize("broken", [{"overrides": {}}, {"defaults": 1, "overrides": {}}])
def test_what_is_broken_elsewhere_blocks_nobody(broken):
    answer = reply(broken)
    for expectation in (lambda: answer.member("a"), lambda: answer.expect_json({"a": []})):
        assert finding_of(expectation).pointer == "/a"


def test_a_member_inside_a_list_is_the_schema_checks_finding():
    listed = reply({"identifiers": [{"namespace": ["a"]}]}, operation="listTables")
    with pytest.raises(Blocked) as caught:
        listed.member("identifiers", 0, "name")
    assert caught.value.by == "schema.listTables.200"
