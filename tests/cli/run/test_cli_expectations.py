"""`icecheck run` with known failures: against the mock with a defect installed, and misused."""

import json

import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.defects import defects

TOKEN = "tok-canary-1"
CREATED = "createNamespace.created"
EXISTS = "createNamespace.already-exists"
FEW = ("--only", "checks", "--check", "createNamespace.[ac]*", "-q")
KNOWN = '[[expectation]]\ncheck = "{}"\nkind = "known-failure"\nreason = "ticket 7"\n'


@pytest.fixture
def broken():
    """A catalog that answers 201 to the creation of a namespace."""
    with MockCatalog(seed=1, token=TOKEN, warehouses=["wh"]) as mock:
        defects()["namespace-created-201"].install(mock.registries)
        yield mock


@pytest.fixture
def verify(icecheck, broken):
    target = (broken.uri, "--warehouse", "wh", "--token", TOKEN)
    return lambda *more: icecheck("run", *target, *FEW, *more)


def document(tmp_path):
    return json.loads((tmp_path / "icecheck-report" / "run.json").read_text())


def test_a_baseline_is_written_kept_and_found_stale_when_the_catalog_is_repaired(
    verify, tmp_path, broken
):
    file = tmp_path / "icecheck.toml"
    assert verify().exit_code == 1
    learnt = verify("--update-expectations")
    assert learnt.exit_code == 0, learnt.output
    assert "icecheck.toml: " in learnt.stdout
    written = file.read_text()
    assert f'check = "{CREATED}"' in written

    again = verify()
    assert again.exit_code == 0
    assert again.stdout.startswith("NOT CONFORMANT")
    assert "gate: satisfied (" in again.stdout
    assert "excused), exit 0" in again.stdout
    run = document(tmp_path)
    assert run["verdict"]["status"] == "not-conformant"
    assert run["totals"]["unexpected"] == 0
    assert run["totals"]["expected_failures"] > 0
    assert run["expectations"]["file"] == "icecheck.toml"
    assert file.read_text() == written

    broken.registries.operations.update(MockCatalog(seed=1).registries.operations)
    repaired = verify()
    assert repaired.exit_code == 1
    assert "not satisfied (stale-expectation), exit 1" in repaired.stdout
    assert "  stale: entry 1, line 1 (known-failure" in repaired.stdout
    cleaned = verify("--update-expectations")
    assert cleaned.exit_code == 0
    assert "[[expectation]]" not in file.read_text()


def test_another_way_to_fail_fails_the_gate(verify, tmp_path):
    ways = 'fails_with = { symptom = "status", actual = "500" }\n'
    (tmp_path / "known.toml").write_text(KNOWN.format("*") + ways)
    result = verify("--expectations", "known.toml")
    assert result.exit_code == 1
    assert "not satisfied (fails-differently), exit 1" in result.stdout
    assert document(tmp_path)["expectations"]["fails_differently"]


def test_the_file_is_found_by_name_or_in_the_working_directory(verify, tmp_path):
    (tmp_path / "icecheck.toml").write_text(KNOWN.format("*").replace("known-failure", "flaky"))
    assert verify().exit_code == 0
    (tmp_path / "mine.toml").write_text("")
    assert verify("--config", "mine.toml").exit_code == 1
    assert document(tmp_path)["expectations"]["file"] is None
    assert verify("--config", "icecheck.toml", "--expectations", "mine.toml").exit_code == 1
    assert verify("--config", "mine.toml", "--expectations", "icecheck.toml").exit_code == 0


def test_an_entry_of_another_group_or_check_is_left_alone(verify, tmp_path):
    other = KNOWN.format("dropTable.*") + KNOWN.format("generated.*")
    (tmp_path / "icecheck.toml").write_text(other)
    assert verify().exit_code == 1
    run = document(tmp_path)
    assert run["verdict"]["exit_reason"] == "unexpected-failure"
    assert run["expectations"]["entries"] == 2
    assert run["expectations"]["stale"] == []


def test_a_known_failure_does_not_end_a_run_that_ends_at_the_first(verify, tmp_path):
    def judged():
        rows = document(tmp_path)["checks"]
        return sum(c["outcome"] in {"pass", "fail"} for c in rows if not c["passive"])

    verify("--fail-fast")
    stopped = judged()
    assert document(tmp_path)["totals"]["skip"] > 0
    (tmp_path / "icecheck.toml").write_text(KNOWN.format("*").replace("known-failure", "flaky"))
    assert verify("--fail-fast").exit_code == 0
    assert judged() > stopped
    assert document(tmp_path)["totals"]["skip"] == 0


MISUSE = {
    "unknown key": (KNOWN.format(CREATED) + 'owner = "me"\n', "line 5: expectation 1: unknown key"),
    "bad date": (KNOWN.format(CREATED) + 'expires = "soon"\n', "`expires` is no date"),
    "no reason": (f'[[expectation]]\ncheck = "{CREATED}"\nkind = "flaky"\n', "`reason` is missing"),
    "duplicates": (KNOWN.format(CREATED) * 2, "names the same as entry 1"),
    "no check": (KNOWN.format("createNamespace.creatd"), "did you mean createNamespace.created"),
    "no TOML": ("[[expectation]\n", "no valid TOML"),
    "no text": (b"\xff\xfe", "no UTF-8"),
}


@pytest.mark.parametrize(("content", "words"), MISUSE.values(), ids=MISUSE)
@pytest.mark.parametrize("update", [(), ("--update-expectations",)])
def test_a_bad_file_is_one_line_and_exit_2(icecheck, tmp_path, content, words, update):
    raw = content if isinstance(content, bytes) else content.encode()
    (tmp_path / "icecheck.toml").write_bytes(raw)
    result = icecheck("run", "--mock", *FEW, *update)
    assert result.exit_code == 2
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("icecheck: icecheck.toml")
    assert words in line
    assert [p.name for p in tmp_path.iterdir()] == ["icecheck.toml"]
    assert (tmp_path / "icecheck.toml").read_bytes() == raw


@pytest.mark.parametrize("option", ["--config", "--expectations"])
def test_a_file_that_is_not_there_is_misuse(icecheck, tmp_path, option):
    result = icecheck("run", "--mock", *FEW, option, "gone.toml")
    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        "icecheck: gone.toml cannot be read: No such file or directory"
    ]


def test_an_update_makes_the_file_that_was_named(verify, tmp_path):
    assert verify("--update-expectations", "--expectations", "new.toml").exit_code == 0
    assert "[[expectation]]" in (tmp_path / "new.toml").read_text()
    assert not (tmp_path / "icecheck.toml").exists()


def test_an_incomplete_run_updates_nothing(verify, tmp_path, monkeypatch):
    from icecheck.judging import breaker

    judge, judged = breaker.judge, []

    def interrupted(*arguments):
        judged.append(arguments)
        if len(judged) == 3:
            raise KeyboardInterrupt
        return judge(*arguments)

    monkeypatch.setattr(breaker, "judge", interrupted)
    (tmp_path / "icecheck.toml").write_text("# empty\n")
    result = verify("--update-expectations")
    assert result.exit_code == 130
    assert result.stderr.splitlines() == [
        "icecheck: icecheck.toml was not updated: the run is incomplete (interrupted)"
    ]
    assert (tmp_path / "icecheck.toml").read_text() == "# empty\n"
    assert document(tmp_path)["complete"] is False
