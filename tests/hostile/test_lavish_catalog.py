"""The canary catalog is lawful and tells all its secrets: nothing that is written or said does."""

import json
import logging
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from icecheck.cli import main
from icecheck.client.opening import open_session
from icecheck.findings.verdict import Group, Outcome
from icecheck.mock_server.defects import defects
from icecheck.run import runner
from icecheck.run.options import RunOptions
from icecheck.run.runner import run_checks
from icecheck.targets.target import Principal, Target
from icecheck.wire.exchange import Exchange
from icecheck.wire.redaction import Redactor
from tests.hostile.lavish import CORE, HEX_CORE, Lavish, canary, lavish_mock
from tests.hostile.seen import Seen, expect_none
from tests.kit.serving import serving
from tests.mock.limits.spelling import traces, written

FEW = (
    "loadTable.of-a-view", "loadTable.bad-token", "loadCredentials.*", "getToken.no-wrong-client",
)  # fmt: skip
GROUPS = (Group.CHECKS, Group.GENERATED, Group.SCENARIOS)
PRINCIPALS = {
    option: f"{name}:{canary(f'{name} client')}"
    for option, name in {"": "first", "second-": "second", "reader-": "reader"}.items()
}
ACCESS = [part for name, told in PRINCIPALS.items() for part in (f"--{name}credential", told)]
PLUGIN = [part.replace("--", "--catalog-") for part in ACCESS]
DEFECT = "properties-update-forgotten"


class Blind(Redactor):
    """Hides nothing: what is judged is what came."""

    def exchange(self, exchange: Exchange) -> Exchange:
        return exchange

    def text(self, text: str) -> str:
        return text

    def value(self, pointer: str, text: str) -> str:  # noqa: ARG002
        return text

    def name(self, name: str) -> str:
        return name

    def json(self, value: Any) -> Any:
        return value


@contextmanager
def lavish(**options: Any) -> Iterator[Lavish]:
    mock = lavish_mock(**options)
    try:
        yield Lavish(mock)
    finally:
        mock.stop()


@pytest.fixture
def catalog() -> Iterator[Lavish]:
    with lavish() as known, serving(known.answer) as known.url:
        yield known


@pytest.fixture
def seen(tmp_path: Path) -> Seen:
    return Seen(tmp_path)


@pytest.fixture
def logged(seen: Seen) -> Iterator[None]:
    """Write all records of all loggers to a file, at the lowest level."""
    root, handler = logging.getLogger(), logging.FileHandler(seen.directory / "log.txt")
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield
    root.setLevel(level)
    root.removeHandler(handler)
    handler.close()


def said(seen: Seen, monkeypatch: pytest.MonkeyPatch, *command: str) -> int:
    """Run a command in this process, and keep what it says; returns its exit code."""
    monkeypatch.chdir(seen.directory)
    done = CliRunner().invoke(main, [*command])
    name = f"{len(seen.said)} {command[0]}"
    seen.said |= {f"{name} stdout": done.stdout_bytes, f"{name} stderr": done.stderr_bytes}
    return done.exit_code


def few(*globs: str) -> list[str]:
    return [part for glob in globs or FEW for part in ("--check", glob)]


def expect_nothing_told(seen: Seen, catalog: Lavish) -> None:
    assert len(catalog.secrets) > 40
    assert catalog.quoted
    expect_none(seen.leaks_with(CORE, HEX_CORE))


