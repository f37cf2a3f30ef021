"""CPU of the server per request: the mock against a raw ASGI app that answers constant bytes."""

import json
import multiprocessing
import statistics
import time
from multiprocessing.connection import Connection

import httpx

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.http.threaded import ThreadedServer

ROUNDS = 7
REQUESTS = 1500

SCHEMA = {
    "type": "struct",
    "schema-id": 0,
    "fields": [
        {"id": i, "name": f"column_{i}", "type": "string", "required": False} for i in range(1, 51)
    ],
}
COMMIT = json.dumps(
    {"requirements": [], "updates": [{"action": "set-properties", "updates": {"k": "v"}}]}
).encode()


def constant_app(body: bytes):
    head = {
        "type": "http.response.start",
        "status": 200,
        "headers": [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))],
    }

    async def app(scope, receive, send):
        more = scope["method"] == "POST"
        while more:
            more = (await receive()).get("more_body", False)
        await send(head)
        await send({"type": "http.response.body", "body": body})

    return app


def serve(pipe: Connection, body: bytes | None) -> None:
    """Serve until told to stop; the request "cpu" returns this process's CPU seconds."""
    if body is None:
        server: MockCatalog | ThreadedServer = MockCatalog(token="t", warehouses=["wh"])
    else:
        server = ThreadedServer(constant_app(body), "127.0.0.1", 0)
    server.start()
    pipe.send(server.port)
    while pipe.recv() == "cpu":
        pipe.send(time.process_time())
    server.stop()


class Served:
    def __init__(self, body: bytes | None = None) -> None:
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=serve, args=(theirs, body))
        self.process.start()
        self.http = httpx.Client(
            base_url=f"http://127.0.0.1:{self.pipe.recv()}", headers={"Authorization": "Bearer t"}
        )

    def cpu(self) -> float:
        self.pipe.send("cpu")
        return self.pipe.recv()

    def microseconds(self, method: str, path: str, content: bytes | None) -> float:
        before = self.cpu()
        for _ in range(REQUESTS):
            self.http.request(method, path, content=content).raise_for_status()
        return (self.cpu() - before) / REQUESTS * 1e6

    def stop(self) -> None:
        self.pipe.send("stop")
        self.process.join()


def main() -> None:
    mock = Served()
    mock.http.post("/v1/wh/namespaces", json={"namespace": ["db"]}).raise_for_status()
    body = {"name": "t", "schema": SCHEMA}
    mock.http.post("/v1/wh/namespaces/db/tables", json=body).raise_for_status()
    path = "/v1/wh/namespaces/db/tables/t"
    answer = mock.http.get(path).content
    constant = Served(answer)
    print(f"table of 50 columns, answer of {len(answer)} bytes, {ROUNDS} rounds of {REQUESTS}")
    for name, method, content in (("GET table", "GET", None), ("commit", "POST", COMMIT)):
        pairs = []
        for _ in range(ROUNDS):
            ours = mock.microseconds(method, path, content)
            pairs.append((ours, constant.microseconds(method, path, content)))
        ratio = statistics.median(o / c for o, c in pairs)
        ours, base = (statistics.median(p) for p in zip(*pairs, strict=True))
        print(f"{name:10} mock {ours:6.0f} µs  constant bytes {base:6.0f} µs  ratio {ratio:.2f}")
    mock.stop()
    constant.stop()


if __name__ == "__main__":
    main()
