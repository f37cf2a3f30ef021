"""The persistent map behaves like a sorted dictionary, and its old versions never change."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icecheck.mock_server.core import sorted_map
from icecheck.mock_server.core.sorted_map import SortedMap

KEYS = st.text(alphabet="abü\U0001f600", max_size=3)
CHANGES = st.lists(st.tuples(st.booleans(), KEYS), max_size=120)


def check_against_a_dictionary(changes: list[tuple[bool, str]]) -> None:
    present: SortedMap[str, int] = SortedMap()
    model: dict[str, int] = {}
    versions = []
    for number, (adds, key) in enumerate(changes):
        if adds:
            present = present.with_item(key, number)
            model[key] = number
        elif key in model:
            present = present.without(key)
            del model[key]
        versions.append((present, dict(model)))
    for version, expected in versions:
        assert list(version.after()) == sorted(expected.items())
        assert len(version) == len(expected)
        for _, key in changes:
            assert version.get(key) == expected.get(key)
            assert (key in version) == (key in expected)
            following = [item for item in sorted(expected.items()) if item[0] > key]
            assert list(version.after(key)) == following


@given(CHANGES)
@settings(max_examples=60, deadline=None)
def test_it_is_a_sorted_dictionary_within_one_chunk(changes: list[tuple[bool, str]]) -> None:
    check_against_a_dictionary(changes)


@given(CHANGES)
@settings(max_examples=60, deadline=None)
def test_it_is_a_sorted_dictionary_across_many_chunks(changes: list[tuple[bool, str]]) -> None:
    whole = sorted_map.CHUNK_KEYS_MAX
    sorted_map.CHUNK_KEYS_MAX = 4
    try:
        check_against_a_dictionary(changes)
    finally:
        sorted_map.CHUNK_KEYS_MAX = whole


@pytest.mark.parametrize("count", [0, 1, 128, 129, 1000])
def test_a_map_of_items_is_the_one_that_they_make_one_by_one(count: int) -> None:
    items = [(f"{number:05d}", number) for number in range(count)]
    whole = SortedMap.of(reversed(items))
    assert list(whole.after()) == items
    assert len(whole) == count
    assert all(whole.get(key) == number for key, number in items)
    assert [keys[0] for keys, _ in whole.chunks] == [*whole.heads]
    changed = whole.with_item("00000a", -1)
    assert list(changed.after()) == sorted([*items, ("00000a", -1)])


def test_removing_nearly_everything_leaves_few_chunks() -> None:
    present: SortedMap[str, int] = SortedMap()
    names = [f"{number:05d}" for number in range(5000)]
    for number, name in enumerate(names):
        present = present.with_item(name, number)
    for name in names[:-10]:
        present = present.without(name)
    assert [key for key, _ in present.after()] == names[-10:]
    assert len(present.chunks) <= 2


def test_removing_an_absent_key_is_a_key_error() -> None:
    present: SortedMap[str, int] = SortedMap()
    for probe in (present, present.with_item("b", 1)):
        with pytest.raises(KeyError):
            probe.without("a")
