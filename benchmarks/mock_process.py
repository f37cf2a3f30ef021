"""`icecheck serve` as a process: time to its first answer, CPU, memory, against bare uvicorn.

The other side is the least server that uvicorn makes: so much do Python and uvicorn take alone.
"""

import statistics
import subprocess
import sys
import time
from pathlib import Path

import httpx

ROUNDS = 9
PORT_WORDS = "127.0.0.1:"
OURS = [sys.executable, "-m", "icecheck", "serve", "--port", "0", "--quiet"]
BARE = [
    sys.executable,
    "-c",
    """
import socket, uvicorn

async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})

bound = socket.create_server(("127.0.0.1", 0))
print(f"127.0.0.1:{bound.getsockname()[1]}", flush=True)
uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off")).run(sockets=[bound])
""",
]
HTTP = httpx.Client(verify=False, trust_env=False)  # noqa: S501 - loopback; a context costs 30 ms
TICKS_A_SECOND = 100


def started(command: list[str]) -> tuple[float, float, float]:
    """Start a server, ask once, and return the seconds, its CPU seconds, and its MB in memory."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    port = process.stdout.readline().partition(PORT_WORDS)[2].split('"')[0].strip()
    HTTP.get(f"http://127.0.0.1:{port}/v1/config", params={"warehouse": "wh"}).raise_for_status()
    seconds = time.perf_counter() - begin
    spent = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    status = Path(f"/proc/{process.pid}/status").read_text()
    resident = int(status.partition("VmRSS:")[2].split()[0]) / 1024
    process.terminate()
    process.wait()
    return seconds, (int(spent[11]) + int(spent[12])) / TICKS_A_SECOND, resident


def main() -> None:
    started(OURS), started(BARE)
    pairs = [(started(OURS), started(BARE)) for _ in range(ROUNDS)]
    print(f"{ROUNDS} rounds, medians, to the first answer (/v1/config)")
    for index, what in enumerate(("seconds", "CPU seconds", "MB resident")):
        mine = statistics.median(ours[index] for ours, _ in pairs)
        other = statistics.median(bare[index] for _, bare in pairs)
        ratio = mine / other
        print(f"{what:12} icecheck serve {mine:6.2f}  uvicorn {other:6.2f}  ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
