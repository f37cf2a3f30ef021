"""`icecheck run` from the outside: what it says, what it writes, what it exits with."""

import json
import os
import pty
import re
import signal
import sys
from urllib.parse import parse_qs

import pytest

from icecheck.contract import DEFAULT_SPEC_VERSION, IncompleteFacts, UnresolvedRows
from icecheck.contract.register import RegisterError
from icecheck.findings.verdict import Group
from icecheck.judging.check import Unbound, check, declaration_of
from icecheck.reports.exchanges import read_exchanges
from icecheck.run.output import EXCHANGES_FILE, FORMATS
from icecheck.targets.secret_marks import without_marks
from tests.kit.serving import json_answer
from tests.kit.shares import some

FEW = ("--only", "checks", "--check", "createNamespace.*")
SET = {*FORMATS, EXCHANGES_FILE}


def written(directory):
    """Every text of a report, the exchanges unpacked."""
    texts = [
        (path.name, path.read_text(encoding="utf-8"))
        for path in directory.iterdir()
        if path.suffix != ".zst"
    ]
    texts += [
        (f"exchange {e.check} {e.ordinal}", repr(e))
        for e in read_exchanges(directory / "exchanges.jsonl.zst")
    ]
    return texts


def document(directory):
    return json.loads((directory / "run.json").read_text())


@pytest.fixture
def out(tmp_path):
    return tmp_path / "icecheck-report"


def test_the_mock_is_verified_by_one_command(icecheck, out):
    result = icecheck("run", "--mock", *FEW, "--run-id", "one1")
    assert result.exit_code == 0, result.output
    assert {p.name for p in out.iterdir()} == SET
    lines = result.stdout.splitlines()
    assert lines[0].startswith("icecheck run one1: ")
    assert lines[-1] == "report: icecheck-report/index.html"
    assert any(line.startswith("gate: satisfied, exit 0") for line in lines)
    run = document(out)
    assert run["verdict"]["exit_code"] == 0
    assert run["totals"]["pass"] > 0
    assert run["totals"]["fail"] == 0
    assert run["target"]["auth"]["method"] == "oauth2-client-credentials"
    assert run["target"]["warehouse"] == "icecheck"
    assert run["target"]["implementation"]["project"] == "icecheck mock"
    assert run["safety"]["residue"] == []


def test_the_mock_that_a_run_brings_has_its_tables_where_the_run_wants_them(icecheck, tmp_path):
    few = ("--only", "checks", "--check", "createTable.succeeds", "--check", "dropTable.with-purge")
    placed = ("--location-root", (tmp_path / "placed").as_uri())
    result = icecheck("run", "--mock", *few, *placed)
    assert result.exit_code == 0, result.output
    assert (tmp_path / "placed").is_dir()


def test_quiet_says_only_the_closing_lines(icecheck):
    result = icecheck("run", "--mock", *FEW, "-q")
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 4


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--read-only", "; nothing is created"),
        ("--accept-residue", "removed again if the catalog deletes"),
    ],
)
def test_the_first_line_says_what_becomes_of_the_catalog(icecheck, option, words):
    some = ("--only", "checks", "--check", "getConfig.answered")
    first = icecheck("run", "--mock", *some, option).stdout.splitlines()[0]
    assert first.endswith(words)


def test_verbose_says_every_check(icecheck, out):
    result = icecheck("run", "--mock", *FEW, "-v")
    passed = [c["id"] for c in document(out)["checks"] if c["requests"]]
    assert passed
    assert all(re.search(rf"^PASS +\w+ +{c}$", result.stdout, re.MULTILINE) for c in passed)


def lines_of(result):
    return result.stdout, re.MULTILINE


def test_a_failure_is_one_plain_line_and_a_card_when_verbose(icecheck, nothing_catalog):
    few = ("--only", "checks", "--check", "createNamespace.already-exists")
    plain = icecheck("run", nothing_catalog, *few)
    assert plain.exit_code == 1
    assert "FAIL    must    createNamespace.already-exists: expected 409, got 200\n" in plain.stdout
    assert "\x1b" not in plain.stdout
    # Each cause says where it is demanded, what shows it, and whom it hurts.
    assert re.search(
        r"^      demanded: createNamespace\.409, https://\S+#L\d+-L\d+$", *lines_of(plain)
    )
    assert re.search(r"^      shown: POST http://\S+: expected 409, got 200$", *lines_of(plain))
    assert re.search(r"^      hurts: \w", *lines_of(plain))
    verbose = icecheck("run", nothing_catalog, *few, "-v")
    assert "  requirement  createNamespace.409: " in verbose.stdout
    assert "  reproduce    curl -sS " in verbose.stdout
    assert "causes: " in verbose.stdout


def test_the_catalog_may_be_named_either_way(icecheck, nothing_catalog):
    few = ("--only", "checks", "--check", "getConfig.answered", "-q")
    positional = icecheck("run", nothing_catalog, *few)
    option = icecheck("run", "--catalog-url", nothing_catalog, *few)
    assert positional.exit_code == option.exit_code == 1


