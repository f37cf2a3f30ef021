"""A catalog that stops answering, forgets, or shuts its door: no verdict, said once and quickly."""

from hashlib import blake2s

import httpx
import msgspec
import pytest

from icecheck.findings.verdict import Outcome, Run
from icecheck.mock_server import Client, OAuth2Settings
from icecheck.mock_server.core.clock import VirtualClock
from icecheck.mock_server.core.context import Outcome as Answer
from icecheck.wire.connection import TargetUnusable
from tests.hostile.failing_catalogs.chaos import (
    TOKEN,
    WAREHOUSE,
    Clock,
    Door,
    blamed,
    missed,
    namespaces_on,
    new_mock,
    refuse,
    run_through,
)
from tests.kit.shares import some


def expect_no_verdict(run: Run, words: str) -> None:
    assert blamed(run) == []
    assert (run.status, run.exit_code, run.exit_reason) == ("no-verdict", 4, "target-unusable")
    assert not run.complete
    assert words in run.headline
    assert "\n" not in run.headline
    assert {p.status for p in run.profiles} <= {"not-verified", "not-claimed", "partial"}
    assert len(run.causes) == 1


@pytest.mark.parametrize("workers", some([4, 1], 2))
@pytest.mark.parametrize(
    "trouble",
    [
        pytest.param(httpx.ConnectError("connection refused"), id="refused"),
        pytest.param(httpx.ReadTimeout("timed out"), id="slow"),
        pytest.param(httpx.ReadError("reset"), id="reset"),
        pytest.param(None, id="503"),
    ],
)
def test_a_catalog_that_is_gone_half_way_ends_the_run_quickly(monkeypatch, workers, trouble):
    clock, mock = Clock(), new_mock()

    def rule(number, _request):
        clock.sleep(0.01)
        if number <= 150:
            return None
        if trouble is None:
            return refuse(503)
        # A time-out takes the whole of --timeout.
        clock.sleep(30 if isinstance(trouble, httpx.TimeoutException) else 0)
        raise trouble

    door = Door(mock.httpx_transport(), rule)
    run = run_through(door, monkeypatch, clock, workers=workers)
    expect_no_verdict(run, "no usable answer any more")
    assert any(v.outcome is Outcome.PASS for v in run.verdicts)
    assert 1 <= len(missed(run)) <= workers
    assert door.asked < 150 + 30 * (workers + 1)
    assert clock.seconds < 300 * (workers + 1)  # of time-outs of 30 s, added up over the workers
    # What it has made is told, for `icecheck clean`.
    assert run.facts["safety"]["residue"]


def test_a_catalog_that_answers_some_things_and_no_check_is_given_up_after_five(monkeypatch):
    def rule(number, request):
        return refuse(503) if number > 100 and request.method == "POST" else None

    mock = new_mock()
    run = run_through(Door(mock.httpx_transport(), rule), monkeypatch)
    expect_no_verdict(run, "5 checks in a row")
    assert namespaces_on(mock) == []


@pytest.mark.parametrize(
    ("when", "isolation", "workers"),
    [(60, "flat", 4), (60, "nested", 1), (161, "flat", 1), (161, "nested", 4), (210, "flat", 4)],
)
def test_a_catalog_that_forgets_everything_half_way_gets_no_verdict(
    monkeypatch, isolation, when, workers
):
    one, other = new_mock(), new_mock()
    door = Door(one.httpx_transport(), lambda *_: None)

    def restart(number, _request):
        if number == when:
            door.inner = other.httpx_transport()

    door.rule = restart
    target = {"isolation": isolation}
    run = run_through(door, monkeypatch, workers=workers, target=target)
    expect_no_verdict(run, "forgotten what it had acknowledged")
    assert run.facts["safety"]["residue"] == namespaces_on(other) == []


def test_a_catalog_that_forgets_at_the_very_end_is_not_green(monkeypatch):
    one, other = new_mock(), new_mock()
    door = Door(one.httpx_transport(), lambda *_: None)

    def restart(_number, request):
        # The last check is over when what was made to watch is looked at.
        if request.method == "GET" and watched in request.url.path:
            door.inner = other.httpx_transport()

    watched = f"icecheck_sick_{blake2s(b'probe.witness', digest_size=3).hexdigest()}_1"
    door.rule = restart
    run = run_through(door, monkeypatch, globs=("createNamespace.already-exists",))
    assert [v.outcome for v in run.verdicts if not v.passive] == [Outcome.PASS]
    assert run.exit_code == 4
    assert run.status == "no-verdict"


