"""A secured server with one object of each kind."""

import httpx

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.core.clock import VirtualClock
from icecheck.mock_server.core.vending_settings import VendingSettings
from icecheck.mock_server.planning.plans import PlanningMode, PlanningSettings
from icecheck.mock_server.security.settings import Client, OAuth2Settings, Permissions
from tests.kit.contracts import CONTRACT
from tests.kit.ordinary_requests import Sent, ordinary_requests


class StockedServer:
    """A server in which each of its `requests` succeeds; the namespace `empty` is for dropping."""

    def __init__(self) -> None:
        everything = tuple({*CONTRACT.operations} - {"getConfig", "getToken"})
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
        self.requests = ordinary_requests()
        self._fill()

    def _fill(self) -> None:
        asked = self.requests
        for name in ("ns", "empty"):
            self.send(asked["createNamespace"].but(body={"namespace": [name]}))
        gone = self.send(asked["createTable"]).json()["metadata-location"]
        self.send(asked["dropTable"].but(names={"namespace": "ns", "table": "new"}))
        for operation_id, name in (("createTable", "t"), ("createView", "v")):
            made = asked[operation_id]
            self.send(made.but(body={**made.body, "name": name})).raise_for_status()
        plan = self.send(asked["planTableScan"]).json()["plan-id"]
        self.requests = ordinary_requests(plan=plan, metadata=gone)
        self.requests["dropNamespace"] = Sent("dropNamespace", {"namespace": "empty"})

    def authorization(self, client_id: str = "root") -> dict[str, str]:
        return {"authorization": f"Bearer {self.mock.access_token(client_id)}"}

    def send(self, sent: Sent, authorization: dict[str, str] | None = None) -> httpx.Response:
        headers = self.authorization() if authorization is None else authorization
        url = httpx.URL("http://mock.test", raw_path=sent.target("wh/").encode())
        return self.http.request(
            sent.method,
            url,
            json=sent.body if sent.raw is None else None,
            content=sent.raw,
            headers={**headers, **sent.headers},
        )
