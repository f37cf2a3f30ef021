"""``icecheck replay``: a failing history is kept in a file, and run again from it."""

import contextlib
import io
import json
from pathlib import Path

import pytest

from icecheck.findings.verdict import Outcome
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.defects import defects
from icecheck.run.replays.files import replay_of
from icecheck.scenarios.races.test_random_races import RANDOM_CHANGES
from icecheck.scenarios.random.test_namespaces_and_tables import CHECK
from tests.kit.finished_runs import finished, verdict
from tests.kit.serving import json_answer

STEPS = [
    ["create-namespace", ["n0"], ["7"]],
    ["update-properties", ["n0"], ["icecheck.kept", "8", "icecheck.mark"]],
]
DEFECT = "properties-update-forgotten"
FUZZED = "generated.updateTable.fuzzed"


@pytest.fixture
def replay_file(tmp_path):
    """Write a replay file; arguments replace its members, and None removes them."""

    def write(**changed):
        made = {"kind": "icecheck-replay", "version": 1, "check": CHECK, "spec": "1.10.0",
                "finding": {}, "steps": STEPS, **changed}  # fmt: skip
        path = tmp_path / "kept.json"
        path.write_text(json.dumps({k: v for k, v in made.items() if v is not None}), "utf-8")
        return path

    return write


@pytest.fixture
def broken():
    """A catalog that forgets updates of namespaces' properties."""
    mock = MockCatalog()
    defects()[DEFECT].install(mock.registries)
    with mock:
        yield mock


@pytest.fixture
def mended():
    with MockCatalog() as mock:
        yield mock


def test_a_failing_history_is_kept_and_fails_again_until_it_is_mended(
    icecheck, tmp_path, broken, mended
):
    found = icecheck("run", broken.uri, "--check", CHECK, "--verbose")
    kept = tmp_path / "icecheck-report" / "replays" / f"{CHECK}.json"
    assert f"replays/{CHECK}.json URL" in found.stdout
    assert len(json.loads(replay_of(kept).steps)) == len(STEPS)
    again = icecheck("replay", kept, broken.uri)
    assert (again.exit_code, "still differs" in again.stdout) == (1, True)
    assert "create namespace n" in again.stdout
    better = icecheck("replay", kept, mended.uri, "--output", "mended")
    assert (better.exit_code, "as is demanded" in better.stdout) == (0, True)
    assert not (tmp_path / "mended" / "replays").exists()
    assert icecheck("run", mended.uri, "--check", CHECK).exit_code == 0
    assert not kept.exists()  # the report is that of the run that found nothing
    assert [len(mock.state().namespaces) for mock in (broken, mended)] == [0, 0]


def test_a_replay_that_is_interrupted_ends_with_130(icecheck, replay_file, monkeypatch):
    broken_off = finished(verdict(CHECK, Outcome.PASS), interrupted=True)
    page = Path("icecheck-replay/index.html")
    monkeypatch.setattr(
        "icecheck.cli.commands.stored.replay.reported_run", lambda *_args: (broken_off, page)
    )
    done = icecheck("replay", replay_file(), "http://127.0.0.1:9")
    assert (done.exit_code, f"{CHECK}: interrupted" in done.stdout) == (130, True)


def test_a_replay_on_no_catalog_writes_a_report_that_says_so(icecheck, replay_file, tmp_path):
    done = icecheck("replay", replay_file(), "http://127.0.0.1:9", "--timeout", "1")
    assert (done.exit_code, done.stdout) == (4, "report: icecheck-replay/index.html\n")
    run = json.loads((tmp_path / "icecheck-replay" / "run.json").read_text())
    assert "cannot be reached" in run["verdict"]["headline"]


@pytest.mark.complete("what is kept is replayed in the usual command")
def test_what_was_kept_is_part_of_a_later_run(icecheck, tmp_path, replay_file, broken, mended):
    directory = replay_file().parent / "regressions"
    directory.mkdir()
    replay_file(steps=[*STEPS, ["look", [], []]]).rename(directory / "one.json")
    failed = icecheck("run", broken.uri, "--check", CHECK, "--regressions", directory)
    assert failed.exit_code == 1
    before = icecheck("run", mended.uri, "--check", CHECK)
    after = icecheck("run", mended.uri, "--check", CHECK, "--regressions", directory)
    assert before.exit_code == after.exit_code == 0
    kept = tmp_path / "icecheck-report" / "replays"
    kept.mkdir()
    refused = icecheck("run", "http://127.0.0.1:9", "--regressions", kept)
    assert (refused.exit_code, "keep copies" in refused.stderr) == (2, True)
    (directory / "one.json").unlink()
    empty = icecheck("run", "http://127.0.0.1:9", "--regressions", directory)
    assert (empty.exit_code, "no replay files" in empty.stderr) == (2, True)


