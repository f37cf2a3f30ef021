"""The facts of operations: every operation has every one, and what is missing is told at once."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from icecheck.contract import (
    SPEC_VERSIONS,
    Action,
    Changes,
    Contract,
    IncompleteFacts,
    Object,
    Place,
    document,
    load,
    operations,
)
from icecheck.contract.facts import read_facts
from tests.kit.contracts import CONTRACT, of_every_version

METHODS = {operation.id: operation.method for operation in CONTRACT.operations.values()}
FACTS = ("profile", "object", "action", "default", "changes", "commits", "locks", "names",
         "creates", "removes", "error_types")  # fmt: skip
ALTERED = "0.0.1"


@pytest.fixture
def rows() -> dict[str, dict[str, Any]]:
    """Return the rows of the table, to be altered."""
    return copy.deepcopy({**document.operation_rows(CONTRACT.version)})  # type: ignore[arg-type]


@pytest.fixture
def altered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield the folder of a version whose document has one more operation, and no facts of it."""
    found = copy.deepcopy(CONTRACT.raw)
    path = "/v1/{prefix}/namespaces/{namespace}/unregister"
    method = copy.deepcopy(found["paths"]["/v1/{prefix}/namespaces/{namespace}/register"]["post"])
    found["paths"][path] = {"post": {**method, "operationId": "unregisterTable"}}
    lines = {
        pointer: [*span]
        for pointer, span in document.line_index(CONTRACT.version).items()
        if "~1register" in pointer
    }
    lines = {pointer.replace("~1register", "~1unregister"): at for pointer, at in lines.items()}
    every = {pointer: [*span] for pointer, span in document.line_index(CONTRACT.version).items()}
    (tmp_path / "openapi.json").write_text(json.dumps(found))
    (tmp_path / "lines.json").write_text(json.dumps(every | lines))
    (tmp_path / "operations.json").write_text(json.dumps(document.operation_rows(CONTRACT.version)))
    dates = Path(document.__file__).parent / document.FOLDERS[CONTRACT.version] / "releases.toml"
    (tmp_path / "releases.toml").write_text(dates.read_text())
    monkeypatch.setattr(document, "FOLDERS", {**document.FOLDERS, ALTERED: str(tmp_path)})
    caches = (
        document.raw_document, document.line_index, document.operation_rows,
        operations.operations, operations._placed, operations.documented,
    )  # fmt: skip
    yield tmp_path
    for cached in caches:
        cached.cache_clear()


@pytest.mark.parametrize("version", SPEC_VERSIONS)
def test_every_operation_has_every_fact(version: str) -> None:
    contract = load(version)
    assert {*document.operation_rows(version)} == {*contract.operations}
    assert all({*row} == {*FACTS} for row in document.operation_rows(version).values())


def test_an_operation_without_facts_is_told_with_every_fact_it_lacks(altered: Path) -> None:
    with pytest.raises(IncompleteFacts) as told:
        operations.operations(ALTERED)
    for fact in FACTS:
        assert f"unregisterTable: {fact}" in str(told.value)
    assert "releases.toml" in str(told.value)


def test_an_operation_with_its_facts_loads(altered: Path) -> None:
    written = document.operation_rows(CONTRACT.version)
    row = {**written["dropTable"], "object": "catalog", "default": False}
    (altered / "operations.json").write_text(json.dumps({**written, "unregisterTable": row}))
    added = operations.operations(ALTERED)["unregisterTable"]
    assert added.facts.removes is Place.PATH
    assert added.profile == "write"


def test_a_second_operation_that_loads_a_view_wants_an_action_of_its_own(
    rows: dict[str, dict[str, Any]],
) -> None:
    rows["viewHistory"] = rows["loadView"]
    with pytest.raises(IncompleteFacts) as told:
        read_facts(rows, {**METHODS, "viewHistory": "GET"})
    assert "viewHistory: loadView already has load of a view" in str(told.value)


