"""A server with TLS that is asked without, and the other way round: told which URL to try."""

import socket
import ssl
from pathlib import Path

import pytest
from click.testing import CliRunner

from icecheck.cli import main
from icecheck.mock_server import MockCatalog
from tests.hostile.lying_socket import Lie, Talk, answering, honest, lying_socket, silent, where
from tests.kit.serving import gateway
from tests.kit.shares import some

CERTIFICATE = Path(__file__).parent.parent / "cli" / "self_signed.pem"
PLAIN_TO_TLS = b"Client sent an HTTP request to an HTTPS server."


def context() -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(CERTIFICATE)
    return made


def said_by(command: str, url: str, tmp_path: Path) -> str:
    options = ["--output", str(tmp_path / "out")] if command == "run" else []
    ended = CliRunner().invoke(main, [command, url, "--timeout", "1", *options])
    assert ended.exit_code != 0
    assert "Traceback" not in ended.output
    if command == "run":
        assert ended.exit_code == 4
        assert ended.stderr.count("\n") == 1
    return ended.output


@pytest.mark.parametrize("command", some(["run", "doctor"], 2))
@pytest.mark.parametrize("front", ["mock", "refusing", "waiting"])
def test_a_server_without_tls_is_told_from_a_certificate_nobody_knows(
    front: str, command: str, tmp_path: Path
) -> None:
    """What it does about the first bytes of a handshake depends on the server."""
    mock = MockCatalog(seed=1, warehouses=["wh"])
    head = answering(200, b"")
    if front == "mock":
        with mock:
            said = said_by(command, mock.uri.replace("http:", "https:"), tmp_path)
            assert f"{mock.uri}" in said
            assert "--ca-bundle" not in said
        return
    if front == "waiting":
        with gateway(mock, lambda _: True) as url:
            said = said_by(command, url.replace("http:", "https:"), tmp_path)
    else:
        with lying_socket(head) as url:
            said = said_by(command, url.replace("http:", "https:"), tmp_path)
    assert url in said
    assert "--ca-bundle" not in said
    mock.stop()


@pytest.mark.parametrize("command", ["run", "doctor"])
def test_a_server_with_tls_is_told_from_one_that_is_gone(command: str, tmp_path: Path) -> None:
    mock = MockCatalog(seed=1, warehouses=["wh"])
    with lying_socket(honest(mock), context=context()) as url:
        said = said_by(command, url.replace("https:", "http:"), tmp_path)
    assert url in said
    mock.stop()


def test_a_certificate_that_nobody_knows_still_asks_for_its_authority(tmp_path: Path) -> None:
    mock = MockCatalog(seed=1, warehouses=["wh"])
    with lying_socket(honest(mock), context=context()) as url:
        assert "--ca-bundle" in said_by("run", url, tmp_path)
    mock.stop()


@pytest.mark.complete("waits for time-outs; the servers that speak one are usual")
@pytest.mark.parametrize("scheme", some(["http", "https"], 2))
def test_a_server_that_speaks_neither_is_no_hint(scheme: str, tmp_path: Path) -> None:
    lie: Lie = where(lambda _: True, silent, silent)
    with lying_socket(lie, reads=False) as url:
        said = said_by("run", url.replace("http:", f"{scheme}:"), tmp_path)
    assert "try http" not in said


def speaks_both(talk: Talk) -> None:
    """Answer a handshake with TLS, and everything else with 400 in words."""
    if talk.socket.recv(1, socket.MSG_PEEK) != b"\x16":
        talk.receive()
        answering(400, PLAIN_TO_TLS, media="text/plain")(talk)
        return
    context().wrap_socket(talk.socket, server_side=True).close()
    raise ConnectionAbortedError


def test_a_web_server_that_says_what_it_wants_is_looked_at_again(tmp_path: Path) -> None:
    with lying_socket(speaks_both, reads=False) as url:
        assert url.replace("http:", "https:") in said_by("run", url, tmp_path)


def test_what_a_server_says_of_itself_is_not_believed(tmp_path: Path) -> None:
    with lying_socket(answering(400, PLAIN_TO_TLS, media="text/plain")) as url:
        assert "try http" not in said_by("run", url, tmp_path)