def test_a_catalog_whose_drop_takes_everything_along_is_blamed_for_it(monkeypatch):
    mock = new_mock()
    operations = mock.registries.operations
    faithful = operations["dropNamespace"]

    def drop_all(context, state, call):
        outcome = faithful(context, state, call)
        for path in [path for path, _ in outcome.state.namespaces.after()]:
            if len(path) > 1:
                kept = outcome.state.namespaces.without(path)
                outcome = Answer(
                    msgspec.structs.replace(outcome.state, namespaces=kept), outcome.reply
                )
        return outcome

    operations["dropNamespace"] = drop_all
    run = run_through(mock.httpx_transport(), monkeypatch, globs=("dropNamespace.*",))
    assert [v.check for v in run.verdicts if v.outcome is Outcome.FAIL]


# ---- credentials


def ending_token(after: int) -> Door:
    """A mock whose static token is worth nothing after so many requests."""
    mock = new_mock()

    def rule(number, request):
        own = request.headers.get("authorization") == f"Bearer {TOKEN}"
        if number <= after or not own:
            return None
        error = {"message": "expired", "type": "NotAuthorizedException", "code": 401}
        return httpx.Response(401, json={"error": error})

    return Door(mock.httpx_transport(), rule)


@pytest.mark.parametrize("workers", some([4, 1], 2))
def test_a_token_that_ends_half_way_is_one_cause_and_no_verdict(monkeypatch, workers):
    door = ending_token(150)
    run = run_through(door, monkeypatch, workers=workers)
    expect_no_verdict(run, "the token is not accepted any more")
    assert [c.symptom for c in run.causes] == ["credentials"]
    assert len(missed(run)) <= workers
    assert door.asked < 150 + 20 * (workers + 1)
    assert TOKEN not in run.headline


@pytest.mark.parametrize("workers", some([4, 1], 2))
def test_a_token_that_ends_half_way_is_renewed_with_a_credential(monkeypatch, workers):
    """The mock's clock runs faster than ours: its tokens end before they should."""
    clock = VirtualClock(1_767_225_600_000, step_ms=1_000)
    settings = OAuth2Settings(clients=(Client("sick", "sick-secret"),), token_seconds=60)
    mock = new_mock(token=None, oauth2=settings, clock=clock)
    door = Door(mock.httpx_transport(), lambda *_: None)
    target = {"credential": "sick:sick-secret"}
    run = run_through(door, monkeypatch, workers=workers, target=target)
    assert blamed(run) == missed(run) == []
    assert run.exit_code == 0
    assert mock.journal.count("getToken") > 3
    assert namespaces_on(mock) == []


def test_a_catalog_that_claims_nothing_verifies_nothing_with_several_workers(monkeypatch):
    nothing = {"defaults": {}, "overrides": {}, "endpoints": []}
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json=nothing))
    run = run_through(transport, monkeypatch, workers=4, target={"warehouse": WAREHOUSE})
    assert (run.status, run.exit_code) == ("no-verdict", 5)


@pytest.mark.parametrize("workers", some([4, 1], 2))
def test_a_catalog_with_an_empty_list_is_not_green_for_its_config_alone(monkeypatch, workers):
    """It serves everything, and what is asked of no endpoint (config, credentials) passes."""
    faithful = new_mock().httpx_transport()

    def answer(request: httpx.Request) -> httpx.Response:
        response = faithful.handle_request(request)
        if not request.url.path.endswith("/v1/config") or response.status_code != 200:
            return response
        config = msgspec.json.decode(response.read())
        return httpx.Response(200, json=config | {"endpoints": []})

    some = ("getConfig.*", "auth.bad-token-refused", "createNamespace.*")
    run = run_through(httpx.MockTransport(answer), monkeypatch, workers=workers, globs=some)
    assert any(v.outcome is Outcome.PASS and not v.passive for v in run.verdicts)
    assert blamed(run) == missed(run) == []
    assert (run.status, run.exit_code) == ("no-verdict", 5)
    assert run.headline == "nothing was verified"


# ---- something else answers in the catalog's place

LOGIN = "https://login.invalid/start?state=login-secret"
BROKEN = {"error": {"message": "no database", "type": "ServerError", "code": 500}}
STRANGERS = [
    pytest.param(lambda: httpx.Response(302, headers={"Location": LOGIN}), "302", id="login"),
    pytest.param(lambda: httpx.Response(200, html="<h1>Log in</h1>"), "text/html", id="page"),
    pytest.param(lambda: httpx.Response(404, html="<h1>No such site</h1>"), "404", id="no-site"),
    pytest.param(lambda: httpx.Response(500, json=BROKEN), "500", id="broken"),
    pytest.param(lambda: httpx.Response(204), "204", id="nothing"),
]
# A page that says 404 is what some checks wait for.
MOVING_IN = [one for one in STRANGERS if one.id != "no-site"]


