"""Which objects a request may create or remove, read from the request before it is sent."""

import json
from typing import Any

import pytest

from icecheck.ownership.effects import Effect, effect_of
from icecheck.ownership.ledger import Entry
from tests.kit.contracts import CONTRACT

ASSERT_CREATE = {"type": "assert-create"}
HERE = ("ns",)


def identifier(name: str) -> dict[str, Any]:
    return {"namespace": [*HERE], "name": name}


def table(name: str) -> Entry:
    return Entry("table", HERE, name)


def view(name: str) -> Entry:
    return Entry("view", HERE, name)


def effect(operation_id: str, body: Any, **names: Any) -> Effect:
    return effect_of(CONTRACT.operations[operation_id], names, json.dumps(body).encode())


@pytest.mark.parametrize(
    ("operation_id", "body", "names", "created", "removed"),
    [
        ("createNamespace", {"namespace": ["ns"]}, {}, (Entry("namespace", HERE),), ()),
        ("dropNamespace", None, {"namespace": HERE}, (), (Entry("namespace", HERE),)),
        ("createTable", {"name": "t"}, {"namespace": HERE}, (table("t"),), ()),
        ("createTable", {"name": "t", "stage-create": True}, {"namespace": HERE}, (), ()),
        ("dropTable", None, {"namespace": HERE, "table": "t"}, (), (table("t"),)),
        ("updateTable", {"requirements": []}, {"namespace": HERE, "table": "t"}, (), ()),
        (
            "updateTable",
            {"requirements": [ASSERT_CREATE]},
            {"namespace": HERE, "table": "t"},
            (table("t"),),
            (),
        ),
        (
            "renameTable",
            {"source": identifier("a"), "destination": identifier("b")},
            {},
            (table("b"),),
            (table("a"),),
        ),
        ("loadTable", None, {"namespace": HERE, "table": "t"}, (), ()),
        ("createView", {"name": "v"}, {"namespace": HERE}, (view("v"),), ()),
        ("replaceView", {"updates": []}, {"namespace": HERE, "view": "v"}, (), ()),
        ("dropView", None, {"namespace": HERE, "view": "v"}, (), (view("v"),)),
        (
            "renameView",
            {"source": identifier("a"), "destination": identifier("b")},
            {},
            (view("b"),),
            (view("a"),),
        ),
    ],
)
def test_a_request_says_what_it_may_create_and_remove(
    operation_id: str,
    body: Any,
    names: dict[str, Any],
    created: tuple[Entry, ...],
    removed: tuple[Entry, ...],
) -> None:
    assert effect(operation_id, body, **names) == Effect(created, removed)


def test_a_transaction_creates_the_tables_that_it_asserts_to_be_new() -> None:
    changes: list[Any] = [
        {"identifier": identifier("old"), "requirements": [], "updates": []},
        {"identifier": identifier("new"), "requirements": [ASSERT_CREATE], "updates": []},
        {"requirements": [ASSERT_CREATE]},
        {"identifier": "new", "requirements": [ASSERT_CREATE]},
        "new",
    ]
    assert effect("commitTransaction", {"table-changes": changes}).creates == (table("new"),)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"table-changes": "all"}', b"\xff"])
def test_a_body_that_names_nothing_has_no_effect(body: bytes) -> None:
    for operation_id in (
        "createNamespace",
        "createTable",
        "renameTable",
        "commitTransaction",
        "createView",
        "renameView",
    ):
        assert effect_of(CONTRACT.operations[operation_id], {}, body) == Effect()