def test_a_file_of_the_report_that_a_replay_replaces_is_not_taken(
    icecheck, tmp_path, replay_file, broken, mended
):
    assert icecheck("replay", replay_file(), broken.uri).exit_code == 1
    kept = tmp_path / "icecheck-replay" / "replays" / f"{CHECK}.json"
    refused = icecheck("replay", kept, mended.uri)
    assert (refused.exit_code, "keep copies" in refused.stderr) == (2, True)
    assert kept.exists()
    assert icecheck("replay", kept, mended.uri, "--output", "other").exit_code == 0


def test_a_report_replaces_no_file_but_those_of_runs(icecheck, tmp_path, replay_file, mended):
    directory = tmp_path / "replays"
    directory.mkdir()
    theirs = {
        "mine.json": "{}",
        f"{CHECK}.json": '{"of": "somebody else"}',
        f"{CHECK}-1.json": replay_file().read_text("utf-8"),
    }
    for name, text in theirs.items():
        (directory / name).write_text(text, "utf-8")
    assert icecheck("run", mended.uri, "--check", CHECK, "--output", tmp_path).exit_code == 0
    assert {path.name: path.read_text("utf-8") for path in directory.iterdir()} == theirs


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (("--check", "createTable.*"), "not among the selected checks"),
        (("--only", "checks"), "not among the selected checks"),
    ],
)
def test_histories_that_a_run_would_leave_out_are_a_misuse(
    icecheck, tmp_path, replay_file, asked, told
):
    directory = tmp_path / "regressions"
    directory.mkdir()
    race = replay_file(check=RANDOM_CHANGES, steps=[[[["drop", ["x0"], []]]]])
    race.rename(directory / "race.json")
    refused = icecheck("run", "http://127.0.0.1:9", *asked, "--regressions", directory)
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
    assert told in refused.stderr


@pytest.mark.complete("races many programs; the usual command replays what it finds without files")
def test_a_race_that_contradicts_itself_is_kept_too(icecheck, tmp_path, mended):
    racy = MockCatalog()
    defects()["race-last-writer-wins"].install(racy.registries)
    with racy:
        asked = ("--disruptive", "--race-rounds", "4", "--check", RANDOM_CHANGES)
        assert icecheck("run", racy.uri, *asked).exit_code == 1
    kept = tmp_path / "icecheck-report" / "replays" / f"{RANDOM_CHANGES}.json"
    assert "updateTable" in replay_of(kept).operations
    again = icecheck("replay", kept, mended.uri)
    assert (again.exit_code, "as is demanded" in again.stdout) == (0, True)


def test_a_drawn_request_is_kept_too(icecheck, tmp_path, mended):
    breaking = MockCatalog()
    defects()["drawn-breakdown-updateTable"].install(breaking.registries)
    with breaking:
        assert icecheck("run", breaking.uri, "--check", FUZZED).exit_code == 1
        kept = tmp_path / "icecheck-report" / "replays" / f"{FUZZED}.json"
        assert replay_of(kept).operations == {"updateTable"}
        assert icecheck("replay", kept, breaking.uri).exit_code == 1
    better = icecheck("replay", kept, mended.uri)
    assert (better.exit_code, "as is demanded" in better.stdout) == (0, True)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"check": "generated.dropTable.fuzzed"}, "generated.dropTable.fuzzed"),
        ({"check": FUZZED}, "updateTable"),
        ({"check": FUZZED, "steps": [["updateTable", [], []]]}, "updateTable"),
        ({"check": FUZZED, "steps": [["updateTable", [], ["s3://theirs/data"]]]}, "s3://theirs"),
        ({"kind": "other"}, "no replay file"),
        ({"version": 2}, "version 2"),
        ({"check": None}, "check"),
        ({"check": "createTable.succeeds"}, "createTable.succeeds"),
        ({"spec": "99.0.0"}, "99.0.0"),
        ({"spec": 7}, "spec"),
        ({"steps": []}, "steps"),
        ({"steps": [["fly", ["n0"], []]]}, "fly"),
        ({"steps": [["create-namespace", ["n0", "n1"], ["7"]]]}, "create-namespace"),
        ({"steps": [["create-namespace", ["../n0"], ["7"]]]}, "create-namespace"),
        ({"steps": [["set-ref", ["n0.x0"], ["b1", "stem"]]]}, "set-ref"),
        ({"check": "race.\n\x1b[2J\ud800"}, "race."),
    ],
)
def test_a_file_that_does_not_fit_is_refused_in_one_line_and_nothing_is_sent(
    icecheck, replay_file, serve, changed, told
):
    asked = []
    url = serve(lambda request: asked.append(request) or json_answer({}))
    ended = icecheck("replay", replay_file(**changed), url)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert told in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert asked == []