@pytest.mark.parametrize("target", [{}, {"isolation": "flat"}, {"accept_residue": True},
                                    {"read_only": True}])  # fmt: skip
@pytest.mark.parametrize(("answer", "words"), STRANGERS)
def test_a_config_with_no_catalog_behind_it_ends_the_run_before_it_begins(
    monkeypatch, answer, words, target
):
    def rule(_number, request):
        return None if request.url.path.endswith("/v1/config") else answer()

    door = Door(new_mock().httpx_transport(), rule)
    with pytest.raises(TargetUnusable, match=words) as told:
        run_through(door, monkeypatch, target=target)
    assert door.asked < 25
    assert "\n" not in str(told.value)
    assert "login-secret" not in str(told.value)


def test_a_catalog_that_cannot_write_is_judged(monkeypatch):
    def rule(_number, request):
        return httpx.Response(500, json=BROKEN) if request.method != "GET" else None

    run = run_through(Door(new_mock().httpx_transport(), rule), monkeypatch)
    assert run.exit_code == 1
    assert blamed(run)
    assert run.facts["safety"]["residue"] == []  # what may have been made is looked for


@pytest.mark.parametrize("gate", [True, False], ids=["tokens-looked-at", "nothing-looked-at"])
def test_heads_that_always_break_down_are_one_cause(monkeypatch, gate):
    """Whether what is asked for is there, is not there, or is none of the asker's business."""

    def rule(_number, request):
        known = request.headers.get("authorization") == f"Bearer {TOKEN}"
        broken = request.method == "HEAD" and (known or not gate)
        return httpx.Response(500, json=BROKEN) if broken else None

    door = Door(new_mock().httpx_transport(), rule)
    run = run_through(door, monkeypatch, globs=("namespaceExists.*", "tableExists.*"))
    (cause,) = run.causes
    assert cause.id == "one-answer-500"
    assert "namespaceExists, tableExists" in cause.title
    judged = {*cause.members, *cause.lesser}
    assert {"tableExists.existing", "tableExists.missing", "tableExists.agrees"} < {*cause.members}
    assert ("tableExists.bad-token" in judged) != gate


@pytest.mark.parametrize("status", [405, 501])
def test_a_catalog_that_refuses_everything_has_nothing_left_behind(monkeypatch, status):
    """Whether it was asked plainly, by contenders, or with a body that nobody can read."""
    error = {"message": "no", "type": "UnsupportedOperationException", "code": status}

    def rule(_number, request):
        config = request.url.path.endswith("/v1/config")
        return None if config else httpx.Response(status, json={"error": error})

    door = Door(new_mock().httpx_transport(), rule)
    run = run_through(door, monkeypatch, globs=("createNamespace.*", "race.create-*"))
    assert run.facts["safety"]["residue"] == []
    assert run.exit_code == 1


@pytest.mark.parametrize("workers", some([4, 1], 2))
@pytest.mark.parametrize(("answer", "words"), MOVING_IN)
def test_what_answers_in_the_catalogs_place_half_way_ends_the_run(
    monkeypatch, workers, answer, words
):
    clock = Clock()
    door = Door(new_mock().httpx_transport(), lambda n, _: answer() if n > 150 else None)
    run = run_through(door, monkeypatch, clock, workers=workers)
    expect_no_verdict(run, "in the catalog's place")
    assert words in run.headline
    assert "login-secret" not in run.headline
    assert door.asked < 150 + 100 * workers
    assert clock.seconds < 120


@pytest.mark.parametrize("workers", some([4, 1], 2))
@pytest.mark.parametrize(("answer", "words"), MOVING_IN)
def test_what_answers_in_the_catalogs_place_for_a_while_costs_no_verdict(
    monkeypatch, workers, answer, words
):
    clock, mock = Clock(), new_mock()
    since: list[float] = []

    def rule(number, _request):
        if number > 150 and not since:
            since.append(clock.seconds)
        return answer() if since and clock.seconds < since[0] + 5 else None

    run = run_through(Door(mock.httpx_transport(), rule), monkeypatch, clock, workers=workers)
    assert blamed(run) == missed(run) == []
    left = namespaces_on(mock)
    assert bool(run.facts["safety"]["residue"]) is bool(left)
    # Whoever says that it has dropped something, and has not, leaves it behind.
    assert run.exit_code == (6 if left else 0)
    assert not left or answer().is_success
