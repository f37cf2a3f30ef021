"""A small change of a module is put into its functions, wherever they are held already."""

import importlib.util

import pytest

from tests.mutation.mutants import functions_below, mutants_of

SOURCE = '''
def held(function):
    return lambda *given: function(*given)


def decide(a, b, seen):
    """What a text says is not changed."""
    if a < b and b:
        raise ValueError("nor a sentence of an error")
    seen.append("x")
    return max(a, b) + 1


decided = held(decide)
'''


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "changed.py"
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("changed", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def outcome(module):
    """What the function comes to for two calls, and what it leaves."""
    found = []
    for a, b in ((2, 2), (1, 3)):
        seen = []
        try:
            found.append((module.decided(a, b, seen), seen))
        except (ValueError, TypeError) as error:
            found.append(type(error))
    return found


@pytest.mark.complete("tox -e mutation puts in every change of the product")
def test_each_change_is_put_in_alone_and_can_be_noticed(module, tmp_path):
    faithful = outcome(module)
    (path, functions) = next(iter(functions_below(tmp_path).items()))
    before = [(function, function.__code__) for function in functions]
    noticed = {}
    for mutant in mutants_of(path):
        changed = mutant.put_into(functions)
        assert {each.__name__ for each in changed} <= {"decide", "held"}
        noticed.setdefault(mutant.kind, []).append(outcome(module) != faithful)
        for function, code in before:
            function.__code__ = code
    assert outcome(module) == faithful
    assert {kind: len(found) for kind, found in noticed.items()} == {
        "other comparison": 1, "and for or": 1, "negated test": 1, "dropped statement": 2,
        "other constant": 2, "other operator": 1, "returned nothing": 2, "swapped arguments": 1,
    }  # fmt: skip
    assert noticed.pop("swapped arguments") == [False]  # the greater of two has no order
    assert all(any(found) for found in noticed.values())
