"""Starts a catalog as a process on this machine, waits until it answers, and stops it again."""

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

READY_TIMEOUT_SECONDS = 90.0
POLL_SECONDS = 0.25
STOP_TIMEOUT_SECONDS = 15.0
LOG_TAIL_BYTES = 2000


class NotReady(Exception):
    """Raised when a started catalog does not answer; the message ends with the end of its log."""


@dataclass(frozen=True, slots=True)
class Starting:
    """The start of a catalog; ``ready`` is the path that is answered 200 once it can be used.

    It is requested with a token for ``credential``, if there is one ("id:secret"). ``path`` is that
    of the catalog on its server, and ``first`` a request (method, path, headers, body) that makes
    what an operator makes before the catalog is used. ``for_spark`` returns the environment in
    which Spark reaches the files; it may fetch packages.
    """

    command: Sequence[str]
    port: int
    ready: str = "/v1/config"
    credential: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    for_spark: Callable[[], Mapping[str, str]] = dict
    path: str = ""
    first: tuple[str, str, Mapping[str, str], Mapping[str, Any]] | None = None


@contextlib.contextmanager
def running(starting: Starting) -> Iterator[str]:
    """Yield the base URL of a started catalog; raises NotReady, and always stops the process."""
    with tempfile.TemporaryDirectory(prefix="icecheck-reference-") as directory:
        log = Path(directory) / "log"
        with log.open("wb") as sink:
            process = subprocess.Popen(
                starting.command,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                env={**os.environ, **starting.environment},
                cwd=directory,
                start_new_session=True,
            )
        try:
            _wait(process, starting, log)
            _prepare(starting)
            yield f"http://127.0.0.1:{starting.port}{starting.path}"
        finally:
            _stop(process)


def free_ports(many: int) -> list[int]:
    """Return ports of 127.0.0.1 that were free a moment ago."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(many)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _wait(process: subprocess.Popen[bytes], starting: Starting, log: Path) -> None:
    pause = threading.Event()
    for _ in range(int(READY_TIMEOUT_SECONDS / POLL_SECONDS)):
        if process.poll() is not None:
            raise NotReady(f"it ended with {process.returncode}: {_tail(log)}")
        if _answers(starting):
            return
        pause.wait(POLL_SECONDS)
    raise NotReady(f"no answer in {READY_TIMEOUT_SECONDS:.0f} s: {_tail(log)}")


def _answers(starting: Starting) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", starting.port, timeout=10)
    try:
        connection.request("GET", starting.ready, headers=_authorization(starting, connection))
        reply = connection.getresponse()
        return reply.status == 200 and isinstance(json.loads(reply.read()), dict)
    except (OSError, ValueError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _authorization(starting: Starting, connection: http.client.HTTPConnection) -> Mapping[str, str]:
    if starting.credential is None:
        return {}
    name, _, secret = starting.credential.partition(":")
    form = {"grant_type": "client_credentials", "client_id": name, "client_secret": secret}
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    connection.request("POST", "/v1/oauth/tokens", urlencode(form), kind)
    answer = json.loads(connection.getresponse().read())
    token = answer.get("access_token") if isinstance(answer, dict) else None
    return {"Authorization": f"Bearer {token}"}


def _prepare(starting: Starting) -> None:
    if starting.first is None:
        return
    method, path, headers, body = starting.first
    connection = http.client.HTTPConnection("127.0.0.1", starting.port, timeout=30)
    try:
        sent = {"Content-Type": "application/json", **headers}
        connection.request(method, path, json.dumps(body), sent)
        reply = connection.getresponse()
        if reply.status >= 300:
            raise NotReady(f"{method} {path} was answered {reply.status}: {reply.read()[:300]!r}")
    finally:
        connection.close()


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the process and all processes that it started, which are one session."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_TIMEOUT_SECONDS)
            return


def _tail(log: Path) -> str:
    return log.read_bytes()[-LOG_TAIL_BYTES:].decode("utf-8", errors="replace").strip()
