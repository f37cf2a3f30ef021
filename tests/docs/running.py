"""Runs snippets as a reader would: in an empty directory, with the programs of an environment."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx

from icecheck.findings.replay import KIND, VERSION
from icecheck.mock_server import Client, MockCatalog, OAuth2Settings, Permissions
from icecheck.ownership.ledger import Entry
from icecheck.ownership.ledger_file import LEDGER_FILE, LedgerFile
from icecheck.scenarios.random.test_namespaces_and_tables import CHECK
from icecheck.targets.target import Target
from tests.docs.rules import Rule, replaced
from tests.docs.snippets import ROOT, Snippet

_SECONDS_MAX = 900
_RECORDS = {"old": "iceberg-rest-fixture-1.10.1", "new": "iceberg-rest-fixture-1.11.0"}


@dataclass(frozen=True, slots=True)
class Reader:
    """Who follows a document: in which directory, with which programs, beside which catalog."""

    directory: Path
    programs: Path
    mock: MockCatalog

    def types(self, command: str, *, seconds: float = _SECONDS_MAX) -> subprocess.CompletedProcess:
        """Run a line in a shell and return what came of it."""
        return subprocess.run(
            ["bash", "-c", command],
            cwd=self.directory,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a shell in which the environment is active, and nothing of this run."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "CATALOG_"))}
        return kept | {"PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}"}


@contextlib.contextmanager
def reader(directory: Path, programs: Path) -> Iterator[Reader]:
    """Give a directory with what the documents take for granted, and a catalog to speak to."""
    clients = (
        Client("id", "secret"),
        Client("other", "secret", permissions=Permissions.nothing()),
        Client("reader", "secret", permissions=Permissions(read_only=True)),
    )
    with MockCatalog(warehouses=["prod"], oauth2=OAuth2Settings(clients=clients)) as secured:
        yield Reader(directory, programs, secured)


@contextlib.contextmanager
def open_reader(directory: Path, programs: Path) -> Iterator[Reader]:
    """Give the same with a catalog that lets everybody in, for commands without credentials."""
    with MockCatalog(warehouses=["prod"]) as mock:
        yield Reader(directory, programs, mock)


def run(snippet: Snippet, rule: Rule, directory: Path, programs: Path) -> None:
    """Run one snippet as its rule says; AssertionError with all that was said if it fails."""
    named = "credential" in snippet.text
    with (reader if named else open_reader)(directory, programs) as who:
        _lay_out(who)
        _HOW[rule.how](snippet, rule, who)


def _lay_out(who: Reader) -> None:
    """Make what a reader has at that point: two reports, and the ledger of a run cut short."""
    for name, record in _RECORDS.items():
        shutil.copytree(ROOT / "docs" / "catalogs" / record, who.directory / name)
    path = who.directory / "icecheck-report" / LEDGER_FILE
    ledger = LedgerFile(path, "icecheck_gone1", Target(who.mock.uri, warehouse="prod"))
    ledger.made(Entry("namespace", ("icecheck_gone1",)))
    ledger.close(keep=True)
    kept = {"kind": KIND, "version": VERSION, "check": CHECK, "spec": "1.10.0"}
    kept["steps"] = [["create-namespace", ["n0"], ["1"]]]
    (who.directory / "kept").mkdir()
    (who.directory / "kept" / "one.json").write_text(json.dumps(kept), "utf-8")


def _typed(snippet: Snippet, rule: Rule, who: Reader) -> None:
    """Type the lines; the exit code is the last one's."""
    done = who.types(replaced(snippet.text, who.mock.uri, _free_port()))
    said = f"{snippet}: exit {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    assert done.returncode in rule.exits, said
    assert "Traceback" not in done.stdout + done.stderr, said


def _served(snippet: Snippet, _rule: Rule, who: Reader) -> None:
    """Start the server, ask it for its config, and end it as Ctrl-C does."""
    port = _free_port()
    line = replaced(snippet.text, who.mock.uri, port)
    if "--port" not in line:  # The usual port may be taken where tests run side by side.
        line += f" --port {port}"
    process = subprocess.Popen(
        ["bash", "-c", f"exec {line}"],
        cwd=who.directory,
        env=who.environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        ready = json.loads(process.stdout.readline())
        assert ready["event"] == "ready"
        answer = httpx.get(f"{ready['uri']}/v1/config")
        assert answer.status_code == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.communicate()


def _programmed(snippet: Snippet, _rule: Rule, who: Reader) -> None:
    """Run a program as a file of its own."""
    (who.directory / "snippet.py").write_text(snippet.text)
    done = who.types("python snippet.py")
    assert done.returncode == 0, f"{snippet}: {done.stderr}"


def _tested(snippet: Snippet, _rule: Rule, who: Reader) -> None:
    """Run a test file as a project of its own would."""
    (who.directory / "test_snippet.py").write_text(snippet.text)
    done = who.types("pytest -p no:cacheprovider test_snippet.py")
    assert done.returncode == 0, f"{snippet}: {done.stdout}"
    assert "1 passed" in done.stdout, done.stdout


def _expectations(snippet: Snippet, _rule: Rule, who: Reader) -> None:
    """Let a run read the file where it is looked for: what it says is in the report."""
    (who.directory / "icecheck.toml").write_text(snippet.text)
    entries = tomllib.loads(snippet.text)["expectation"]
    globs = [f"--check '{entry['check']}'" for entry in entries if "check" in entry]
    done = who.types(f"icecheck run {who.mock.uri} {' '.join(globs)} --output out")
    # The mock does what these entries say that it does not do: they are stale, or excuse nothing.
    assert done.returncode in {0, 1}, done.stderr
    told = json.loads((who.directory / "out" / "run.json").read_text())["expectations"]
    assert (told["file"], told["entries"]) == ("icecheck.toml", len(entries))


def _target(snippet: Snippet, rule: Rule, who: Reader) -> None:
    """Let doctor read the file: it finds the catalog, is let in, and works where it is told."""
    text = replaced(snippet.text, who.mock.uri, 0)
    (who.directory / "icecheck.toml").write_text(text)
    shutil.copy(ROOT / "tests" / "cli" / "self_signed.pem", who.directory / "client.pem")
    headers = {"Authorization": f"Bearer {_token(who)}"}
    root = f"{who.mock.uri}/v1/prod/namespaces"
    httpx.post(root, json={"namespace": ["sandbox"]}, headers=headers).raise_for_status()
    done = who.types("icecheck doctor")
    assert done.returncode in rule.exits, done.stdout + done.stderr
    assert "!!" not in done.stdout
    asked = {entry.operation for entry in who.mock.journal.find()}
    assert {"getToken", "createTable", "dropTable"} <= asked


def _token(who: Reader) -> str:
    form = {"grant_type": "client_credentials", "client_id": "id", "client_secret": "secret"}
    answer = httpx.post(f"{who.mock.uri}/v1/oauth/tokens", data=form).raise_for_status()
    token: str = answer.json()["access_token"]
    return token


def _quoted(snippet: Snippet, _rule: Rule, _who: Reader) -> None:
    """Find the check that a document shows: another name and annotations aside, it is there."""
    lines = [line.strip() for line in snippet.text.splitlines()]
    shown = [line for line in lines if line and not line.startswith("def ")]
    sources = [path.read_text() for path in sorted((ROOT / "conformance").rglob("test_*.py"))]
    assert any(all(line in source for line in shown) for source in sources), snippet


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


_HOW = {
    "typed": _typed,
    "served": _served,
    "programmed": _programmed,
    "tested": _tested,
    "expectations": _expectations,
    "target": _target,
    "quoted": _quoted,
}
