"""The ordinary request of every operation, about a namespace with a table `t` and a view `v`."""

from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from tests.kit.contracts import CONTRACT

SCHEMA = {
    "type": "struct",
    "fields": [{"id": 1, "name": "id", "required": True, "type": "long"}],
}
VIEW_VERSION: dict[str, Any] = {
    "version-id": 1,
    "timestamp-ms": 1_700_000_000_000,
    "schema-id": 0,
    "summary": {},
    "representations": [{"type": "sql", "sql": "select 1", "dialect": "spark"}],
    "default-namespace": ["ns"],
}
REPORT = {
    "report-type": "commit-report",
    "table-name": "ns.t",
    "snapshot-id": 1,
    "sequence-number": 1,
    "operation": "append",
    "metrics": {},
}
COMMIT: dict[str, Any] = {
    "requirements": [],
    "updates": [{"action": "set-properties", "updates": {"a": "b"}}],
}
TOKEN = {
    "grant_type": "client_credentials",
    "client_id": "root",
    "client_secret": "secret",
    "scope": "catalog",
}
FORM = {"content-type": "application/x-www-form-urlencoded"}


@dataclass(frozen=True)
class Sent:
    """A request: names for the path's parameters, and the rest; `raw` replaces the body."""

    operation: str
    names: dict[str, str] = field(default_factory=dict)
    body: Any = None
    raw: bytes | None = None
    query: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)

    def but(self, **changes: Any) -> "Sent":
        return replace(self, **changes)

    @property
    def method(self) -> str:
        return CONTRACT.operations[self.operation].method

    def target(self, prefix: str = "") -> str:
        """The path, under a prefix that ends in a slash or under none, and the query."""
        path = CONTRACT.operations[self.operation].path.replace("{prefix}/", prefix)
        for name, value in self.names.items():
            path = path.replace("{" + name + "}", value)
        return path + ("?" + urlencode(self.query) if self.query else "")


def ordinary_requests(
    *namespace: str, plan: str = "none", metadata: str = "memory://root/none.metadata.json"
) -> dict[str, Sent]:
    """Operation -> a request that succeeds, if the namespace, `t` and `v` in it, the plan exist.

    dropNamespace is about the namespace itself; registerTable reads `metadata`.
    """
    levels = list(namespace or ("ns",))
    inside = {"namespace": "%1F".join(levels)}
    table, view = {**inside, "table": "t"}, {**inside, "view": "v"}

    def named(name: str) -> dict[str, Any]:
        return {"namespace": levels, "name": name}

    def new_view(name: str) -> dict[str, Any]:
        return {"name": name, "schema": SCHEMA, "view-version": VIEW_VERSION, "properties": {}}

    rest: dict[str, tuple[dict[str, str], Any]] = {
        "getConfig": ({}, None),
        "createNamespace": ({}, {"namespace": [*levels, "new"], "properties": {}}),
        "loadNamespaceMetadata": (inside, None),
        "namespaceExists": (inside, None),
        "dropNamespace": (inside, None),
        "updateProperties": (inside, {"updates": {"a": "b"}, "removals": []}),
        "listTables": (inside, None),
        "createTable": (inside, {"name": "new", "schema": SCHEMA, "properties": {"a": "b"}}),
        "registerTable": (inside, {"name": "registered", "metadata-location": metadata}),
        "loadTable": (table, None),
        "updateTable": (table, COMMIT),
        "dropTable": (table, None),
        "tableExists": (table, None),
        "renameTable": ({}, {"source": named("t"), "destination": named("moved")}),
        "loadCredentials": (table, None),
        "reportMetrics": (table, REPORT),
        "commitTransaction": ({}, {"table-changes": [{"identifier": named("t"), **COMMIT}]}),
        "planTableScan": (table, {"select": ["id"], "filter": True}),
        "fetchPlanningResult": ({**table, "plan-id": plan}, None),
        "cancelPlanning": ({**table, "plan-id": plan}, None),
        "fetchScanTasks": (table, {"plan-task": "unknown"}),
        "listViews": (inside, None),
        "createView": (inside, new_view("new")),
        "loadView": (view, None),
        "replaceView": (view, COMMIT),
        "dropView": (view, None),
        "viewExists": (view, None),
        "renameView": ({}, {"source": named("v"), "destination": named("renamed")}),
    }
    return {
        "getToken": Sent("getToken", raw=urlencode(TOKEN).encode(), headers=FORM),
        "listNamespaces": Sent("listNamespaces", query={"parent": "\x1f".join(levels)}),
        **{id_: Sent(id_, names, body) for id_, (names, body) in rest.items()},
    }
