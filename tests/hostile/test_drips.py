"""The time-out bounds a whole exchange, however little of it comes at a time."""

import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from icecheck.findings.verdict import Outcome
from icecheck.mock_server import MockCatalog
from icecheck.run.options import RunOptions
from icecheck.run.runner import run_checks
from icecheck.targets.target import Target
from icecheck.wire.connection import Connection, Wire
from icecheck.wire.exchange import Exchange, Step
from icecheck.wire.unreachable import Unreachable
from tests.hostile import lying_socket as lies
from tests.hostile.lying_socket import Lie, lying_socket
from tests.kit.contracts import CONTRACT
from tests.kit.shares import some

TIMEOUT_SECONDS = 0.5
# Two attempts of half a second each; a client without a limit is let go after LIE_SECONDS.
BOUND_SECONDS = lies.LIE_SECONDS * 0.75
LONG_BODY = bytes(16 << 20)


def wire(url: str, method: str = "GET", body: bytes | None = None) -> Wire:
    return Wire("c", 1, Step.DO, "getConfig", method, f"{url}/v1/config", {}, body)


@contextmanager
def in_time() -> Iterator[None]:
    began = time.monotonic()
    yield
    assert time.monotonic() - began < BOUND_SECONDS


def ask(url: str, method: str = "GET", body: bytes | None = None) -> list[Exchange]:
    """Ask a liar within the time, and return what was recorded: nothing that came is an answer."""
    recorded: list[Exchange] = []
    connection = Connection(Target(url, timeout_seconds=TIMEOUT_SECONDS), CONTRACT)
    with in_time(), pytest.raises(Unreachable):
        connection.send(wire(url, method, body), recorded.append)
    connection.close()
    assert {exchange.status for exchange in recorded} == {None}
    return recorded


DRIPS = {
    "headers": lies.drip_headers,
    "100-continue": lies.interim(100),
    "103-hints": lies.interim(103),
    "103-flood": lies.flood_of_hints,
    "body": lies.drip_body,
    "chunks": lies.drip_chunks,
    "trailers": lies.drip_trailers,
    "silence": lies.silent,
}


def errors_of(lie: Lie) -> list[str | None]:
    with lying_socket(lie) as url:
        return [exchange.error for exchange in ask(url)]


def test_an_answer_that_drips_for_ever_is_given_up() -> None:
    """All at once: each takes two time-outs, and waits for nothing else."""
    with ThreadPoolExecutor(len(DRIPS)) as pool:
        asked = {name: pool.submit(errors_of, lie) for name, lie in DRIPS.items()}
    for name, errors in asked.items():
        assert all("Timeout" in (error or "") for error in errors.result()), name


@pytest.mark.parametrize("lie", [lies.never_read, lies.read_slowly], ids=["never", "slowly"])
def test_a_request_that_nobody_reads_is_given_up(lie: Lie) -> None:
    with lying_socket(lie, reads=False) as url:
        [exchange] = ask(url, "POST", LONG_BODY)
        assert "Timeout" in (exchange.error or "")


@pytest.mark.parametrize("lie", [lies.silent, lies.drip_tls], ids=["silence", "drip"])
def test_a_handshake_that_never_ends_is_given_up(lie: Lie) -> None:
    with lying_socket(lie, reads=False) as url:
        ask(url.replace("http:", "https:"))


def test_a_connection_that_was_good_once_is_bounded_as_well() -> None:
    """The second request of a connection has a time of its own, and no more."""
    good = lies.answering(200, b"{}")
    lie = lies.where(lambda talk: talk.number == 1, good, lies.drip_headers)
    recorded: list[Exchange] = []
    with lying_socket(lie) as url:
        connection = Connection(Target(url, timeout_seconds=TIMEOUT_SECONDS), CONTRACT)
        assert connection.send(wire(url), recorded.append).status == 200
        time.sleep(TIMEOUT_SECONDS)
        with in_time(), pytest.raises(Unreachable):
            connection.send(wire(url), recorded.append)
        connection.close()
    assert [exchange.status for exchange in recorded] == [200, None, None]


def test_a_server_that_is_slow_within_the_time_is_heard() -> None:
    def slow(talk: lies.Talk) -> None:
        for part in (b"HTTP/1.1 200 OK\r\n", b"Content-Length: 2\r\n\r\n", b"{", b"}"):
            talk.send(part)
            talk.pause()

    with lying_socket(slow) as url:
        connection = Connection(Target(url, timeout_seconds=30), CONTRACT)
        assert connection.send(wire(url), lambda _: None).response_body == b"{}"
        connection.close()


@pytest.mark.complete("waits for time-outs; a request that drips is ended in the usual command")
def test_a_run_before_which_one_operation_drips_ends_without_blame() -> None:
    mock = MockCatalog(seed=1, warehouses=["wh"])

    def loads_a_table(talk: lies.Talk) -> bool:
        return talk.method == "GET" and "/tables/" in talk.path

    lie = lies.where(loads_a_table, lies.drip_body, lies.honest(mock))
    with lying_socket(lie) as url:
        target = Target(url, warehouse="wh", timeout_seconds=TIMEOUT_SECONDS)
        run = run_checks(RunOptions(target, "drip", globs=("loadTable.succeeds", "listTables.all")))
    outcomes = {verdict.outcome for verdict in run.verdicts}
    assert Outcome.BLOCKED in outcomes
    assert outcomes.isdisjoint({Outcome.FAIL, Outcome.ERROR})
    assert run.facts["safety"]["residue"] == []
    mock.stop()


@pytest.mark.parametrize(
    "lie", some([lies.drip_headers, lies.interim(100)], 2), ids=["headers", "100"]
)
def test_the_command_ends_with_one_line(lie: Lie, tmp_path) -> None:
    with lying_socket(lie) as url, in_time():
        ended = subprocess.run(
            [sys.executable, "-m", "icecheck", "run", url, "--timeout", "0.5",
             "--output", str(tmp_path / "out")],
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
    assert ended.returncode == 4
    assert ended.stderr.count("\n") == 1
    assert "cannot be reached" in ended.stderr
