"""`icecheck clean`: after a run was killed, exactly what it made is removed."""

import json
import signal
import subprocess
import sys
import time

import pytest

from icecheck.ledger import Entry
from icecheck.ledger_file import LEDGER_FILE, LedgerFile, read_ledger
from icecheck.mock_server import MockCatalog
from icecheck.target import Target, UsageError


@pytest.fixture
def mock():
    with MockCatalog(warehouses=["wh"], token="t") as catalog:
        yield catalog


def namespaces_of(mock):
    return {key for key, _ in mock.state("wh").namespaces.after()}


def killed_run(mock, out, run_id="dead1"):
    """A run in a process of its own, killed as soon as it has made some objects."""
    command = [sys.executable, "-m", "icecheck", "run", mock.uri, "--warehouse", "wh"]
    command += ["--token", "t", "--run-id", run_id, "--output", str(out), "--only", "checks"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if mock.journal.count("createTable") > 20:
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.returncode == -signal.SIGKILL


def test_a_killed_run_is_cleaned_up_and_its_neighbour_is_left_alone(icecheck, mock, tmp_path):
    client = mock.pyiceberg("wh", in_process=True)
    for neighbour in ("icecheck_dead", "icecheck_dead1x_other", "sales"):
        client.create_namespace(neighbour)
    neighbours = namespaces_of(mock)
    killed_run(mock, tmp_path / "out")
    assert namespaces_of(mock) > neighbours
    ledger = tmp_path / "out" / LEDGER_FILE
    given = ("--warehouse", "wh", "--token", "t", "--ledger", str(ledger))
    result = icecheck("clean", mock.uri, *given)
    assert result.exit_code == 0, result.output
    assert "0 stay" in result.output
    assert namespaces_of(mock) == neighbours
    assert not ledger.exists()


def test_a_run_that_ends_leaves_no_ledger(icecheck, mock, tmp_path):
    few = ("--only", "checks", "--check", "createTable.*", "--output", str(tmp_path / "out"))
    result = icecheck("run", mock.uri, "--warehouse", "wh", "--token", "t", *few)
    assert result.exit_code == 0, result.output
    assert not (tmp_path / "out" / LEDGER_FILE).exists()


def test_a_name_without_the_runs_token_is_never_touched(icecheck, mock, tmp_path):
    mock.pyiceberg("wh", in_process=True).create_namespace("sales")
    ledger = LedgerFile(tmp_path / "forged.jsonl", "icecheck_dead1", Target(mock.uri))
    ledger.made(Entry("namespace", ("sales",)))
    ledger.close(keep=True)
    given = ("--warehouse", "wh", "--token", "t", "--ledger", str(ledger.path))
    result = icecheck("clean", mock.uri, *given)
    assert result.exit_code == 6
    assert "still there: namespace sales" in result.output
    assert ("sales",) in namespaces_of(mock)


def test_what_is_gone_already_is_counted_and_nothing_else_happens(icecheck, mock, tmp_path):
    ledger = LedgerFile(tmp_path / LEDGER_FILE, "icecheck_dead1", Target(mock.uri, warehouse="wh"))
    ledger.made(Entry("namespace", ("icecheck_dead1_1",)))
    ledger.close(keep=True)
    result = icecheck("clean", mock.uri, "--token", "t", "--ledger", str(ledger.path))
    assert result.exit_code == 0, result.output
    assert "1 were gone" in result.output


@pytest.mark.parametrize(
    "content",
    [b"", b"{}\n", b"[1]\n", b"not json\n", b'{"format": "icecheck-ledger/1"}\n', b"\xff\xfe"],
    ids=repr,
)
def test_a_file_that_is_no_ledger_is_one_line(icecheck, mock, tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    result = icecheck("clean", mock.uri, "--ledger", str(path))
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1


def test_the_ledger_of_another_catalog_is_refused(icecheck, mock, tmp_path):
    target = Target("http://elsewhere.test")
    LedgerFile(tmp_path / LEDGER_FILE, "icecheck_dead1", target).close(keep=True)
    result = icecheck("clean", mock.uri, "--ledger", str(tmp_path / LEDGER_FILE))
    assert result.exit_code == 2
    assert "http://elsewhere.test" in result.stderr


def test_a_last_line_that_was_cut_off_is_passed_over(tmp_path):
    ledger = LedgerFile(tmp_path / LEDGER_FILE, "icecheck_r1", Target("http://a.test"))
    first, second = Entry("namespace", ("icecheck_r1",)), Entry("table", ("icecheck_r1",), "t")
    ledger.made(first)
    ledger.made(second)
    ledger.gone(second)
    ledger.close(keep=True)
    with ledger.path.open("ab") as file:
        file.write(b'{"made": ["table", ["icech')
    written = read_ledger(ledger.path)
    assert (written.run_id, written.entries) == ("r1", (first,))


def test_a_line_that_is_broken_in_the_middle_is_an_error(tmp_path):
    ledger = LedgerFile(tmp_path / LEDGER_FILE, "icecheck_r1", Target("http://a.test"))
    ledger.close(keep=True)
    with ledger.path.open("ab") as file:
        file.write(b"{\n" + json.dumps({"made": ["namespace", ["x"], ""]}).encode() + b"\n")
    with pytest.raises(UsageError):
        read_ledger(ledger.path)
