"""Small servers that are no, or no good, catalog; and the command line in a process of its own."""

import contextlib
import os
import ssl
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from icecheck.cli import main
from tests.kit.serving import json_answer, serving

CERTIFICATE = Path(__file__).parent / "self_signed.pem"


@pytest.fixture
def serve():
    """Serve answers to requests until the test ends: ``serve(answer)`` returns a base URL."""
    with contextlib.ExitStack() as stack:
        yield lambda answer, context=None: stack.enter_context(serving(answer, context))


@pytest.fixture
def nothing_catalog(serve):
    """A catalog that answers 200 with {} to everything."""
    return serve(lambda _: json_answer({}))


@pytest.fixture
def self_signed():
    """A TLS context whose certificate (of this repository, until 2120) nobody knows; its path."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context, CERTIFICATE


@pytest.fixture
def icecheck(tmp_path, monkeypatch):
    """Run the command line in this process, in a directory of its own."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.fixture
def start_icecheck(tmp_path):
    """Start the command line as a process; whatever still runs at the end is ended."""
    started = []

    def start(*arguments, terminal=None, env=None, program=None):
        how = ["-m", "icecheck"] if program is None else ["-c", program]
        command = [sys.executable, *how, *map(str, arguments)]
        environment = {**os.environ, "PYTHONUNBUFFERED": "1", **(env or {})}
        process = subprocess.Popen(
            command,
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE if terminal is None else terminal,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()