def test_only_selects_groups_and_check_selects_ids(icecheck, out):
    icecheck("run", "--mock", "--only", "checks", "--check", "dropNamespace.g*", "-q")
    run = document(out)
    assert run["config"]["groups"] == ["checks"]
    assert [c["id"] for c in run["checks"] if c["requests"]] == ["dropNamespace.gone"]


def test_a_run_that_verified_nothing_is_exit_5(icecheck, out, serve):
    config = {"defaults": {}, "overrides": {}, "endpoints": []}
    url = serve(lambda _: json_answer(config))
    result = icecheck("run", url, "--only", "checks", "--check", "createNamespace.already-exists")
    run = document(out)
    judged = [c for c in run["checks"] if c["outcome"] in {"pass", "fail"}]
    assert judged
    assert all(c["passive"] for c in judged)
    assert result.exit_code == 5
    assert "NO VERDICT: nothing was verified" in result.stdout
    assert {p["status"] for p in run["profiles"]} == {"not-verified", "not-claimed"}


def test_the_command_is_reported_without_its_secrets(icecheck, out, nothing_catalog):
    icecheck(
        "run", nothing_catalog, "--token", "abc", "--header", "X-Api-Key: xyz", "--header",
        "X-Mode: plain", "--header", "Accept-Language: de", "--only", "checks",
        "--check", "getConfig.answered", "-q",
    )  # fmt: skip
    command = document(out)["config"]["command"]
    assert command.startswith(f"icecheck run {nothing_catalog} ")
    assert "--token '<hidden>'" in command
    assert "'X-Api-Key: <hidden>'" in command
    assert "'X-Mode: <hidden>'" in command
    assert "'Accept-Language: de'" in command


def test_the_same_run_id_and_seed_give_the_same_requests_and_answers(icecheck, tmp_path):
    def exchanges(output, seed):
        icecheck(
            "run", "--mock", "--run-id", "same", "--seed", seed, "--output", output,
            "--only", "checks", "--check", "createTable.*", "-q",
        )  # fmt: skip
        read = read_exchanges(tmp_path / output / "exchanges.jsonl.zst")
        return [
            (e.method, e.url.partition("/v1/")[2], e.request_body, e.status, shown(e)) for e in read
        ]

    def shown(exchange):
        # Vended keys are the same, and marked otherwise in every run.
        return without_marks(exchange.response_body.decode())

    first = exchanges("a", 3)
    assert len(first) > 20
    assert exchanges("b", 3) == first
    assert exchanges("c", 4) != first


# secrets


def test_no_secret_reaches_a_file_or_the_terminal(icecheck, out, serve):
    vended = {
        "s3.access-key-id": "AKIACANARY0123456789",
        "s3.secret-access-key": "vended/canary+secret/0123456789",
        "s3.session-token": "vended-session-canary-0123456789==",
        "adls.sas-token.account": "sas-canary-0123456789",
        "gcs.oauth2.token": "gcs-canary-0123456789",
    }

    def answer(sent):
        said = sent.headers.get("Authorization", "")
        secret = sent.headers.get("X-Api-Key", "")
        if sent.path.startswith("/v1/config"):
            return json_answer(
                {"defaults": vended, "overrides": {"token": "config-canary-token-1"}}
            )
        if sent.method == "GET":
            return json_answer({"config": vended, "said": said, "properties": vended, "k": secret})
        message = f"{said} {secret} {json.dumps(vended)}"
        return json_answer({"error": {"message": message, "type": "X", "code": 400}}, 500)

    result = icecheck(
        "run", serve(answer), "--token", "user-canary-token", "--header",
        "X-Api-Key: header-canary-key", "--only", "checks", "-v",
    )  # fmt: skip
    assert result.exit_code == 1
    texts = [("stdout", result.stdout), ("stderr", result.stderr), *written(out)]
    leaking = [name for name, text in texts if "canary" in text.lower()]
    assert leaking == []
    assert any("<redacted:" in text for name, text in texts if name.startswith("exchange"))


def test_a_credential_and_its_token_reach_no_file(icecheck, out, serve):
    asked = []

    def answer(sent):
        if sent.path == "/v1/oauth/tokens":
            asked.append(parse_qs(sent.body.decode()))
            return json_answer({"access_token": "issued-canary-token", "expires_in": 3600})
        asked.append(sent.headers.get("Authorization"))
        return json_answer({"echo": sent.headers.get("Authorization")})

    url = serve(answer)
    few = ("--only", "checks", "--check", "createNamespace.*", "-v")
    result = icecheck("run", url, "--credential", "me:credential-canary", *few)
    assert asked[0]["client_secret"] == ["credential-canary"]
    assert "Bearer issued-canary-token" in asked
    texts = [("output", result.output), *written(out)]
    assert [name for name, text in texts if "canary" in text] == []
    assert document(out)["target"]["auth"]["method"] == "oauth2-client-credentials"


# ending early


