"""What tests of tables ask of the server again and again, and what they read of a refusal."""

from typing import Any

import httpx

from tests.kit.ordinary_requests import SCHEMA, VIEW_VERSION

TABLES = "/namespaces/ns/tables"


def error_of(response: httpx.Response) -> tuple[int, str]:
    """Status and type of a refusal, whose body is complete and says the same status."""
    error = response.json()["error"]
    assert error["code"] == response.status_code
    assert error["message"]
    return response.status_code, error["type"]


def create(http: httpx.Client, name: str, **members: Any) -> httpx.Response:
    """Create a table of one column in the namespace `ns`."""
    return http.post(TABLES, json={"name": name, "schema": SCHEMA, **members})


def create_view(http: httpx.Client, namespace: str, name: str, **members: Any) -> httpx.Response:
    """Create a view of one query."""
    body = {"name": name, "schema": SCHEMA, "view-version": VIEW_VERSION, "properties": {}}
    return http.post(f"/namespaces/{namespace}/views", json={**body, **members})


def set_property(http: httpx.Client, path: str, **properties: str) -> httpx.Response:
    """Commit properties to the table at this path."""
    updates = [{"action": "set-properties", "updates": properties}]
    return http.post(path, json={"requirements": [], "updates": updates})
