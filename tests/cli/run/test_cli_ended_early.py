"""A run that ends early writes its whole report, which says why and what was found until then."""

import json
import signal
import time
from xml.etree import ElementTree as ET

import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.defects import defects
from icecheck.mock_server.defects.kit.rewriting import alter_body
from icecheck.mock_server.protocol.problem import Problem
from icecheck.reports import run_json
from icecheck.reports.exchanges import read_exchanges
from icecheck.run.output import EXCHANGES_FILE, FORMATS
from tests.kit.page import Page
from tests.kit.serving import json_answer
from tests.kit.shares import some

TOKEN = "token-canary-early"
FEW = ("--only", "checks", "--check", "createNamespace.*")
SET = {*FORMATS, EXCHANGES_FILE}
KEPT = SET | {"ledger.jsonl"}
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture
def mock():
    with MockCatalog(warehouses=["wh"], token=TOKEN) as catalog:
        yield catalog


def on(mock, *more):
    return (mock.uri, "--warehouse", "wh", "--token", TOKEN, *more)


@pytest.fixture
def out(tmp_path):
    return tmp_path / "icecheck-report"


def document(out):
    return json.loads((out / "run.json").read_text())


def files(out):
    return {path.name for path in out.iterdir()}


def red_cases(out):
    root = ET.fromstring((out / "junit.xml").read_text())  # noqa: S314 - our own text
    return [case for case in root.iter("testcase") if case.find("error") is not None]


def page(out):
    return Page((out / "index.html").read_text(encoding="utf-8"))


# a target that cannot be used


def teapot(_context, _state, _call):
    raise Problem(418, "TeapotException", "not today")


def keeps_all(mock):
    for operation in ("dropTable", "dropNamespace"):
        mock.registries.operations[operation] = teapot


def leads_elsewhere(mock):
    elsewhere = {"overrides": {"uri": "http://elsewhere.test/"}}
    alter_body(mock.registries, "getConfig", lambda body: body | elsewhere)


def unclaimed(mock):
    def without(body):
        return body | {"endpoints": [e for e in body["endpoints"] if not e.startswith("DELETE")]}

    alter_body(mock.registries, "getConfig", without)


def expect_told(result, out, words, left=()):
    """One line on stderr, and in each format why nothing was judged."""
    assert result.exit_code == 4, result.output
    assert words in result.stderr
    assert result.stdout == "report: icecheck-report/index.html\n"
    assert files(out) == SET | {*left}
    run = document(out)
    assert run_json.problems_of((out / "run.json").read_text()) == []
    assert run["complete"] is False
    told = {name: run["verdict"][name] for name in ("status", "exit_code", "exit_reason")}
    assert told == {"status": "no-verdict", "exit_code": 4, "exit_reason": "target-unusable"}
    why = run["verdict"]["headline"]
    assert f"icecheck: {why}" == result.stderr.splitlines()[0]
    assert [v for v in run["checks"] if not v["passive"]] == []
    assert run["suite"]["checks_total"] > 0
    [case] = red_cases(out)
    assert (case.get("name"), case.find("error").get("message")) == ("gate", why)
    assert words.split("`", maxsplit=1)[0] in page(out).text
    assert "NO VERDICT (incomplete)" in (out / "summary.md").read_text()
    [artifact] = run["artifacts"]
    kept = list(read_exchanges(out / EXCHANGES_FILE))
    assert len(kept) == artifact["exchanges"] > 0
    assert [row["response"]["status"] for row in run["preflight"]]
    assert TOKEN not in result.output + "".join(map(repr, kept))
    assert not any(TOKEN in (out / name).read_text() for name in FORMATS)
    return run


@pytest.mark.parametrize(
    ("spoil", "words", "left"),
    [
        (keeps_all, "still there: the run stops before it creates more", ["ledger.jsonl"]),
        (leads_elsewhere, "the config is not followed", []),
        (unclaimed, "the catalog claims createNamespace and not dropNamespace", []),
    ],
)
def test_a_catalog_that_cannot_be_used_is_reported(icecheck, mock, out, spoil, words, left):
    spoil(mock)
    run = expect_told(icecheck("run", *on(mock, *FEW)), out, words, left)
    assert run["target"]["prefix"] is not None
    assert run["target"]["fingerprint"]["config_sha256"]
    assert bool(run["safety"]["residue"]) == bool(left)


