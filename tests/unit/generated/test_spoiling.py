"""Bodies that are broken in one place, and what a catalog has to do with them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from icecheck.conformance.fuzzed.spoiling import spoiled
from icecheck.conformance.generated.flaws import Flaw, flaw_of_body
from icecheck.judging.generating import drawing, generating
from tests.kit.contracts import CONTRACT

BODY = {"a": [{"b": 1}, {"c": {"d": "text"}}], "e": None}


def places_in(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return len(inner) + sum(places_in(each) for each in inner)


def differences(one, other):
    """Return in how many places two values differ, a part that is gone counting once."""
    if type(one) is not type(other) or not isinstance(one, dict | list):
        return int(one != other or type(one) is not type(other))
    if isinstance(one, list) and len(one) != len(other):
        return 1
    keys = one.keys() | other.keys() if isinstance(one, dict) else range(len(one))
    gone = object()
    pairs = [(one[k], other[k]) if isinstance(one, list) else (one.get(k, gone), other.get(k, gone))
             for k in keys]  # fmt: skip
    return sum(differences(a, b) for a, b in pairs)


def test_a_body_differs_in_at_most_one_place_and_every_place_is_reached():
    found = []

    @drawing(3, 200, without_constants=True)
    @given(spoiled(st.just(BODY)))
    def collect(body):
        found.append(body)

    with generating():
        collect()
    assert BODY == {"a": [{"b": 1}, {"c": {"d": "text"}}], "e": None}
    assert {differences(BODY, body) for body in found} <= {0, 1}
    assert len({repr(body) for body in found}) > 3 * places_in(BODY)


SCHEMA = {"type": "struct", "fields": [{"id": 1, "name": "a", "type": "long", "required": True}]}
UNUSABLE = [
    ("createTable", {"name": "a"}),
    ("createTable", {"name": "a", "schema": {**SCHEMA, "fields": [{"id": 1}]}}),
    ("createTable", {"name": "a", "schema": SCHEMA, "properties": []}),
    ("createTable", 7),
    ("updateTable", {"requirements": [], "updates": [{"action": "no such"}]}),
    ("updateTable", {"requirements": [], "updates": [{}]}),
    ("updateTable", {"requirements": [], "updates": [None]}),
    ("updateTable", {"requirements": [{"type": "assert-table-uuid"}], "updates": []}),
    ("updateTable", {"requirements": [], "updates": [{"action": "add-schema"}]}),
    ("commitTransaction", {"table-changes": {}}),
    ("renameTable", {"source": {"namespace": ["a"], "name": "b"}}),
]
MISTYPED = [
    ("createTable", {"name": 7, "schema": SCHEMA}),
    ("updateTable", {"updates": []}),
    ("updateTable", {"requirements": [], "updates": [{"action": "assign-uuid", "uuid": 7}]}),
]
TOLERABLE = [
    ("createTable", {"name": "a", "schema": SCHEMA, "stage-create": None}),
    # What kind of type is meant is not clear.
    ("createTable", {"name": "a", "schema": {**SCHEMA, "fields": [
        {"id": 1, "name": "a", "type": {"type": "list"}, "required": True}]}}),
    ("updateTable", {"requirements": [], "updates": [], "identifier": {}}),
    ("reportMetrics", {}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("operation_id", "body", "flaw"),
    [
        (*each, flaw)
        for flaw, found in (
            (Flaw.UNUSABLE, UNUSABLE), (Flaw.MISTYPED, MISTYPED), (Flaw.TOLERABLE, TOLERABLE),
        )
        for each in found
    ],
)  # fmt: skip
def test_the_gravest_certain_flaw_of_a_body_is_its_flaw(operation_id, body, flaw):
    assert flaw_of_body(CONTRACT.operations[operation_id], CONTRACT, body) is flaw


def test_a_grave_flaw_beside_a_slight_one_counts():
    body = {"name": 7, "schema": {**SCHEMA, "fields": "none"}}
    assert flaw_of_body(CONTRACT.operations["createTable"], CONTRACT, body) is Flaw.UNUSABLE
