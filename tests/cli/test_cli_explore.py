"""``icecheck explore``: histories are drawn until the time is over, and what is new is kept."""

import errno
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from icecheck.conformance.fuzzed.replaying import OPERATION_OF
from icecheck.findings.verdict import Outcome, Run
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.defects import defects
from icecheck.run.replays.exploring import Corpus
from icecheck.run.replays.files import replay_of
from icecheck.run.replays.understanding import checks_of_round
from icecheck.scenarios.races.test_random_races import RACES
from icecheck.scenarios.random.test_namespaces_and_tables import CHECK
from icecheck.targets.unwritable import Unwritable
from tests.kit.findings import a_finding
from tests.kit.finished_runs import finished, verdict

DEFECT = "properties-update-forgotten"


def seeds(said):
    """The seed of the first round, and that of the last."""
    first, last = said.splitlines()[0], said.splitlines()[-1]
    return int(first.split(": ")[1].split(";")[0]), int(last.split("to seed ")[1].split(",")[0])


@pytest.fixture
def broken():
    mock = MockCatalog()
    defects()[DEFECT].install(mock.registries)
    with mock:
        yield mock


def test_what_is_found_is_kept_once_and_can_be_replayed(icecheck, tmp_path, broken):
    found = icecheck("explore", broken.uri, "--minutes", "0", "--seed", "5")
    assert found.exit_code == 1, found.stdout
    assert seeds(found.stdout)[0] == 5
    every = sorted((tmp_path / "icecheck-findings").glob("*.json"))
    assert f"new findings: {len(every)}," in found.stdout
    (kept,) = (path for path in every if path.name.startswith(CHECK))
    assert kept.name == f"{CHECK}-1.json"
    assert replay_of(kept).symptom == "effect-missing:properties"
    assert icecheck("replay", kept, broken.uri).exit_code == 1
    again = icecheck("explore", broken.uri, "--minutes", "0", "--seed", "5")
    assert f"known findings: {len(every)}" in again.stdout
    # A race may show something else of the defect this time.
    assert again.exit_code == (0 if "new findings: 0," in again.stdout else 1)
    assert [*(tmp_path / "icecheck-findings").glob(f"{CHECK}-*.json")] == [kept]
    assert len(broken.state().namespaces) == 0


def test_what_could_not_be_judged_is_no_success(icecheck, monkeypatch):
    """A catalog that is too slow for one of the checks has not shown that it passes it."""
    passed = verdict("generated.createTable.fuzzed", Outcome.PASS)
    blocked = verdict(CHECK, Outcome.BLOCKED, blocked_by=("target",), summary="no answer")
    for run, code in ((finished(passed, blocked), 4), (finished(passed), 0)):
        monkeypatch.setattr("icecheck.run.runner.run_checks", lambda _options, run=run: run)
        done = icecheck("explore", "http://127.0.0.1:9", "--minutes", "0")
        assert (done.exit_code, CHECK in done.stdout) == (code, code == 4)


def test_an_interrupt_in_a_round_or_after_it_ends_with_130(icecheck, monkeypatch):
    """As a run does, whatever was found until then; the rounds that there were are told."""
    passed = finished(verdict("generated.createTable.fuzzed", Outcome.PASS))
    broken_off = finished(verdict("race.drop", Outcome.PASS), interrupted=True)

    def stopped() -> Run:
        raise KeyboardInterrupt

    for last, rounds in ((lambda: broken_off, 2), (stopped, 1)):
        runs = iter((lambda: passed, last))
        monkeypatch.setattr("icecheck.run.runner.run_checks", lambda _, runs=runs: next(runs)())
        done = icecheck("explore", "http://127.0.0.1:9", "--minutes", "1")
        assert (done.exit_code, f"interrupted after {rounds} rounds" in done.stdout) == (130, True)
    monkeypatch.setattr("icecheck.run.runner.run_checks", lambda _: stopped())
    done = icecheck("explore", "http://127.0.0.1:9", "--minutes", "1")
    assert done.exit_code == 130
    assert "before there was anything to report" in done.stderr


def test_each_drawn_request_has_its_turn_in_six_rounds():
    rounds = [checks_of_round(seed) for seed in range(5, 11)]
    assert {each for checks in rounds for each in checks} >= {CHECK, *RACES, *OPERATION_OF}
    assert {len(checks) for checks in rounds} == {1 + len(RACES) + 2}


def test_what_is_known_is_not_kept_again(tmp_path):
    finding = replace(a_finding("effect-missing:properties", "a", "b"), steps='[["look",[],[]]]')
    verdict = SimpleNamespace(check=CHECK)
    kept = Corpus(tmp_path).take(verdict, finding, "1.10.0")
    assert kept is not None
    later = Corpus(tmp_path)
    assert later.take(verdict, finding, "1.10.0") is None
    other = replace(finding, steps='[["create",[],[]]]')
    assert later.take(verdict, other, "1.10.0") not in {None, kept}


@pytest.mark.complete("the usual command explores a catalog with a fault")
def test_a_catalog_without_fault_is_told_as_such(icecheck, tmp_path):
    with MockCatalog() as mock:
        done = icecheck("explore", mock.uri, "--minutes", "0", "--seed", "3")
    assert (done.exit_code, "new findings: 0," in done.stdout) == (0, True)
    assert [*(tmp_path / "icecheck-findings").iterdir()] == []


def test_a_catalog_that_lacks_what_histories_need_gives_no_verdict(icecheck):
    with MockCatalog(hidden=("createTable", "createNamespace", "createView")) as mock:
        done, again = (icecheck("explore", mock.uri, "--minutes", "0.1") for _ in range(2))
    assert (done.exit_code, "createNamespace" in done.stdout) == (4, True)
    assert seeds(done.stdout)[0] == seeds(done.stdout)[1] != seeds(again.stdout)[0]


def test_a_finding_that_cannot_be_written_leaves_no_part_of_a_file(tmp_path, monkeypatch):
    corpus = Corpus(tmp_path / "findings")
    verdict = SimpleNamespace(check=CHECK)
    finding = replace(a_finding("effect-missing:properties", "a", "b"), steps='[["look",[],[]]]')

    def full(self, target):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", full)
        with pytest.raises(Unwritable):
            corpus.take(verdict, finding, "1.10.0")
    assert [*corpus.directory.iterdir()] == []
    assert corpus.take(verdict, finding, "1.10.0").read_text("utf-8")


def test_minutes_that_are_no_number_are_refused(icecheck):
    ended = icecheck("explore", "http://127.0.0.1:9", "--minutes", "nan")
    assert (ended.exit_code, "nan" in ended.stderr) == (2, True)


def test_a_file_that_is_no_finding_is_named_before_anything_is_sent(icecheck, tmp_path):
    directory = tmp_path / "mine"
    directory.mkdir()
    (directory / "other.json").write_text(json.dumps({"kind": "else"}))
    ended = icecheck("explore", "http://127.0.0.1:9", "--findings", directory)
    assert (ended.exit_code, "other.json" in ended.stderr) == (2, True)
    taken = icecheck("explore", "http://127.0.0.1:9", "--findings", directory / "other.json")
    assert taken.exit_code == 2