def test_everything_that_is_wrong_is_told_in_one_message(rows: dict[str, dict[str, Any]]) -> None:
    del rows["loadView"]["profile"]
    del rows["dropTable"]
    rows["listTables"]["changes"] = "a little"
    rows["getConfig"]["colour"] = "blue"
    rows["purgeTable"] = rows["dropView"]
    with pytest.raises(IncompleteFacts) as told:
        read_facts(rows, METHODS)
    for named in ("loadView: profile", "dropTable: profile", "dropTable: removes",
                  "listTables: changes", "getConfig: colour", "purgeTable"):  # fmt: skip
        assert named in str(told.value)


@pytest.mark.parametrize(
    ("operation_id", "fact", "value"),
    [
        ("createTable", "creates", None),
        ("registerTable", "creates", None),
        ("renameView", "creates", None),
        ("dropView", "removes", None),
        ("renameTable", "removes", None),
        ("createView", "names", ["path"]),
        ("dropNamespace", "changes", "nothing"),
        ("replaceView", "changes", "aside"),
        ("loadTable", "changes", "objects"),
        ("tableExists", "locks", True),
        ("updateProperties", "locks", False),
        ("createTable", "creates", ["body.name"]),
        ("createTable", "creates", ["body.name", "sometimes"]),
        ("loadTable", "profile", "reading"),
        ("loadTable", "names", ["header"]),
        ("loadTable", "default", "yes"),
        ("loadTable", "error_types", {"404": "NoSuchTableException"}),
    ],
)
def test_facts_that_contradict_each_other_are_refused(
    rows: dict[str, dict[str, Any]], operation_id: str, fact: str, value: Any
) -> None:
    rows[operation_id][fact] = value
    with pytest.raises(IncompleteFacts, match=operation_id):
        read_facts(rows, METHODS)


@of_every_version
def test_an_error_type_is_of_a_documented_response(contract: Contract) -> None:
    for operation in contract.operations.values():
        assert {*operation.facts.error_types} <= {*operation.responses}


@of_every_version
def test_what_is_named_by_the_path_stands_in_the_path(contract: Contract) -> None:
    for operation in contract.operations.values():
        parameter = "{" + operation.facts.object + "}"
        by_name = parameter in operation.path or "{namespace}" in operation.path
        assert (Place.PATH in operation.facts.names) == by_name, operation.id


@of_every_version
def test_a_request_body_has_the_members_in_which_it_names_something(contract: Contract) -> None:
    raw = contract.raw
    for operation in contract.operations.values():
        members = [p.removeprefix("body.") for p in operation.facts.names if p.startswith("body.")]
        if members:
            schema = document.resolve(raw, operation.request_schema or {})
            assert {*members} <= {*schema["properties"]}, operation.id


@of_every_version
def test_each_kind_of_object_is_listed_loaded_made_and_dropped_by_one_operation(
    contract: Contract,
) -> None:
    actions = (Action.LIST, Action.LOAD, Action.EXISTS, Action.CREATE, Action.DROP)
    for kind in (Object.NAMESPACE, Object.TABLE, Object.VIEW):
        found = [contract.operation_that(action, kind) for action in actions]
        assert len({*found}) == len(actions)
    assert contract.operation_that(Action.DROP, "view") == "dropView"


def test_an_action_that_nothing_does_is_told() -> None:
    with pytest.raises(LookupError, match="rename a namespace"):
        CONTRACT.operation_that(Action.RENAME, Object.NAMESPACE)


@of_every_version
def test_config_and_token_are_asked_before_anything_is_known(contract: Contract) -> None:
    assert contract.before_config == {"getConfig", "getToken"}


def test_what_changes_no_object_is_a_look_a_plan_or_a_report() -> None:
    posts = {id_ for id_, method in METHODS.items() if method not in {"GET", "HEAD"}}
    kept = {id_ for id_ in posts if CONTRACT.operations[id_].facts.changes is not Changes.OBJECTS}
    assert kept == {
        "getToken", "planTableScan", "fetchScanTasks", "cancelPlanning", "reportMetrics"
    }  # fmt: skip


def test_what_may_be_sent_twice_changes_no_object_and_is_no_cancellation() -> None:
    posts = {"getToken", "planTableScan", "fetchScanTasks", "reportMetrics"}
    repeatable = {o.id for o in CONTRACT.operations.values() if o.facts.repeatable}
    assert {each for each in repeatable if METHODS[each] not in {"GET", "HEAD"}} == posts
