"""A server in which what generated requests name really exists, and which forgets what they did."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.clients.in_process import exchange
from icecheck.mock_server.core.context import Reply
from icecheck.mock_server.core.vending_settings import VendingSettings
from icecheck.mock_server.mock import MockSnapshot
from icecheck.mock_server.planning.plans import PlanningSettings
from tests.interop.corpus.case import CorpusCase
from tests.mock.planning.handmade import File, Manifest, make_table

NAMESPACE, EMPTY_NAMESPACE = "ns", "empty"
TABLE, VIEW = "icecheck", "icecheck_view"
TIME = 1_700_000_000_000

_SCHEMA = {
    "type": "struct",
    "fields": [
        {"id": 1, "name": "id", "required": False, "type": "long"},
        {"id": 2, "name": "data", "required": False, "type": "string"},
    ],
}
_VERSION = {
    "version-id": 1,
    "timestamp-ms": TIME,
    "schema-id": 0,
    "summary": {"engine-name": "corpus"},
    "representations": [{"type": "sql", "sql": "select 1", "dialect": "spark"}],
    "default-namespace": [NAMESPACE],
}


@dataclass(frozen=True, slots=True)
class StockedFacts:
    """What requests have to know in order to be about something that exists."""

    table_uuid: str
    table_location: str
    metadata_location: str
    snapshot_id: int
    view_uuid: str
    plan_id: str
    plan_task: str
    access_token: str
    about_view: bool = False

    def path_parameters(self, operation_id: str) -> dict[str, str]:
        """What stands for the parameters of an operation's path."""
        namespace = EMPTY_NAMESPACE if operation_id == "dropNamespace" else NAMESPACE
        return {
            "prefix": "wh",
            "namespace": namespace,
            "table": TABLE,
            "view": VIEW,
            "plan-id": self.plan_id,
        }


class StockedServer:
    """One server with its objects; every request meets the state that `new_stocked_server` left."""

    def __init__(self, mock: MockCatalog, facts: StockedFacts) -> None:
        self.mock = mock
        self.facts = facts
        self._before: MockSnapshot = mock.snapshot()

    def send(self, case: CorpusCase) -> Reply:
        """Answer one request; its effect stays."""
        headers, body = case.headers.items(), case.body or b""
        return exchange(self.mock.app, case.method, case.target, headers, body)

    def answer(self, case: CorpusCase) -> Reply:
        """Answer one request, and forget what it changed."""
        try:
            return self.send(case)
        finally:
            self.mock.restore(self._before)


def new_stocked_server(root: Path) -> StockedServer:
    """A namespace with a table of two snapshots and a view, an empty namespace, and a plan."""
    planning = PlanningSettings(files_per_task=1)
    vending = VendingSettings(storage="s3")
    mock = MockCatalog(
        seed=5,
        clock=TIME,
        root="memory://corpus",
        planning=planning,
        vending=vending,
        allow_locations=[root],  # the manifests made by hand
    )
    with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock/v1/wh") as http:
        _expect(http.get("http://mock/v1/config?warehouse=wh"))
        for name in (NAMESPACE, EMPTY_NAMESPACE):
            body = {"namespace": [name], "properties": {"icecheck.gone": "not yet"}}
            _expect(http.post("/namespaces", json=body))
        table = make_table(http, root, TABLE, _SCHEMA)
        table.commit(Manifest([File("memory://corpus/1.parquet", lower={1: bytes(8)})]))
        table.commit(Manifest([File("memory://corpus/2.parquet", nulls={1: 0}, values={1: 10})]))
        loaded = _expect(http.get(table.path))
        plan = _expect(http.post(f"{table.path}/plan", json={}))
        view = _expect(
            http.post(
                f"/namespaces/{NAMESPACE}/views",
                json={"name": VIEW, "schema": _SCHEMA, "view-version": _VERSION, "properties": {}},
            )
        )
        grant = {"grant_type": "client_credentials", "client_secret": "corpus"}
        token = _expect(http.post("http://mock/v1/oauth/tokens", data=grant))
    facts = StockedFacts(
        table_uuid=loaded["metadata"]["table-uuid"],
        table_location=loaded["metadata"]["location"],
        metadata_location=loaded["metadata-location"],
        snapshot_id=loaded["metadata"]["current-snapshot-id"],
        view_uuid=view["metadata"]["view-uuid"],
        plan_id=plan["plan-id"],
        plan_task=plan["plan-tasks"][0],
        access_token=token["access_token"],
    )
    return StockedServer(mock, facts)


def _expect(answer: httpx.Response) -> Any:
    assert answer.status_code == 200, answer.text
    return answer.json()
