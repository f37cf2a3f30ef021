"""Building blocks for defects of scans: other filters, tasks or files than those of a plan."""

from collections.abc import Callable
from typing import Any

from icecheck.mock_server.core.context import Registries
from icecheck.mock_server.defects.kit.requests import Json
from icecheck.mock_server.defects.kit.rewriting import alter_body, alter_request_body

RANGE = frozenset({"start-snapshot-id", "end-snapshot-id"})


def without_members(body: Json, *names: str) -> Json:
    """Return the same object without these members."""
    return {name: value for name, value in body.items() if name not in names}


def alter_filter(registries: Registries, alter: Callable[[Any], Any]) -> None:
    """Plan with another filter than the sent one, if there is one."""

    def altered(body: Json) -> Json:
        return {**body, "filter": alter(body["filter"])} if "filter" in body else body

    alter_request_body(registries, "planTableScan", altered)


def alter_tasks(registries: Registries, operation_id: str, alter: Callable[[Json], Json]) -> None:
    """Change every file scan task in the answers of an operation."""

    def altered(body: Json) -> Json:
        tasks = body.get("file-scan-tasks")
        return body if tasks is None else {**body, "file-scan-tasks": [*map(alter, tasks)]}

    alter_body(registries, operation_id, altered)


def with_data_files(body: Json, alter: Callable[[Json], Json]) -> Json:
    """Return an answer with every data file of its tasks altered."""
    tasks = body.get("file-scan-tasks")
    if tasks is None:
        return body
    altered = [{**task, "data-file": alter(task["data-file"])} for task in tasks]
    return {**body, "file-scan-tasks": altered}


def alter_data_files(registries: Registries, alter: Callable[[Json], Json]) -> None:
    """Change every data file of a plan that is completed at once."""
    alter_body(registries, "planTableScan", lambda body: with_data_files(body, alter))
