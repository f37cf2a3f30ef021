"""A run that is cut short leaves nothing on disk that could pass for its own success."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from icecheck.cli import main
from icecheck.mock_server import MockCatalog
from icecheck.ownership.ledger import Entry
from icecheck.ownership.ledger_file import LedgerFile, read_ledger
from icecheck.reports.run_json import problems_of
from icecheck.run.output import FORMATS
from icecheck.targets.target import Target
from icecheck.targets.unwritable import Unwritable

REPORT = {*FORMATS, "exchanges.jsonl.zst", "run.invalid.json", "error.txt"}
CHECKS = ["--only", "checks", "--check", "createTable.*", "--check", "renameTable.*"]
FOREIGN = {"notes.md": "mine", "data.json": "{}", "run.json.bak": "{}", "ledger.csv": "1"}


@pytest.fixture
def mock() -> Iterator[MockCatalog]:
    with MockCatalog(warehouses=["wh"], token="t") as catalog:
        yield catalog


def left_on(mock: MockCatalog) -> list[object]:
    return [path for path, _ in mock.state("wh").namespaces.after()]


@pytest.fixture
def used(tmp_path: Path) -> Path:
    """An output directory with the report of an earlier run, and files of the user's."""
    out = tmp_path / "out"
    out.mkdir()
    for name in REPORT:
        (out / name).write_text(f'"green": "{name}"')
    (out / "run.json.partial").write_text("half")
    for name, text in FOREIGN.items():
        (out / name).write_text(text)
    return out


def files_of(out: Path) -> set[str]:
    return {path.name for path in out.iterdir()}


def expect_foreign_files(out: Path) -> None:
    assert {name: (out / name).read_text() for name in FOREIGN} == FOREIGN


def kill_when_busy(command: list[str], mock: MockCatalog, cwd: Path) -> None:
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=cwd
    )
    deadline = time.monotonic() + 120
    while mock.journal.count("createTable") < 3 and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.returncode == -signal.SIGKILL


def test_a_killed_run_leaves_no_report_of_an_earlier_one(mock: MockCatalog, used: Path) -> None:
    command = [sys.executable, "-m", "icecheck", "run", mock.uri, "--warehouse", "wh"]
    command += ["--token", "t", "--output", str(used), *CHECKS]
    kill_when_busy(command, mock, used.parent)
    assert REPORT.isdisjoint(files_of(used))
    assert "run.json.partial" not in files_of(used)
    assert (used / "run.json.earlier").read_text() == '"green": "run.json"'
    assert "ledger.jsonl" in files_of(used)
    expect_foreign_files(used)


