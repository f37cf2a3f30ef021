"""The mock under test, in this process: one table, asked with the bodies that clients send."""

import json

import httpx

from icecheck.mock_server import MockCatalog
from tests.interop.oracle.answer import Answer, Json

WAREHOUSE, NAMESPACE, TABLE = "wh", "ns", "t"


class Subject:
    """A mock catalog that keeps its files in memory, behind an httpx client."""

    def __init__(self) -> None:
        self._mock = MockCatalog(seed=0, root="memory://oracle", warehouses=[WAREHOUSE])
        self._http = httpx.Client(
            transport=self._mock.httpx_transport(), base_url=f"http://mock/v1/{WAREHOUSE}"
        )
        self._before = self._mock.snapshot()

    def create_table(self, body: Json) -> Answer:
        """Answer createTable, staged or not."""
        return self._asked(f"/namespaces/{NAMESPACE}/tables", body)

    def update_table(self, body: Json) -> Answer:
        """Answer updateTable."""
        self._before = self._mock.snapshot()
        return self._asked(f"/namespaces/{NAMESPACE}/tables/{TABLE}", body)

    def _asked(self, path: str, body: Json) -> Answer:
        reply = self._http.post(path, content=json.dumps(body))
        answer = reply.json()
        if reply.status_code == httpx.codes.OK:
            return Answer(
                200, metadata=answer["metadata"], metadata_location=answer.get("metadata-location")
            )
        error = answer["error"]
        assert error["code"] == reply.status_code
        return Answer(reply.status_code, error["type"], error["message"])

    def start_again(self) -> None:
        """Forget everything."""
        self._mock.reset(WAREHOUSE)
        made = self._http.post("/namespaces", json={"namespace": [NAMESPACE]})
        assert made.status_code == httpx.codes.OK

    def tried(self, body: Json) -> Answer:
        """Answer an updateTable as if the last one had not been, and then be where it led."""
        after = self._mock.snapshot()
        self._mock.restore(self._before)
        answer = self._asked(f"/namespaces/{NAMESPACE}/tables/{TABLE}", body)
        self._mock.restore(after)
        return answer