def test_what_was_found_before_the_first_check_is_told_too(icecheck, mock, out):
    keeps_all(mock)
    alter_body(mock.registries, "createNamespace", lambda body: body | {"namespace": "none"})
    run = expect_told(icecheck("run", *on(mock, *FEW)), out, "", ["ledger.jsonl"])
    assert [v["id"] for v in run["checks"] if v["outcome"] == "fail"]
    assert run["causes"]


def test_refused_credentials_are_reported(icecheck, mock, out):
    result = icecheck("run", mock.uri, "--warehouse", "wh", "--token", "another-one", *FEW)
    run = expect_told(result, out, "the credentials were refused; check --token")
    assert [row["response"]["status"] for row in run["preflight"]] == [401]
    assert "another-one" not in (out / "run.json").read_text()


@pytest.mark.parametrize("answer", [None, (200, {}, b"hello"), (404, {}, b"")])
def test_what_is_not_known_of_a_target_is_told_as_unknown(icecheck, out, serve, answer):
    url = NOWHERE if answer is None else serve(lambda _: answer)
    run = expect_told(icecheck("run", url, "--timeout", "1", *FEW), out, "")
    assert (run["target"]["prefix"], run["target"]["endpoints"]) == (None, None)
    assert run["target"]["fingerprint"]["config_sha256"] is None
    assert run["config"]["isolation"] == "unknown"
    assert {row["declared"] for row in run["capabilities"]} == {None}
    assert {row["assessment"] for row in run["capabilities"]} == {"unknown"}
    assert {p["claimed"] for p in run["profiles"] if p["id"] != "core"} == {None}
    assert {p["status"] for p in run["profiles"]} == {"not-verified"}
    text = page(out).text
    for nothing in ("What works\n", "The response table", "All checks", "Profiles"):
        assert nothing not in text
    assert f"icecheck doctor {url}" in text


def test_a_run_that_could_not_begin_takes_the_place_of_an_earlier_report(icecheck, mock, out):
    assert icecheck("run", *on(mock, *FEW, "-q")).exit_code == 0
    assert icecheck("run", NOWHERE, "--timeout", "1").exit_code == 4
    assert files(out) == SET
    assert document(out)["verdict"]["status"] == "no-verdict"


def test_it_cannot_be_compared_and_says_why(icecheck, mock, out):
    icecheck("run", *on(mock, *FEW, "-q", "--output", "whole"))
    icecheck("run", NOWHERE, "--timeout", "1")
    told = icecheck("compare", "whole", out)
    assert told.exit_code == 2
    assert "the new run ended early: http://127.0.0.1:9 cannot be reached" in told.stderr


def test_it_can_be_rendered_again(icecheck, out):
    icecheck("run", NOWHERE, "--timeout", "1")
    before = {name: (out / name).read_text() for name in FORMATS}
    assert icecheck("report", "render", out).exit_code == 0
    assert {name: (out / name).read_text() for name in FORMATS} == before
    shown = icecheck("report", "render", out, "--format", "annotations").stdout
    assert shown.startswith("::error title=icecheck%3A NO VERDICT::")


# a drop that lies


def test_a_drop_that_lies_is_told_and_why_nothing_else_was_judged(icecheck, mock, out):
    defects()["drop-forgotten"].install(mock.registries)
    few = ("--only", "checks", "--check", "dropTable.*", "--check", "createNamespace.*")
    result = icecheck("run", *on(mock, *few))
    assert result.exit_code == 1
    headline = document(out)["verdict"]["headline"]
    assert headline.startswith("1 of 1 checks fail; 1 cause")
    lies = "nothing else was judged: a table that the catalog says it has dropped is still there"
    assert lies in headline
    assert "--accept-residue" in headline
    for told in (page(out).text, result.stdout, (out / "summary.md").read_text()):
        assert lies in told