@pytest.mark.complete("a killed command is usual")
def test_a_killed_pytest_leaves_no_report_of_an_earlier_one(mock: MockCatalog, used: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-p", "no:randomly", "-p", "no:cacheprovider"]
    command += ["--pyargs", "icecheck.conformance", "-k", "create_table or rename"]
    command += ["--catalog-url", mock.uri, "--catalog-warehouse", "wh", "--catalog-token", "t"]
    command += ["--conformance-report", str(used)]
    kill_when_busy(command, mock, used.parent)
    assert REPORT.isdisjoint(files_of(used))
    expect_foreign_files(used)


def invoked(*arguments: str):
    return CliRunner().invoke(main, ["run", *arguments])


def on(mock: MockCatalog, out: Path) -> tuple[str, ...]:
    target = (mock.uri, "--warehouse", "wh", "--token", "t")
    return (*target, "--output", str(out), "-q", *CHECKS)


def test_the_next_whole_report_takes_the_place_of_what_was_put_aside(
    mock: MockCatalog, used: Path
) -> None:
    assert invoked(*on(mock, used)).exit_code == 0
    assert {*FORMATS, "exchanges.jsonl.zst", *FOREIGN} == files_of(used)
    expect_foreign_files(used)


def test_a_target_that_cannot_be_used_leaves_no_green_report(used: Path) -> None:
    ended = invoked("http://127.0.0.1:1", "--timeout", "1", "--output", str(used))
    assert ended.exit_code == 4
    assert {*FORMATS, "exchanges.jsonl.zst", *FOREIGN} == files_of(used)
    assert '"no-verdict"' in (used / "run.json").read_text()
    expect_foreign_files(used)


def test_a_misuse_leaves_the_report_as_it_was(mock: MockCatalog, used: Path) -> None:
    ended = invoked(*on(mock, used), "--check", "no-such-check")
    assert ended.exit_code == 2
    assert {*REPORT, *FOREIGN} <= files_of(used)
    assert (used / "run.json").read_text() == '"green": "run.json"'


# ---- no room


def full(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class Full:
    """A write that works so many times, and then there is no room."""

    def __init__(self, write, times: int, half: bool = False) -> None:
        self.write, self.left, self.half = write, times, half

    def __call__(self, handle, data):
        self.left -= 1
        if self.left >= 0:
            return self.write(handle, data)
        if self.half:
            return self.write(handle, data[: len(data) // 2])
        return full()


def expect_told(ended, mock: MockCatalog, path: Path) -> None:
    """One line that names the file, an exit code of its own, and nothing left on the catalog."""
    assert ended.exit_code == 3
    assert ended.stderr.count("\n") == 1
    assert str(path) in ended.stderr
    assert "internal error" not in ended.output + ended.stderr
    assert left_on(mock) == []


def expect_report_of_what_was_judged(out: Path, path: Path) -> dict[str, Any]:
    """A whole report without the exchanges, which says that there was no room."""
    assert files_of(out) - {"ledger.jsonl"} - FOREIGN.keys() == {*FORMATS}
    run = json.loads((out / "run.json").read_text())
    assert problems_of((out / "run.json").read_text()) == []
    assert (run["complete"], run["artifacts"]) == (False, [])
    assert run["verdict"]["exit_code"] == 3
    assert run["verdict"]["exit_reason"] == "no-room"
    assert run["verdict"]["status"] not in {"conformant", "conformant-with-warnings"}
    why = run["verdict"]["headline"]
    assert why.startswith(f"{path} cannot be written (No space left on device): make room")
    assert "; the exchanges were not kept; until then " in why
    assert "no-room" in (out / "junit.xml").read_text()
    assert "No space left on device" in (out / "index.html").read_text()
    return run


@pytest.mark.parametrize("half", [False, True], ids=["nothing", "half a line"])
@pytest.mark.parametrize("workers", ["1", "3"])
def test_a_full_disk_under_the_ledger_ends_the_run_in_one_line_and_a_report(
    mock: MockCatalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: str, half: bool
) -> None:
    monkeypatch.setattr("icecheck.ownership.ledger_file.os.write", Full(os.write, 60, half=half))
    ended = invoked(*on(mock, tmp_path / "out"), "-n", workers)
    monkeypatch.undo()
    # What was struck out and could not be written so is still named, and gone.
    ended.stderr_bytes = ended.stderr_bytes.splitlines(keepends=True)[0]
    expect_told(ended, mock, tmp_path / "out" / "ledger.jsonl")
    run = expect_report_of_what_was_judged(tmp_path / "out", tmp_path / "out" / "ledger.jsonl")
    judged = [v for v in run["checks"] if not v["passive"]]
    assert 0 < len(judged) < run["suite"]["checks_total"]


def test_a_full_disk_before_the_first_check_is_reported_too(
    mock: MockCatalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("icecheck.ownership.ledger_file.os.write", Full(os.write, 2))
    ended = invoked(*on(mock, tmp_path / "out"))
    monkeypatch.undo()
    ended.stderr_bytes = ended.stderr_bytes.splitlines(keepends=True)[0]
    expect_told(ended, mock, tmp_path / "out" / "ledger.jsonl")
    run = expect_report_of_what_was_judged(tmp_path / "out", tmp_path / "out" / "ledger.jsonl")
    assert run["verdict"]["status"] == "no-verdict"
    assert run["preflight"]


class FullStream:
    """A stream that takes so many exchanges and no more, nor its own end."""

    def __init__(self, times: int) -> None:
        self.left = times

    def write(self, _: bytes) -> None:
        self.left -= 1
        if self.left < 0:
            full()

    def close(self) -> None:
        full()


@pytest.mark.parametrize("times", [0, 60, 100_000], ids=["at once", "later", "at the end"])
def test_a_full_disk_under_the_exchanges_leaves_a_report_without_them(
    mock: MockCatalog, used: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    class Compressor:
        def __init__(self, **_: object) -> None:
            self.stream_writer = lambda _: FullStream(times)

    monkeypatch.setattr("zstandard.ZstdCompressor", Compressor)
    ended = invoked(*on(mock, used))
    expect_told(ended, mock, used / "exchanges.jsonl.zst.partial")
    assert str(used / "index.html") in ended.output
    run = expect_report_of_what_was_judged(used, used / "exchanges.jsonl.zst.partial")
    judged = [v for v in run["checks"] if not v["passive"]]
    assert (len(judged) == run["suite"]["checks_total"]) == (times > 60)
    expect_foreign_files(used)


def test_a_full_disk_under_everything_leaves_the_line_alone(
    mock: MockCatalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Compressor:
        def __init__(self, **_: object) -> None:
            self.stream_writer = lambda _: FullStream(0)

    monkeypatch.setattr("zstandard.ZstdCompressor", Compressor)
    monkeypatch.setattr(Path, "write_bytes", full)
    ended = invoked(*on(mock, tmp_path / "out"))
    expect_told(ended, mock, tmp_path / "out")
    assert ended.stderr.endswith("; there is no report of this run\n")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", FORMATS)
def test_a_full_disk_under_the_report_ends_the_run_in_one_line(
    mock: MockCatalog, used: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    write = Path.write_bytes
    monkeypatch.setattr(
        Path, "write_bytes", lambda path, data: (full if name in path.name else write)(path, data)
    )
    ended = invoked(*on(mock, used))
    expect_told(ended, mock, used / name)
    assert ended.stderr.endswith("; there is no report of this run\n")
    assert "run.json" not in files_of(used)
    assert not any(each.endswith(".partial") for each in files_of(used))


def test_half_a_line_does_not_spoil_a_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ledger.jsonl"
    ledger = LedgerFile(path, "icecheck_r", Target("http://h"))
    one, two, three = (Entry("namespace", (f"icecheck_r_{n}",)) for n in range(3))
    ledger.made(one)
    monkeypatch.setattr("icecheck.ownership.ledger_file.os.write", Full(os.write, 0, half=True))
    with pytest.raises(Unwritable):
        ledger.made(two)
    ledger.gone(one)  # says nothing: it is looked at again when somebody cleans up
    monkeypatch.undo()
    ledger.made(three)
    ledger.close(keep=True)
    assert read_ledger(path).entries == (one, three)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full device")
def test_the_system_says_it_as_well(tmp_path: Path) -> None:
    """A device on which every write fails, in place of a disk."""
    from icecheck.reports.exchanges import ExchangeLog

    log = ExchangeLog(Path("/dev/full"))
    with pytest.raises(Unwritable, match="/dev/full"):
        log.close()
