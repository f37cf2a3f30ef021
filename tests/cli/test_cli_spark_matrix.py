"""`icecheck spark-matrix`: which combinations are run, how, and what is told of them."""

import json
import signal
import stat
import sys
import time
from pathlib import Path

import pytest

from icecheck.cli.commands.spark import spark_matrix
from icecheck.spark.unavailable import SparkUnavailable
from icecheck.spark.versions import combinations

NAMES = [each.name for each in combinations()]
FIRST, SECOND = NAMES[:2]


def document(
    code: int,
    *broken: str,
    complete: bool = True,
    otherwise: str = "works",
    left: tuple[str, ...] = (),
) -> dict[str, object]:
    """As much of a run.json as the command reads."""
    rows = [
        {"id": id_, "statement": id_, "status": "broken" if id_ in broken else otherwise,
         "because": [], "reason": "it fails" * (id_ in broken)}
        for id_ in ("spark.a", "spark.b")
    ]  # fmt: skip
    return {
        "environment": {"spark": "Spark 9, Iceberg 9"},
        "target": {"url": "http://c.test"},
        "checks": [],
        "safety": {"residue": [*left]},
        "complete": complete,
        "verdict": {"headline": "the catalog is gone", "exit_code": code},
        "engine_profiles": [{"id": "spark", "workflows": rows}],
    }


@pytest.fixture
def runs(monkeypatch):
    """Let each combination end as the test says: (exit code, broken statements), or an error."""
    endings: dict[str, object] = {}
    called: list[str] = []

    def run_one(wanted, directory, _options):
        called.append(wanted.name)
        ending = endings.get(wanted.name, (0, document(0)))
        if isinstance(ending, BaseException):
            raise ending
        code, told = ending
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "output.txt").write_text("first\nicecheck: no Java here\n")
        if told is not None:
            (directory / "run.json").write_text(json.dumps(told))
        return code

    monkeypatch.setattr(spark_matrix, "_run_one", run_one)
    monkeypatch.setattr("icecheck.cli.stored_run.stored_run", _read)
    return endings, called


def _read(path: Path):
    from icecheck.targets.target import UsageError

    if not path.is_file():
        raise UsageError("there is no run.json")
    return json.loads(path.read_text())


def test_all_combinations_are_run_one_after_the_other(icecheck, runs, tmp_path):
    done = icecheck("spark-matrix", "--mock")
    assert done.exit_code == 0, done.output
    assert runs[1] == NAMES
    told = json.loads((tmp_path / "icecheck-spark-matrix" / "spark-matrix.json").read_text())
    assert [each["name"] for each in told["engines"]] == NAMES
    assert done.output.count("2 work, 0 broken") == len(NAMES)
    assert (tmp_path / "icecheck-spark-matrix" / "index.html").is_file()


def test_a_broken_statement_is_exit_code_1(icecheck, runs, tmp_path):
    runs[0][SECOND] = (0, document(0, "spark.b"))
    named = ("--combination", SECOND, "--combination", FIRST, "--combination", SECOND)
    done = icecheck("spark-matrix", "--mock", *named, "--output", "out")
    assert (done.exit_code, runs[1]) == (1, [SECOND, FIRST])
    assert "1 work, 1 broken" in done.output
    assert "broken" in (tmp_path / "out" / "summary.md").read_text()


@pytest.mark.parametrize(
    ("ending", "said"),
    [
        (SparkUnavailable("pip is not here"), "pip is not here"),
        ((2, None), "no Java here"),
        ((4, document(4, complete=False)), "the catalog is gone"),
        ((4, document(4)), "the catalog is gone"),
        ((-9, document(0)), "exit -9"),
        ((3, document(0)), "exit 3"),
    ],
)
def test_a_combination_that_could_not_be_run_is_exit_code_3_and_the_others_are_run(
    icecheck, runs, tmp_path, ending, said
):
    runs[0][FIRST] = ending
    done = icecheck(
        "spark-matrix", "--mock", "--combination", FIRST, "--combination", SECOND, "--output", "o"
    )
    assert (done.exit_code, runs[1]) == (3, [FIRST, SECOND])
    assert said in done.output
    assert said in (tmp_path / "o" / "index.html").read_text()


@pytest.mark.parametrize(
    ("ending", "code", "said"),
    [
        ((5, document(5, otherwise="not-looked-at")), 5, "nothing was verified"),
        ((5, document(5, otherwise="not-offered")), 5, "nothing was verified"),
        ((5, document(5)), 0, "2 work"),  # of what is claimed and none of Spark's business
        ((6, document(6, left=("a table",))), 6, "a table"),
        ((1, document(1, left=("a table",))), 6, "a table"),
        ((1, document(1)), 0, "2 work"),  # a requirement that no statement of Spark depends on
        ((6, document(6, "spark.a", left=("a table",))), 1, "a table"),
    ],
)
def test_a_column_that_says_nothing_or_left_something_is_never_green(
    icecheck, runs, tmp_path, ending, code, said
):
    runs[0][FIRST] = ending
    done = icecheck(
        "spark-matrix", "--mock", "--combination", FIRST, "--combination", SECOND, "--output", "o"
    )
    assert done.exit_code == code
    for text in (done.output, (tmp_path / "o" / "index.html").read_text()):
        assert said in text or said == "2 work"
    assert said in done.output


