"""A standalone Spark cluster on this machine: a master and workers, each a process of its own."""

import contextlib
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pyspark

from icecheck.spark.launcher import find_installation
from tests.reference.starting import free_ports

READY_SECONDS = 60
POLL_SECONDS = 0.2
_MASTER = "org.apache.spark.deploy.master.Master"
_WORKER = "org.apache.spark.deploy.worker.Worker"


def own_address() -> str:
    """Return an address of this machine that other machines know; if none does, its loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as there:
        try:
            there.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            return "127.0.0.1"
        return str(there.getsockname()[0])


@contextlib.contextmanager
def spark_cluster(directory: Path, workers: int = 2, host: str = "127.0.0.1") -> Iterator[str]:
    """Yield the URL of a master whose workers are ready; each worker has one core.

    What the processes write is kept in ``directory``, which all of them see. ``host`` is the
    address of this machine at which all of them listen.
    """
    port, shown, *others = free_ports(2 + workers)
    url = f"spark://{host}:{port}"
    local = ("--host", host)
    with contextlib.ExitStack() as stack:
        of_master = (*local, "--port", str(port), "--webui-port", str(shown))
        stack.enter_context(_process(directory / "master", host, _MASTER, *of_master))
        for number, its_own in enumerate(others):
            place = directory / f"worker-{number}"
            of_worker = (*local, "--cores", "1", "--memory", "2g", "--webui-port", str(its_own))
            work = ("--work-dir", str(place / "work"))
            stack.enter_context(_process(place, host, _WORKER, *of_worker, *work, url))
        _wait(f"http://{host}:{shown}/json/", workers)
        yield url


@contextlib.contextmanager
def _process(directory: Path, host: str, name: str, *arguments: str) -> Iterator[None]:
    """Run a class of Spark in a JVM of its own until the end of the block."""
    directory.mkdir(parents=True)
    command = [str(Path(pyspark.__file__).parent / "bin" / "spark-class"), name, *arguments]
    environment = {
        **os.environ,
        "JAVA_HOME": str(find_installation().java.home),
        "SPARK_LOCAL_IP": host,
        "SPARK_LOCAL_DIRS": str(directory / "tmp"),
        "SPARK_LOG_DIR": str(directory),
        "SPARK_NO_DAEMONIZE": "1",
        "PYSPARK_PYTHON": sys.executable,
    }
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            yield
        finally:
            process.terminate()
            process.wait()


def _wait(url: str, workers: int) -> None:
    """Wait until so many workers are known to the master; raises TimeoutError."""
    pause = threading.Event()
    for _ in range(int(READY_SECONDS / POLL_SECONDS)):
        with contextlib.suppress(httpx.TransportError, ValueError):
            if httpx.get(url, trust_env=False).json().get("aliveworkers") == workers:
                return
        pause.wait(POLL_SECONDS)
    raise TimeoutError(f"{url} knows fewer than {workers} workers after {READY_SECONDS} s")