@pytest.mark.parametrize("text", ["", "[]", "{", "no", "[" * 100_000])
def test_what_is_no_replay_file_at_all_is_refused(icecheck, tmp_path, text):
    path = tmp_path / "any.json"
    path.write_text(text, "utf-8")
    for file, told in ((path, "any.json"), (tmp_path / "none.json", "cannot be read")):
        ended = icecheck("replay", file, "http://127.0.0.1:9")
        assert (ended.exit_code, told in ended.stderr) == (2, True)


def test_what_the_catalog_does_not_claim_is_named_after_the_config_alone(
    icecheck, replay_file, serve
):
    asked = []

    def answer(request):
        asked.append(request)
        return json_answer({"defaults": {}, "overrides": {}, "endpoints": ["GET /v1/{prefix}/x"]})

    ended = icecheck("replay", replay_file(), serve(answer))
    assert ended.exit_code == 2
    assert "createNamespace, updateProperties" in ended.stderr
    assert len(asked) == 1


def test_pytest_runs_what_was_kept_too(tmp_path, replay_file, broken, monkeypatch):
    directory = tmp_path / "regressions"
    directory.mkdir()
    replay_file().rename(directory / "one.json")
    monkeypatch.chdir(tmp_path)
    without = ["-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:unraisableexception"]
    plain = [*without, "-q", "--capture=no", "--pyargs"]
    scenario = "icecheck.scenarios.random.test_namespaces_and_tables"
    kept = ["--conformance-regressions", str(directory), "--conformance-report", "out"]
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = pytest.main([*plain, scenario, "--catalog-url", broken.uri, *kept])
        (directory / "one.json").write_text("{}", "utf-8")
        misuse = pytest.main([*plain, scenario, "--catalog-url", broken.uri, *kept])
    assert (int(code), int(misuse)) == (1, 4)
    assert "create namespace n0 (7)" in said.getvalue()
    assert "no replay file" in said.getvalue()
    assert (tmp_path / "out" / "replays" / f"{CHECK}.json").is_file()


# ---- a check of a report


@pytest.fixture(params=["directory", "bundle"])
def reported(request, icecheck, broken):
    """The report, or the bundle, of a run that found the defect."""
    icecheck("run", broken.uri, "--check", "updateProperties.*", "--seed", "5", "--run-id", "first")
    if request.param == "directory":
        return "icecheck-report"
    assert icecheck("bundle", "icecheck-report", "--output", "one.zip").exit_code == 0
    return "one.zip"


def failing_check(tmp_path):
    document = json.loads((tmp_path / "icecheck-report" / "run.json").read_text())
    return next(c["id"] for c in document["checks"] if c["outcome"] == "fail")


def test_a_check_of_a_report_is_judged_again(icecheck, tmp_path, reported, broken, mended):
    check = failing_check(tmp_path)
    still = icecheck("replay", reported, broken.uri, "--check", check)
    assert still.exit_code == 1
    first, second, *_ = still.stdout.splitlines()
    assert first.startswith(f"in {reported}, run first: fail (expected ")
    assert second == f"{check}: the catalog still differs"
    better = icecheck("replay", reported, mended.uri, "--check", check)
    assert (better.exit_code, "as is demanded" in better.stdout) == (0, True)
    again = json.loads((tmp_path / "icecheck-replay" / "run.json").read_text())
    assert again["config"]["seed"] == 5
    assert again["run_id"] != "first"


@pytest.mark.parametrize(
    ("check", "words"),
    [
        ("no.such-check", "has no check no.such-check"),
        ("http.json-in-utf-8", "has no requests of its own"),
    ],
)
def test_a_check_that_cannot_be_sent_again_is_misuse(icecheck, broken, check, words):
    icecheck("run", broken.uri, "--check", "getConfig.*", "-q")
    result = icecheck("replay", "icecheck-report", broken.uri, "--check", check)
    assert result.exit_code == 2
    assert words in result.stderr


def test_a_report_without_a_check_is_no_replay_file(icecheck, broken):
    icecheck("run", broken.uri, "--check", "getConfig.*", "-q")
    result = icecheck("replay", "icecheck-report/run.json", broken.uri)
    assert result.exit_code == 2
