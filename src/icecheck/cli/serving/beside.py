"""Runs a command beside the mock: with variables and files that lead its clients there."""

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from icecheck.cli.ending import fail

if TYPE_CHECKING:
    from icecheck.mock_server import MockCatalog
    from icecheck.mock_server.clients.connection import Connection

_NOT_FOUND, _NOT_EXECUTABLE = 127, 126
_LEADING = ("CATALOG_", "ICEBERG_REST_", "PYICEBERG_CATALOG__DEFAULT__", "SAIL_CATALOG__LIST")
_FILES: Mapping[str, str] = {
    "spark-defaults.conf": "spark",
    ".pyiceberg.yaml": "pyiceberg",
    "trino-iceberg.properties": "trino",
    "flink.sql": "flink",
    "duckdb.sql": "duckdb",
    "clickhouse.sql": "clickhouse",
}
DIRECTORY = "ICECHECK_CLIENTS"
"""The variable that names the directory with the files."""


def run_beside(
    mock: "MockCatalog", command: Sequence[str], on_ready: "Callable[[MockCatalog], object]"
) -> int:
    """Run a command while a mock serves; return its exit code, 128 + N if signal N ended it.

    Signals that come meanwhile go to the command. Raises UnfiredFault if the command ended well and
    a strict fault never happened.
    """
    from icecheck.mock_server.serving.faults import expect_fired

    mock.start()
    try:
        with tempfile.TemporaryDirectory(prefix="icecheck-clients-") as directory:
            connection = mock.connection(mock.warehouses.default_name)
            on_ready(mock)
            code = _run(command, connection, Path(directory))
    finally:
        mock.stop()
    if code == 0:
        expect_fired(mock.faults.rules)
    return code


def _run(command: Sequence[str], connection: "Connection", directory: Path) -> int:
    """Run a command with everything that it may want to know; return its exit code."""
    _write_files(connection, directory)
    # What leads clients elsewhere must not come beside what leads them here.
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_LEADING)}
    named = {"SPARK_CONF_DIR": str(directory), **kept, DIRECTORY: str(directory)}
    return ended_command(command, {**named, **variables(connection)})


def ended_command(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a command and return its exit code, 128 + N if signal N ended it; hands signals on."""
    # What the command starts is to end with it: signals go to a process group of its own. At a
    # terminal it stays in ours, or it could not read from there.
    own_group = not _is_in_the_foreground()
    with _handed_on(own_group=own_group) as started:
        try:
            process = subprocess.Popen(
                command, env=environment, process_group=0 if own_group else None
            )
        except FileNotFoundError:
            fail(f"there is no command {command[0]!r}", _NOT_FOUND)
        except OSError as error:
            fail(f"{command[0]} cannot be run: {error.strerror}", _NOT_EXECUTABLE)
        started(process)
        code = process.wait()
    return code if code >= 0 else 128 - code


def variables(connection: "Connection") -> dict[str, str]:
    """Return the variables by which clients find a catalog: PyIceberg, Iceberg's kit, our suite."""
    from icecheck.mock_server.clients.connection import ConnectionUnusable

    named = {
        "CATALOG_URI": connection.uri,
        "CATALOG_WAREHOUSE": connection.warehouse,
        "CATALOG_TOKEN": connection.token,
        "CATALOG_CREDENTIAL": connection.credential,
        "ICEBERG_REST_URI": connection.uri,
        "ICEBERG_REST_WAREHOUSE": connection.warehouse,
    }
    known = {name: value for name, value in named.items() if value is not None}
    known |= connection.pyiceberg_environment()
    with contextlib.suppress(ConnectionUnusable):
        known |= connection.sail_environment()
    return known


def _write_files(connection: "Connection", directory: Path) -> None:
    from icecheck.mock_server.clients.connection import CLIENTS, ConnectionUnusable

    for name, client in _FILES.items():
        with contextlib.suppress(ConnectionUnusable):
            (directory / name).write_text(CLIENTS[client](connection), encoding="utf-8")


@contextlib.contextmanager
def _handed_on(*, own_group: bool) -> Iterator[Callable[["subprocess.Popen[bytes]"], None]]:
    """Hand signals on to the process that is started in the block, and told by what is yielded.

    Those that come before it runs are handed on then.
    """
    running: list[subprocess.Popen[bytes]] = []
    early: list[int] = []

    def hand_on(number: int, _frame: FrameType | None) -> None:
        if not running:
            early.append(number)
        elif own_group:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running[0].pid, number)
        # What is typed at a terminal comes to the command by itself.
        elif number != signal.SIGINT or not _is_in_the_foreground():
            running[0].send_signal(number)

    def started(process: "subprocess.Popen[bytes]") -> None:
        running.append(process)
        for number in early:
            hand_on(number, None)

    numbers = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP"):
        numbers.append(signal.SIGHUP)
    before = {number: signal.signal(number, hand_on) for number in numbers}
    try:
        yield started
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_in_the_foreground() -> bool:
    """Return whether a terminal sends its signals to this process, and so to the command too."""
    try:
        with Path("/dev/tty").open("rb") as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False