# interrupts


def interrupt_at(mock, operation, start, *numbers, count=1):
    """Send signals to a process while it waits for the answer to so many-th such request."""
    faithful = mock.registries.operations[operation]
    seen = []

    def answer(context, state, call):
        seen.append(call)
        if len(seen) == count:
            for number in numbers:
                start[0].send_signal(number)
                time.sleep(0.3)
        return faithful(context, state, call)

    mock.registries.operations[operation] = answer


@pytest.mark.parametrize("number", some([signal.SIGINT, signal.SIGTERM], 2))
def test_an_interrupt_before_the_first_check_is_reported_once_something_was_sent(
    start_icecheck, mock, out, number
):
    process = []
    interrupt_at(mock, "createTable", process, number)
    process.append(start_icecheck("run", *on(mock, *FEW)))
    stdout, stderr = process[0].communicate(timeout=120)
    assert (process[0].returncode, stderr) == (130, "")
    assert files(out) == SET
    run = document(out)
    assert run["complete"] is False
    assert run["verdict"]["exit_reason"] == "interrupted"
    assert run["verdict"]["headline"] == "interrupted; until then nothing was verified"
    assert "NO VERDICT (incomplete): interrupted" in stdout
    assert run["preflight"]
    assert run["safety"]["residue"] == []
    assert list(mock.state("wh").namespaces.after()) == []
    assert len(red_cases(out)) == 1


def ended_while_cleaning_up(start_icecheck, mock, *numbers):
    """Let a run of few checks get signals while it drops its last namespace, its root."""
    rehearsal = start_icecheck("run", *on(mock, *FEW, "--output", "rehearsal"))
    rehearsal.communicate(timeout=120)
    assert rehearsal.returncode == 0
    drops = mock.journal.count("dropNamespace")
    process = []
    interrupt_at(mock, "dropNamespace", process, *numbers, count=drops)
    process.append(start_icecheck("run", *on(mock, *FEW)))
    stdout, stderr = process[0].communicate(timeout=120)
    return process[0].returncode, stdout, stderr


def test_an_interrupt_while_a_run_cleans_up_costs_nothing(start_icecheck, mock, out):
    code, _, stderr = ended_while_cleaning_up(start_icecheck, mock, signal.SIGINT)
    assert stderr == "icecheck: cleaning up and writing the report; once more to give up\n"
    assert code == 0
    assert document(out)["complete"] is True
    assert files(out) == SET
    assert list(mock.state("wh").namespaces.after()) == []


def test_another_interrupt_gives_up_and_says_how_to_clean(start_icecheck, mock, out):
    code, stdout, stderr = ended_while_cleaning_up(
        start_icecheck, mock, signal.SIGINT, signal.SIGTERM
    )
    lines = stderr.splitlines()
    assert code == 130
    assert lines[1] == "icecheck: given up while cleaning up and writing the report: there is none"
    assert "to clean up, with the same credentials: icecheck clean" in lines[2]
    assert "report:" not in stdout
    assert files(out) == {"ledger.jsonl"}


@pytest.mark.complete("one interrupt is usual")
def test_a_second_interrupt_changes_nothing(start_icecheck, mock, out):
    process = []
    interrupt_at(mock, "dropNamespace", process, signal.SIGINT, signal.SIGINT, count=2)
    process.append(start_icecheck("run", *on(mock, *FEW)))
    _, stderr = process[0].communicate(timeout=120)
    assert process[0].returncode == 130
    assert stderr == "icecheck: cleaning up and writing the report; once more to give up\n"
    assert files(out) == SET
    assert document(out)["safety"]["residue"] == []
    assert list(mock.state("wh").namespaces.after()) == []


def test_an_interrupt_before_anything_was_answered_leaves_no_report(start_icecheck, out, serve):
    def answer(_):
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
        return json_answer({})

    process = start_icecheck("run", serve(answer))
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 130
    assert stderr == "icecheck: interrupted before there was anything to report\n"
    assert not out.exists()