@pytest.mark.usefixtures("logged")
def test_no_artefact_log_or_line_tells_a_secret(
    seen: Seen, catalog: Lavish, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = [catalog.url, "--warehouse", "wh", *ACCESS]
    assert said(seen, monkeypatch, "run", *target, *few(), "-v", "--output", "report") == 0
    target = target[:-2]  # the reader is for runs alone
    assert said(seen, monkeypatch, "doctor", *target) == 0
    assert said(seen, monkeypatch, "plan", *target, "--check", "getConfig.*") == 0
    log = (seen.directory / "log.txt").read_text("utf-8")
    assert "receive_response_headers.complete" in log
    assert (seen.directory / "report" / "index.html").exists()
    expect_nothing_told(seen, catalog)


@pytest.mark.usefixtures("logged")
def test_no_finding_tells_a_secret(
    seen: Seen, catalog: Lavish, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog.wrong = True
    target = [catalog.url, "--warehouse", "wh", *ACCESS]
    assert said(seen, monkeypatch, "run", *target, *few(), "-v", "--output", "report") == 1
    expect_nothing_told(seen, catalog)


def test_an_error_of_the_suite_tells_no_secret(
    seen: Seen, catalog: Lavish, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(options: RunOptions, *_: Any, **__: Any) -> None:
        # Of older ones a run keeps no more than SECURITY.md says.
        values = options.redactor._values
        known = [s for s in sorted(catalog.secrets) if s not in values.replaced(s, cut=False)]
        assert len(known) > 20
        every = [spelled for secret in known for spelled in written(secret)]
        try:
            raise ValueError(" ".join(every))
        except ValueError:
            raise RuntimeError(f"{options.target.credential} in {every!r}"[:50_000]) from None

    monkeypatch.setattr(runner, "finish", failing)
    target = [catalog.url, "--warehouse", "wh", *ACCESS]
    checks = few("loadTable.of-a-view")
    assert said(seen, monkeypatch, "run", *target, *checks, "--output", "report") == 3
    assert "RuntimeError" in (seen.directory / "report" / "error.txt").read_text("utf-8")
    expect_none(seen.leaks_with(CORE, HEX_CORE))


def verdicts_of(redactor: type[Redactor], globs: tuple[str, ...], groups: tuple[Group, ...]) -> Any:
    """The verdicts on the catalog, passive ones included, and what they find."""
    first, *others = PRINCIPALS.values()
    with lavish() as known:
        second, reader = (Principal(credential=each) for each in others)
        address = "http://lavish.test"
        target = Target(address, warehouse="wh", credential=first, second=second, reader=reader)
        hiding = redactor(target.secrets, target.headers)
        options = RunOptions(target, "r1", globs=globs, groups=groups, redactor=hiding)
        run = run_checks(options, transport=known.transport())
    return {
        v.check: (v.outcome, v.blocked_by, [f.symptom.slug for f in v.findings])
        for v in run.verdicts
    }


def test_no_check_is_blamed_because_something_was_hidden() -> None:
    hidden, shown = (verdicts_of(each, FEW, GROUPS) for each in (Redactor, Blind))
    assert hidden == shown
    assert {outcome for outcome, *_ in hidden.values()} == {Outcome.PASS}
    assert "schema.loadTable.200" in hidden


def test_what_made_the_root_of_a_run_is_kept_without_secrets() -> None:
    with lavish() as known:
        inner = known.transport()

        def noting(request: httpx.Request) -> httpx.Response:
            answer = inner.handle_request(request)
            if request.method != "POST" or not request.url.path.endswith("/namespaces"):
                return answer
            body = json.loads(answer.read())
            return httpx.Response(answer.status_code, json={**body, "note": canary("told key")})

        target = Target("http://lavish.test", warehouse="wh", credential=PRINCIPALS[""])
        session = open_session(target, run_id="r1", transport=httpx.MockTransport(noting))
        kept = repr(session.root_made).encode()
        session.close()
    assert b"createNamespace" in kept
    assert not [trace for trace in traces(CORE, len(CORE)) if trace in kept]


@pytest.mark.complete("every check, where the default run has a few")
def test_no_check_of_all_is_blamed_because_something_was_hidden() -> None:
    hidden, shown = (verdicts_of(each, (), GROUPS) for each in (Redactor, Blind))
    assert hidden == shown


@pytest.mark.complete("every check, where the default run has a few")
def test_no_artefact_or_line_of_a_whole_run_tells_a_secret(
    seen: Seen, catalog: Lavish, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = [catalog.url, "--warehouse", "wh", *ACCESS, "--output", "report"]
    assert said(seen, monkeypatch, "run", *target, "-v") == 0
    expect_nothing_told(seen, catalog)


@pytest.mark.complete("draws histories for half a minute")
def test_no_history_that_fails_tells_a_secret(seen: Seen, monkeypatch: pytest.MonkeyPatch) -> None:
    with lavish() as known, serving(known.answer) as known.url:
        defects()[DEFECT].install(known.mock.registries)
        target = [known.url, "--warehouse", "wh", *ACCESS[:2]]
        assert said(seen, monkeypatch, "explore", *target, "--minutes", "0", "--seed", "1") == 1
        found = sorted((seen.directory / "icecheck-findings").glob("*.json"))
        assert said(seen, monkeypatch, "replay", str(found[0]), *target) == 1
        expect_nothing_told(seen, known)


@pytest.mark.complete("starts two more processes")
def test_the_workers_of_pytest_tell_no_secret_and_mark_each_alike(
    seen: Seen, catalog: Lavish
) -> None:
    module = "icecheck.conformance.security.test_credentials"
    target = ["--catalog-url", catalog.url, "--catalog-warehouse", "wh", *PLUGIN]
    shown = ["-v", "-rA", "--showlocals", "--log-level=DEBUG", "-p", "no:randomly"]
    catalog.wrong = True
    report = ["--conformance-report", "report", "--junitxml", "pytest.xml"]
    seen.run("pytest", "--pyargs", module, *target, *shown, *report, "-n", "2")
    assert (seen.directory / "report" / "run.json").exists()
    expect_nothing_told(seen, catalog)
    told = b"".join(content for name, content in seen.written() if "exchanges" in name)
    same = re.findall(rb'"x-amz-security-token", ?"(<redacted:[^"]+)"', told, re.IGNORECASE)
    assert len(same) > 20
    assert len(set(same)) == 1


@pytest.mark.complete("starts another process")
def test_a_run_that_is_interrupted_tells_no_secret(seen: Seen, catalog: Lavish) -> None:
    target = [catalog.url, "--warehouse", "wh", *ACCESS, "--output", "report", "-v"]
    process = seen.start("icecheck", "run", *target, "--only", "checks")
    deadline = time.monotonic() + 120
    while len(catalog.quoted) < 20 and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert seen.end(process) == 130
    document = json.loads((seen.directory / "report" / "run.json").read_text("utf-8"))
    assert document["complete"] is False
    expect_nothing_told(seen, catalog)
