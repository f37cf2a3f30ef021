"""A secured server with one object of each kind, and the ordinary request of every operation."""

from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

import httpx

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.core.clock import VirtualClock
from icecheck.mock_server.core.vending_settings import VendingSettings
from icecheck.mock_server.planning.plans import PlanningMode, PlanningSettings
from icecheck.mock_server.security.settings import Client, OAuth2Settings, Permissions
from tests.kit.contracts import CONTRACT
from tests.mock.asking import SCHEMA, VIEW_VERSION

OPERATIONS = CONTRACT.operations
REPORT = {
    "report-type": "commit-report",
    "table-name": "ns.t",
    "snapshot-id": 1,
    "sequence-number": 1,
    "operation": "append",
    "metrics": {},
}
FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Sent:
    """A request: names for the path's parameters, and the rest; `raw` replaces the body."""

    names: dict[str, str] = field(default_factory=dict)
    body: Any = None
    raw: bytes | None = None
    query: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)

    def but(self, **changes: Any) -> "Sent":
        return replace(self, **changes)


class StockedServer:
    """A server in which `ns` has the table `t`, the view `v` and a plan; `empty` has nothing.

    `elsewhere` is the metadata file of a table that was dropped, for registerTable.
    """

    def __init__(self) -> None:
        everything = tuple({*OPERATIONS} - {"getConfig", "getToken"})
        self.clock = VirtualClock(1_700_000_000_000)
        self.mock = MockCatalog(
            seed=3,
            clock=self.clock,
            root="memory://rows",
            warehouses=["wh"],
            planning=PlanningSettings(mode=PlanningMode.ASYNC),
            vending=VendingSettings(storage="s3"),
            oauth2=OAuth2Settings(
                clients=(
                    Client("root", "secret"),
                    Client(
                        "nobody", "secret", permissions=Permissions(denied_operations=everything)
                    ),
                    Client("scoped", "secret", scopes=("read",)),
                ),
                token_seconds=60,
                expired_status=419,
                required_scope="catalog",
            ),
        )
        self.http = httpx.Client(transport=self.mock.httpx_transport(), base_url="http://mock.test")
        self.plan_id = self.elsewhere = ""
        self._fill()

    def _fill(self) -> None:
        self.send("createNamespace", Sent(body={"namespace": ["empty"]})).raise_for_status()
        self.send("createNamespace", Sent(body={"namespace": ["ns"]})).raise_for_status()
        gone = self.send("createTable", Sent({"namespace": "ns"}, {"name": "x", "schema": SCHEMA}))
        self.elsewhere = gone.json()["metadata-location"]
        self.send("dropTable", Sent({"namespace": "ns", "table": "x"})).raise_for_status()
        created = {"createTable": self.ordinary("createTable"), "createView": _view("v")}
        for operation_id, sent in created.items():
            self.send(operation_id, sent).raise_for_status()
        planned = self.send("planTableScan", self.ordinary("planTableScan"))
        self.plan_id = planned.json()["plan-id"]

    def authorization(self, client_id: str = "root") -> dict[str, str]:
        return {"authorization": f"Bearer {self.mock.access_token(client_id)}"}

    def send(
        self, operation_id: str, sent: Sent, authorization: dict[str, str] | None = None
    ) -> httpx.Response:
        operation = OPERATIONS[operation_id]
        path = operation.path.replace("{prefix}", "wh")
        for name, value in sent.names.items():
            path = path.replace("{" + name + "}", value)
        headers = self.authorization() if authorization is None else authorization
        url = httpx.URL("http://mock.test", raw_path=_target(path, sent.query))
        request = self.http.build_request(
            operation.method,
            url,
            json=sent.body if sent.raw is None else None,
            content=sent.raw,
            headers={**headers, **sent.headers},
        )
        return self.http.send(request)

    def ordinary(self, operation_id: str) -> Sent:
        """A request that succeeds on this server."""
        if operation_id in ORDINARY:
            return ORDINARY[operation_id]
        if operation_id == "registerTable":
            body = {"name": "new", "metadata-location": self.elsewhere}
            return Sent({"namespace": "ns"}, body)
        return Sent({**TABLE, "plan-id": self.plan_id})


def _view(name: str) -> Sent:
    body = {"name": name, "schema": SCHEMA, "view-version": VIEW_VERSION, "properties": {}}
    return Sent({"namespace": "ns"}, body)


def _moved(name: str) -> Sent:
    ends = {"source": name, "destination": "moved"}
    return Sent(body={end: {"namespace": ["ns"], "name": value} for end, value in ends.items()})


def _target(path: str, query: dict[str, str]) -> bytes:
    return (path + ("?" + urlencode(query) if query else "")).encode()


TABLE = {"namespace": "ns", "table": "t"}
COMMIT: dict[str, Any] = {
    "requirements": [],
    "updates": [{"action": "set-properties", "updates": {"a": "b"}}],
}
CHANGE = {"identifier": {"namespace": ["ns"], "name": "t"}, **COMMIT}
TOKEN = {
    "grant_type": "client_credentials",
    "client_id": "root",
    "client_secret": "secret",
    "scope": "catalog",
}
VIEW = {"namespace": "ns", "view": "v"}
NAMESPACE = Sent({"namespace": "ns"})
ORDINARY = {
    "getConfig": Sent(),
    "getToken": Sent(raw=urlencode(TOKEN).encode(), headers={"content-type": FORM}),
    "listNamespaces": Sent(),
    "createNamespace": Sent(body={"namespace": ["new"], "properties": {}}),
    "loadNamespaceMetadata": NAMESPACE,
    "namespaceExists": NAMESPACE,
    "dropNamespace": Sent({"namespace": "empty"}),
    "updateProperties": Sent({"namespace": "ns"}, {"updates": {"a": "b"}, "removals": []}),
    "listTables": NAMESPACE,
    "createTable": Sent({"namespace": "ns"}, {"name": "t", "schema": SCHEMA}),
    "loadTable": Sent(TABLE),
    "updateTable": Sent(TABLE, COMMIT),
    "dropTable": Sent(TABLE),
    "tableExists": Sent(TABLE),
    "renameTable": _moved("t"),
    "loadCredentials": Sent(TABLE),
    "reportMetrics": Sent(TABLE, REPORT),
    "commitTransaction": Sent(body={"table-changes": [CHANGE]}),
    "planTableScan": Sent(TABLE, {}),
    "fetchScanTasks": Sent(TABLE, {"plan-task": "unknown"}),
    "listViews": NAMESPACE,
    "createView": _view("new"),
    "loadView": Sent(VIEW),
    "replaceView": Sent(VIEW, COMMIT),
    "dropView": Sent(VIEW),
    "viewExists": Sent(VIEW),
    "renameView": _moved("v"),
}
"""The requests that are the same on every such server."""
