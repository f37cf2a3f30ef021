"""JSON in lines loses nothing, and two texts are compared word by word."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from icecheck.reports.json_lines import compared, in_lines

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_json_in_lines_is_the_same_json(value):
    assert json.loads(in_lines(json.dumps(value))) == value


@pytest.mark.parametrize(
    "text",
    [
        "", "409", "no JSON", '"a string"', '{"cut": "off… (9000 characters)', "[" * 50_000,
        '{"a": 1.0}', '{"a": 1e400, "b": 12345678901234567890.10}', "[]", "{}",
    ],
)  # fmt: skip
def test_what_is_short_or_no_json_stays_as_it_is(text):
    assert in_lines(text) == text


def test_a_long_object_has_a_line_for_each_member():
    text = json.dumps({"long": "x" * 60, "list": [1, 2], "more": {"name": "y" * 50, "b": []}})
    assert in_lines(text).splitlines() == [
        "{",
        f'  "long": "{"x" * 60}",',
        '  "list": [1, 2],',
        f'  "more": {{"name": "{"y" * 50}", "b": []}}',
        "}",
    ]


def test_a_member_that_stands_there_twice_is_shown_twice():
    assert in_lines('{"a":1,"a":2}') == '{"a": 1, "a": 2}'


def said(parts):
    return "".join(f"[{part.text}]" if part.differs else part.text for part in parts)


@pytest.mark.parametrize(
    ("one", "other", "left", "right"),
    [
        ("5 names", "4 names", "[5] names", "[4] names"),
        ("format version 2, 3 columns", "format version 2", "format version 2[, 3 columns]",
         "format version 2"),
        ("409", "200", "409", "200"),
        ("one thing", "another, which is not alike", "one thing", "another, which is not alike"),
        ("the same", "the same", "the same", "the same"),
        ("", "something", "", "something"),
    ],
)  # fmt: skip
def test_what_differs_is_marked_where_texts_are_alike(one, other, left, right):
    assert tuple(map(said, compared(one, other))) == (left, right)


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_parts_of_a_text_are_the_text(one, other):
    left, right = compared(one, other)
    assert ("".join(p.text for p in left), "".join(p.text for p in right)) == (one, other)