@pytest.mark.parametrize("number", some([signal.SIGINT, signal.SIGTERM], 2))
def test_an_interrupted_run_writes_its_report(start_icecheck, out, serve, number):
    seen = []

    def answer(sent):
        seen.append(sent.path)
        if len(seen) == 25:
            process.send_signal(number)
        return json_answer({})

    process = start_icecheck("run", serve(answer), "--only", "checks")
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 130, stderr
    assert "Traceback" not in stderr
    assert "(incomplete)" in stdout
    assert {p.name for p in out.iterdir()} == SET
    run = document(out)
    assert run["complete"] is False
    assert run["verdict"]["exit_reason"] == "interrupted"
    assert run["verdict"]["status"] in {"not-conformant", "partial", "no-verdict"}


def test_an_interrupt_before_the_first_check_leaves_no_report(start_icecheck, out, serve):
    def answer(sent):
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
        return json_answer({})

    process = start_icecheck("run", serve(answer))
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 130
    assert len(stderr.splitlines()) == 1
    assert not out.exists()


def test_an_error_of_our_own_is_one_line_and_a_file(icecheck, out, monkeypatch, nothing_catalog):
    from icecheck.run import runner as run

    def broken(*_arguments, **_options):
        raise ZeroDivisionError("with own-canary-token in it")

    monkeypatch.setattr(run, "run_as_far_as_possible", broken)
    result = icecheck("run", nothing_catalog, "--token", "own-canary-token")
    assert result.exit_code == 3
    assert len(result.stderr.splitlines()) == 1
    assert "internal error (ZeroDivisionError" in result.stderr
    assert "icecheck-report/error.txt" in result.stderr
    words = (out / "error.txt").read_text()
    assert "Traceback" in words
    assert "canary" not in words + result.stderr


@pytest.mark.parametrize(
    ("fault", "lines"),
    [
        (Unbound("check a.b: no row in contract/requirements\ncheck a.c: none"), 2),
        (UnresolvedRows("1.10.0", ["a.toml a.b: nothing", "a.toml a.c: nothing"], "a hint"), 4),
        (IncompleteFacts(["loadTable: profile is missing"]), 2),
        (RegisterError("a.toml a.b: 'level' is missing"), 1),
    ],
)
def test_a_fault_of_the_register_is_told_in_its_own_words(icecheck, out, monkeypatch, fault, lines):
    def faulty(*_arguments, **_options):
        raise fault

    monkeypatch.setattr("icecheck.run.runner.collect", faulty)
    result = icecheck("run", "--mock", *FEW)
    assert result.exit_code == 3
    told = result.stderr.splitlines()
    assert told == [f"icecheck: {line}" for line in str(fault).splitlines()]
    assert len(told) == lines
    assert not (out / "error.txt").exists()


def test_a_check_without_its_row_is_told_by_the_command_that_selects_it(icecheck, monkeypatch):
    def test_it(catalog):
        """It holds."""

    lone = declaration_of(check("a.b", group=Group.CHECKS)(test_it))
    monkeypatch.setattr("icecheck.run.collect.declarations", lambda _groups: iter([lone]))
    result = icecheck("run", "--mock", "--check", "a.b")
    assert result.exit_code == 3
    told = f"check a.b: no row in contract/requirements of {DEFAULT_SPEC_VERSION}: ['a.b']"
    assert result.stderr == f"icecheck: {told}\n"


# on a terminal


def test_a_terminal_sees_a_live_line_and_the_same_closing_lines(tmp_path, start_icecheck):
    controller, terminal = pty.openpty()
    process = start_icecheck(
        "run", "--mock", *FEW, "--output", "out", terminal=terminal, env={"TERM": "xterm"}
    )
    os.close(terminal)
    shown = b""
    while True:
        try:
            chunk = os.read(controller, 65_536)
        except OSError:
            break
        if not chunk:
            break
        shown += chunk
    os.close(controller)
    assert process.wait(timeout=60) == 0
    text = shown.decode()
    assert "\x1b[" in text
    assert "no findings" in text
    assert "gate: satisfied, exit 0" in text
    assert "report: out/index.html" in text


# start-up


def test_help_imports_nothing_heavy(tmp_path, start_icecheck):
    script = (
        "import sys\n"
        "from icecheck.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit as end:\n    assert not end.code\n"
        "heavy = {'httpx', 'msgspec', 'rich', 'jsonschema', 'jsonschema_rs', 'pytest',\n"
        "         'hypothesis', 'icecheck.contract', 'icecheck.mock_server.mock', 'jinja2'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    import subprocess

    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stderr == "[]\n"
    for command in ("run", "serve", "list", "explain"):
        assert f"\n  {command} " in done.stdout


def test_every_command_explains_itself(icecheck):
    for command in ("run", "serve", "list", "explain"):
        result = icecheck(command, "--help")
        assert result.exit_code == 0
        assert f"icecheck {command}" in result.stdout.replace("main", "icecheck")


def test_the_help_names_the_files_of_a_report(icecheck):
    told = icecheck("run", "--help").stdout
    missing = [name for name in SET if name not in told]
    assert not missing, f"not in the docstring of icecheck.cli.commands.run.command: {missing}"


def test_the_version_is_said(icecheck):
    import icecheck as package

    assert icecheck("--version").stdout == f"icecheck {package.__version__}\n"