def test_an_interrupt_leaves_a_report_of_what_was_run(icecheck, runs, tmp_path):
    runs[0][SECOND] = KeyboardInterrupt()
    done = icecheck("spark-matrix", "--mock", "--output", "o")
    assert (done.exit_code, runs[1]) == (130, [FIRST, SECOND])
    told = json.loads((tmp_path / "o" / "spark-matrix.json").read_text())
    assert [each["name"] for each in told["engines"]] == [FIRST]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--mock", "--combination", "spark-2.4"), "spark-3.5-iceberg-1.10.2"),
        ((), "name the catalog"),
        (("http://127.0.0.1:9", "--mock"), "either its URL or --mock"),
        (("--mock", "--output", "file/below"), "--output file/below cannot be written"),
    ],
)
def test_a_misuse_is_told_before_anything_is_run(icecheck, runs, tmp_path, words, said):
    (tmp_path / "file").touch()
    done = icecheck("spark-matrix", *words)
    assert (done.exit_code, runs[1]) == (2, [])
    assert said in done.output


def test_what_there_is_can_be_listed(icecheck, runs):
    done = icecheck("spark-matrix", "--list")
    assert (done.exit_code, runs[1]) == (0, [])
    assert [line.partition(":")[0] for line in done.output.splitlines()] == NAMES


FAKE_RUN = """\
import json, os, pathlib, signal, sys, time
if "--wait" in os.environ.get("FAKE", ""):
    def ended(*_):
        pathlib.Path("ended").touch()
        sys.exit(130)
    signal.signal(signal.SIGTERM, ended)
    pathlib.Path("begun").touch()
    time.sleep(60)
pathlib.Path("words.json").write_text(json.dumps(sys.argv[1:]))
print("icecheck: said by the run")
sys.exit(2)
"""


@pytest.fixture
def fake_python(tmp_path):
    """A program in place of Python, which runs what stands in for `icecheck run`."""
    (tmp_path / "fake.py").write_text(FAKE_RUN)
    program = tmp_path / "python"
    program.write_text(f'#!/bin/sh\nshift 2\nexec {sys.executable} {tmp_path}/fake.py "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def test_the_run_gets_the_options_of_the_target_and_secrets_are_not_lost(
    icecheck, tmp_path, monkeypatch, fake_python
):
    monkeypatch.setattr(spark_matrix.sys, "executable", str(fake_python))
    monkeypatch.setattr("icecheck.spark.environments.is_at_hand", lambda *_: True)
    words = ("http://127.0.0.1:9", "--token", "s3cret", "--header", "X-A:b", "--check", "spark.m*")
    done = icecheck("spark-matrix", *words, "--combination", FIRST)
    assert done.exit_code == 3, done.output
    assert "said by the run" in done.output
    wanted = combinations()[0]
    assert json.loads((tmp_path / "words.json").read_text()) == [
        "run", *words, "--only", "spark", "--iceberg-packages", wanted.coordinates,
        "--output", f"icecheck-spark-matrix/{FIRST}",
    ]  # fmt: skip


def test_an_interrupt_ends_the_run_first(tmp_path, start_icecheck, fake_python):
    program = (
        "import sys, icecheck.cli; from icecheck.spark import environments;"
        "environments.is_at_hand = lambda *_: True;"
        f"sys.executable = {str(fake_python)!r};"
        "icecheck.cli.main()"
    )
    started = start_icecheck("spark-matrix", "--mock", program=program, env={"FAKE": "--wait"})
    deadline = time.monotonic() + 60
    while not (tmp_path / "begun").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    started.send_signal(signal.SIGINT)
    started.communicate(timeout=60)
    assert started.returncode == 130
    assert (tmp_path / "ended").exists()
    assert (tmp_path / "icecheck-spark-matrix" / "index.html").is_file()


def test_runs_that_there_are_are_put_side_by_side(icecheck, tmp_path, monkeypatch):
    # What stored_run does with a file is tested with `icecheck report matrix`.
    monkeypatch.setattr(
        "icecheck.cli.commands.stored.report.stored_run", lambda p: _read(p / "run.json")
    )
    for name, broken in (("one", ()), ("two", ("spark.a",))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text(json.dumps(document(0, *broken)))
    done = icecheck("report", "spark", "one", "two", "--format", "json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.output)
    assert told["statements"]["spark.a"]["values"] == ["works", "broken"]
    assert icecheck("report", "spark", "one", "--output", "page.html").exit_code == 0
    assert "spark.b" in (tmp_path / "page.html").read_text()


def test_a_run_without_spark_is_refused_by_name(icecheck, tmp_path, monkeypatch):
    bare = document(0) | {"engine_profiles": []}
    monkeypatch.setattr("icecheck.cli.commands.stored.report.stored_run", lambda _: bare)
    done = icecheck("report", "spark", "one")
    assert done.exit_code == 2
    assert "one has nothing of Spark" in done.output
