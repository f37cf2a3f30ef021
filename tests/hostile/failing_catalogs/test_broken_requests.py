"""A request that always breaks its connection, while others are answered, is that one's finding."""

import subprocess
import sys
import textwrap

import httpx
import pytest

from icecheck.findings.verdict import Level, Outcome
from icecheck.run.options import RunOptions
from icecheck.run.runner import run_checks
from icecheck.targets.target import Target
from tests.hostile.failing_catalogs.chaos import (
    TOKEN,
    WAREHOUSE,
    Clock,
    Door,
    LostAfterwards,
    gateway_page,
    missed,
    new_mock,
    run_through,
)
from tests.hostile.lying_socket import honest, lying_socket, where

BROKEN = "connection-broken"
DISCONNECTED = httpx.RemoteProtocolError("Server disconnected")
# Operation -> a part of the requests that break, what comes of them, and checks that send them
# and others.
REQUESTS = {
    "createTable": ("POST", b'"stage-create": true', DISCONNECTED, "createTable.[sm]*"),
    "updateTable": ("POST", b"set-location", LostAfterwards(), "update.set-*"),
    "loadTable": ("GET", b"snapshots=refs", httpx.ReadError("reset"), "loadTable.*"),
    "dropTable": ("DELETE", b"purgeRequested=true", LostAfterwards(), "dropTable.*"),
    "renameTable": ("POST", b"/tables/rename", DISCONNECTED, "renameTable.[sm]*"),
}


def is_chosen(request: httpx.Request, method: str, part: bytes) -> bool:
    body = request.content.replace(b'":', b'": ').replace(b":  ", b": ")
    return request.method == method and part in bytes(request.url.raw_path) + body


def causes(run):
    return {cause.symptom: cause for cause in run.causes}


def evidence(run):
    (cause,) = (cause for cause in run.causes if cause.symptom == BROKEN)
    verdict = next(v for v in run.verdicts if v.check == cause.witness)
    return verdict.evidence[-1]


@pytest.mark.parametrize("trouble", [502, 504, httpx.WriteError("closed"), httpx.ReadTimeout("")])
def test_what_a_gateway_says_or_cuts_is_no_finding_of_the_request(monkeypatch, trouble):
    """A page is an answer; a time-out and a request that was not taken whole tell nothing."""

    def rule(_number, request):
        if not is_chosen(request, "GET", b"snapshots=refs"):
            return None
        if isinstance(trouble, int):
            return gateway_page(trouble)
        raise trouble

    door = Door(new_mock().httpx_transport(), rule)
    run = run_through(door, monkeypatch, globs=("loadTable.*", "listTables.all"))
    assert BROKEN not in causes(run)
    assert not [v for v in run.verdicts if v.outcome is Outcome.FAIL]


@pytest.mark.parametrize("operation", REQUESTS)
def test_a_request_that_always_breaks_is_one_finding_with_its_curl_line(monkeypatch, operation):
    method, part, trouble, glob = REQUESTS[operation]

    def rule(_number, request):
        if not is_chosen(request, method, part):
            return
        raise trouble

    door = Door(new_mock().httpx_transport(), rule)
    run = run_through(door, monkeypatch, globs=(glob, "listTables.all"))
    cause = causes(run)[BROKEN]
    assert cause.level is Level.MUST
    assert cause.members
    assert "unreachable" not in causes(run)
    assert not [v for v in run.verdicts if v.unanswered]
    assert (run.exit_code, run.status) == (1, "not-conformant")
    shown = evidence(run)
    assert shown.operation == operation
    assert shown.curl.startswith("curl")
    assert method in shown.curl
    assert any(v.outcome is Outcome.PASS for v in run.verdicts if not v.passive)


def test_it_is_found_over_real_sockets(tmp_path):
    mock = new_mock()

    def hang_up(_talk):
        raise ConnectionAbortedError

    def staged(talk):
        return b"stage-create" in talk.body and b"true" in talk.body

    with lying_socket(where(staged, hang_up, honest(mock))) as url:
        target = Target(url, warehouse=WAREHOUSE, token=TOKEN)
        options = RunOptions(target, run_id="sick", globs=("createTable.stage*", "createTable.m*"))
        run = run_checks(options)
    assert causes(run)[BROKEN].members
    assert run.exit_code == 1
    assert "stage-create" in evidence(run).curl
    assert missed(run) == [] or causes(run)[BROKEN].blocked


SERVER = """
import os, sys
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.defects.kit.rewriting import wrap

catalog = MockCatalog(seed=1)

def around(faithful, state, call):
    if b"timestamp_ns" in call.request.body and b"initial-default" in call.request.body:
        os._exit(9)
    return faithful(state, call)

wrap(catalog.registries, "createTable", around)
with catalog:
    print(catalog.uri, flush=True)
    sys.stdin.read()
"""


def test_a_request_that_ends_the_server_is_its_finding_and_what_was_judged_is_reported(monkeypatch):
    monkeypatch.setattr("icecheck.judging.breaker._PATIENCE_SECONDS", 1.0)
    command = [sys.executable, "-c", textwrap.dedent(SERVER)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as server:
        url = server.stdout.readline().strip()
        globs = ("createTable.m*", "createTable.keeps-defaults", "dropTable.*")
        run = run_checks(RunOptions(Target(url), run_id="sick", globs=globs))
    shown = evidence(run)
    assert "timestamp_ns" in shown.curl
    assert [*causes(run)] == [BROKEN]
    assert causes(run)[BROKEN].level is Level.MUST
    assert (run.exit_code, run.complete) == (4, False)
    assert shown.request.partition(" ")[2] in run.headline
    assert any(v.outcome is Outcome.PASS for v in run.verdicts if not v.passive)


def test_a_server_that_is_started_anew_after_each_such_request_is_judged_on(monkeypatch):
    door = Door(new_mock().httpx_transport(), lambda *_: None)

    def restart(_number, request):
        if is_chosen(request, "POST", b'"stage-create": true'):
            door.inner = new_mock().httpx_transport()
            raise httpx.RemoteProtocolError("Server disconnected")

    door.rule = restart
    run = run_through(door, monkeypatch, globs=("createTable.*",))
    assert causes(run)[BROKEN].members
    assert (run.exit_code, run.complete) == (1, True)
    assert not [v for v in run.verdicts if v.unanswered]


def test_a_server_that_is_started_anew_once_during_a_request_is_not_blamed(monkeypatch):
    door = Door(new_mock().httpx_transport(), lambda *_: None)
    hit = []

    def restart(_number, request):
        if is_chosen(request, "POST", b'"stage-create": true') and not hit:
            hit.append(request)
            door.inner = new_mock().httpx_transport()
            raise httpx.RemoteProtocolError("Server disconnected")

    door.rule = restart
    run = run_through(door, monkeypatch, globs=("createTable.*",))
    assert BROKEN not in causes(run)
    assert (run.exit_code, run.complete) == (4, False)


def test_several_requests_that_break_when_a_server_ends_are_not_blamed(monkeypatch):
    """One of them may have ended it, and nobody can say which."""

    def rule(number, _request):
        if number > 150:
            raise httpx.ReadError("reset") if number < 154 else httpx.ConnectError("refused")

    door = Door(new_mock().httpx_transport(), rule)
    run = run_through(door, monkeypatch, Clock(), workers=4)
    assert not run.complete
    assert run.exit_code == 4
