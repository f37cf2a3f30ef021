"""Servers with scan planning, and what their answers say."""

from pathlib import Path
from typing import Any

import httpx

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.planning.filters.expressions import (
    Combined,
    Expression,
    Predicate,
    parse_expression,
)
from icecheck.mock_server.planning.plans import PlanningSettings
from icecheck.replies.schema import schema_judge
from tests.kit.contracts import CONTRACT


def planning_server(
    root: Path | str, settings: PlanningSettings | None = None, clock: object = 1_700_000_000_000
) -> MockCatalog:
    # Manifests made by hand lie beside the warehouse.
    beside = [root] if isinstance(root, Path) else []
    return MockCatalog(
        seed=7,
        clock=clock,  # type: ignore[arg-type]
        root=root,
        planning=settings,
        allow_locations=beside,
    )


def plan(http: httpx.Client, table: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """The answer to planTableScan, after it was found to be what the contract says."""
    answer = http.post(f"/namespaces/ns/tables/{table}/plan", json=body or {})
    assert answer.status_code == 200, answer.text
    found = checked("planTableScan", answer)
    assert isinstance(found, dict)
    return found


def checked(operation_id: str, answer: httpx.Response) -> Any:
    """The body of an answer; it must be documented, and valid against the corrected contract."""
    status = str(answer.status_code)
    assert status in CONTRACT.operations[operation_id].responses
    if answer.status_code == 204:
        assert answer.content == b""
        return None
    body = answer.json()
    found = schema_judge(CONTRACT).response_problems(operation_id, status, body)
    # The document has no null among the values of a partition; the format and Java have.
    assert [each for each in found if not _is_null_partition(body, each.pointer)] == []
    if answer.status_code >= 400:
        assert body["error"]["code"] == answer.status_code
    return body


def _is_null_partition(body: Any, pointer: str) -> bool:
    nulls = (
        None in (file or {}).get("partition", ())
        for tasks in (body.get("file-scan-tasks", []),)
        for file in [*(task.get("data-file") for task in tasks), *body.get("delete-files", [])]
    )
    return "partition" in pointer and any(nulls)


def all_tasks(http: httpx.Client, table: str, body: dict[str, Any] | None = None) -> list[Any]:
    """Every file scan task of a synchronous scan, with its delete files in place of references."""
    answers = [plan(http, table, body)]
    tasks = list(answers[0].get("plan-tasks", []))
    while tasks:
        answer = http.post(f"/namespaces/ns/tables/{table}/tasks", json={"plan-task": tasks.pop(0)})
        assert answer.status_code == 200, answer.text
        answers.append(checked("fetchScanTasks", answer))
        tasks += answers[-1].get("plan-tasks", [])
    return [resolved for answer in answers for resolved in with_deletes(answer)]


def with_deletes(answer: dict[str, Any]) -> list[Any]:
    deletes = answer.get("delete-files", [])
    referenced: set[int] = set()
    found = []
    for task in answer["file-scan-tasks"]:
        references = task.get("delete-file-references", [])
        assert len(set(references)) == len(references)
        referenced |= set(references)
        found.append({**task, "deletes": [deletes[index] for index in references]})
    assert referenced == set(range(len(deletes))), "a delete file that nothing refers to"
    return found


def paths(tasks: list[Any]) -> list[str]:
    return sorted(task["data-file"]["file-path"] for task in tasks)


def normal(json: Any) -> Expression:
    """An expression in one spelling: negations resolved, nothing nested in its own kind."""
    return _sorted(parse_expression(json))


def _sorted(expression: Expression) -> Expression:
    match expression:
        case Combined():
            children = sorted(map(_sorted, expression.children), key=repr)
            return Combined(expression.connective, tuple(children), expression.height)
        case Predicate(operation="in" | "not-in"):
            values = tuple(sorted(set(expression.literals)))
            operation = expression.operation
            if len(values) == 1:
                operation = "eq" if operation == "in" else "not-eq"
            return Predicate(operation, expression.column, expression.transform, values)
        case _:
            return expression
