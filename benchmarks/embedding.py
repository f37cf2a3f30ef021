"""Starting and stopping a server in a thread: MockCatalog against uvicorn's own Server."""

import statistics
import threading
import time

import httpx
import uvicorn

from icecheck.mock_server import MockCatalog

ROUNDS = 15


HTTP = httpx.Client(verify=False, trust_env=False)  # noqa: S501 - loopback; a context costs 30 ms


async def plain_app(_scope, _receive, send):
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def ours() -> tuple[float, float]:
    begin = time.perf_counter()
    mock = MockCatalog()
    mock.start()
    HTTP.get(f"{mock.uri}/v1/config").raise_for_status()
    served = time.perf_counter()
    mock.stop()
    return served - begin, time.perf_counter() - served


def uvicorns() -> tuple[float, float]:
    begin = time.perf_counter()
    config = uvicorn.Config(plain_app, port=0, log_config=None, lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.0005)
    port = server.servers[0].sockets[0].getsockname()[1]
    HTTP.get(f"http://127.0.0.1:{port}/")
    served = time.perf_counter()
    server.should_exit = True
    thread.join()
    return served - begin, time.perf_counter() - served


def main() -> None:
    ours(), uvicorns()
    pairs = [(ours(), uvicorns()) for _ in range(ROUNDS)]
    print(f"{ROUNDS} rounds, median milliseconds, a first request included")
    for index, what in enumerate(("start", "stop")):
        mine = statistics.median(o[index] for o, _ in pairs) * 1000
        other = statistics.median(u[index] for _, u in pairs) * 1000
        ratio = mine / other
        print(f"{what:6} MockCatalog {mine:7.2f}  uvicorn.Server {other:7.2f}  ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
