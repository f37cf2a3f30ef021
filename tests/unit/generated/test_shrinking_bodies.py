"""A failing body becomes as small as its failure allows, within what may be spent on it."""

import itertools

from icecheck.conformance.fuzzed.shrinking import smaller

BODY = {
    "a": [{"x": 1, "y": "a long text"}, {"x": 2, "y": "another text"}, {"x": 3}],
    "b": {"deep": {"deeper": [1, 2, 3, 4, 5]}},
    "c": "text",
}


def test_what_the_failure_does_not_need_goes():
    def fails(body):
        return any(each.get("x") == 2 for each in body.get("a", ()))

    assert smaller(BODY, fails) == {"a": [{"x": 2}]}


def test_what_does_not_fail_is_never_returned():
    def fails(body):
        return len(body.get("b", {}).get("deep", {}).get("deeper", ())) >= 3 and "c" in body

    found = smaller(BODY, fails)
    assert fails(found)
    assert sorted(found) == ["b", "c"]
    assert len(found["b"]["deep"]["deeper"]) == 3
    assert found["c"] == "a"


def test_the_budget_ends_it_with_the_best_so_far():
    tried = []

    def fails(body):
        tried.append(body)
        return "c" in body

    steps = itertools.count()
    found = smaller(BODY, fails, lambda: next(steps) < 4)
    assert len(tried) <= 3
    assert "c" in found


def test_a_body_is_tried_once():
    tried = []
    smaller(BODY, lambda body: bool(tried.append(repr(body))) or "c" in body)
    assert len(tried) == len(set(tried))


def test_values_without_parts_stay_as_they_are():
    assert smaller(5, lambda _: True) == 5
    assert smaller([], lambda _: True) == []
