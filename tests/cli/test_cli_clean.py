"""`icecheck clean`: after a run was killed, exactly what it made is removed."""

import json
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.defects.kit.rewriting import alter_body, answer_status, forget_effect
from icecheck.ownership.ledger import Entry, Ledger
from icecheck.ownership.ledger_file import LEDGER_FILE, LedgerFile, read_ledger
from icecheck.run.closing import residue_lines
from icecheck.targets.target import Target, UsageError
from tests.kit.finished_runs import finished


@pytest.fixture
def mock():
    with MockCatalog(warehouses=["wh"], token="t") as catalog:
        yield catalog


def namespaces_of(mock):
    return {key for key, _ in mock.state("wh").namespaces.after()}


def killed_run(mock, out, workers, run_id="dead1"):
    """A run in a process of its own, killed as soon as it has made some objects of every kind."""
    command = [sys.executable, "-m", "icecheck", "run", mock.uri, "--warehouse", "wh"]
    command += ["--token", "t", "--run-id", run_id, "--output", str(out), "--only", "checks"]
    command += ["-n", workers, "--check", "view*", "--check", "createView.*"]
    command += ["--check", "renameTable.*"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        left = namespaces_of(mock)
        tables, views = (holding(mock, left, kind) for kind in ("tables", "views"))
        if mock.journal.count("createView") > 10 and tables and views:
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.returncode == -signal.SIGKILL


def holding(mock, namespaces, kind):
    """The tables, or views, in these namespaces."""
    state = mock.state("wh").namespaces
    entries = {path: state.get(path) for path in namespaces}
    return [(*p, name) for p, e in entries.items() if e for name, _ in getattr(e, kind).after()]


def with_a_table_and_a_view(mock, namespaces):
    """Namespaces of somebody else, with a table and a view in each."""
    schema = {"type": "struct", "schema-id": 0, "fields": []}
    version = {
        "version-id": 1,
        "timestamp-ms": 1,
        "schema-id": 0,
        "summary": {},
        "default-namespace": [],
        "representations": [{"type": "sql", "sql": "select 1", "dialect": "spark"}],
    }
    view = {"schema": schema, "view-version": version, "properties": {}}
    with httpx.Client(base_url=f"{mock.uri}/v1/wh", headers={"Authorization": "Bearer t"}) as http:
        for name in namespaces:
            http.post("/namespaces", json={"namespace": [name]}).raise_for_status()
            where, table = f"/namespaces/{name}", {"name": f"{name}_table", "schema": schema}
            http.post(f"{where}/tables", json=table).raise_for_status()
            view |= {"name": f"{name}_view"}
            http.post(f"{where}/views", json=view).raise_for_status()


@pytest.mark.parametrize("workers", ["1", "4"])
def test_a_killed_run_is_cleaned_up_and_its_neighbour_is_left_alone(
    icecheck, mock, tmp_path, workers
):
    mock.pyiceberg("wh", in_process=True)  # opens the warehouse
    with_a_table_and_a_view(mock, ("icecheck_dead", "icecheck_dead1x_other", "sales"))
    before, neighbours = mock.state("wh"), namespaces_of(mock)
    killed_run(mock, tmp_path / "out", workers)
    assert namespaces_of(mock) > neighbours
    ledger = tmp_path / "out" / LEDGER_FILE
    given = ("--warehouse", "wh", "--token", "t", "--ledger", str(ledger))
    result = icecheck("clean", mock.uri, *given)
    assert result.exit_code == 0, result.output
    assert "0 stay" in result.output
    assert namespaces_of(mock) == neighbours
    for path in neighbours:
        assert mock.state("wh").namespaces.get(path) is before.namespaces.get(path)
    assert not ledger.exists()


def test_a_run_that_ends_leaves_no_ledger(icecheck, mock, tmp_path):
    few = ("--only", "checks", "--check", "createTable.*", "--output", str(tmp_path / "out"))
    result = icecheck("run", mock.uri, "--warehouse", "wh", "--token", "t", *few)
    assert result.exit_code == 0, result.output
    assert not (tmp_path / "out" / LEDGER_FILE).exists()


@pytest.mark.parametrize("name", ["sales", "icecheck_dead", "icecheck_dead1x_other"])
def test_a_name_without_the_runs_token_is_never_touched(icecheck, mock, tmp_path, name):
    mock.pyiceberg("wh", in_process=True).create_namespace(name)
    ledger = LedgerFile(tmp_path / "forged.jsonl", "icecheck_dead1", Target(mock.uri))
    ledger.made(Entry("namespace", (name,)))
    ledger.close(keep=True)
    given = ("--warehouse", "wh", "--token", "t", "--ledger", str(ledger.path))
    result = icecheck("clean", mock.uri, *given)
    assert result.exit_code == 6
    assert f"still there: namespace {name}" in result.output
    assert (name,) in namespaces_of(mock)


@pytest.mark.parametrize(("name", "stays"), [("sales_dead12_1", False), ("sales_dead123_1", True)])
def test_names_of_a_pattern_are_cleaned_by_that_pattern(icecheck, mock, tmp_path, name, stays):
    mock.pyiceberg("wh", in_process=True).create_namespace(name)
    target = Target(mock.uri, warehouse="wh", name_pattern="sales_{run}")
    ledger = LedgerFile(tmp_path / "ledger.jsonl", target.owner("dead12"), target)
    ledger.made(Entry("namespace", (name,)))
    ledger.close(keep=True)
    assert read_ledger(ledger.path).run_id == "dead12"
    given = ("clean", mock.uri, "--token", "t", "--ledger", str(ledger.path))
    without = icecheck(*given)
    assert without.exit_code == 2
    assert "--name-pattern 'sales_{run}'" in without.output
    assert (name,) in namespaces_of(mock)
    result = icecheck(*given, "--name-pattern", "sales_{run}")
    assert result.exit_code == (6 if stays else 0), result.output
    assert ((name,) in namespaces_of(mock)) is stays


def test_a_forged_ledger_cannot_call_any_name_a_runs_own(icecheck, mock, tmp_path):
    mock.pyiceberg("wh", in_process=True).create_namespace("analytics")
    target = Target(mock.uri, warehouse="wh")
    ledger = LedgerFile(tmp_path / "ledger.jsonl", "icecheck_dead12", target)
    ledger.made(Entry("namespace", ("analytics",)))
    ledger.close(keep=True)
    first, rest = ledger.path.read_text(encoding="utf-8").split("\n", 1)
    forged = json.loads(first) | {"owner": "analytics", "name-pattern": "analytic{run}"}
    ledger.path.write_text(f"{json.dumps(forged)}\n{rest}", encoding="utf-8")
    given = ("clean", mock.uri, "--token", "t", "--ledger", str(ledger.path))
    for pattern in ((), ("--name-pattern", "analytic{run}")):
        assert icecheck(*given, *pattern).exit_code == 2
    assert ("analytics",) in namespaces_of(mock)


def test_each_object_is_looked_at_before_it_is_removed(icecheck, mock, tmp_path):
    mock.pyiceberg("wh", in_process=True)
    killed_run(mock, tmp_path / "out", "1")
    mock.journal.clear()
    given = ("--warehouse", "wh", "--token", "t", "--ledger", tmp_path / "out" / LEDGER_FILE)
    assert icecheck("clean", mock.uri, *given).exit_code == 0
    looked, removed = set(), []
    for entry in mock.journal.find():
        if entry.method == "GET":
            looked.add(entry.path)
        elif entry.method == "DELETE":
            removed.append((entry.path, entry.path in looked))
    assert removed
    assert all(was_looked_at for _, was_looked_at in removed)


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


def test_who_is_refused_does_not_strike_out_what_another_check_has_made(tmp_path):
    file = LedgerFile(tmp_path / LEDGER_FILE, "icecheck_r1", Target("http://a.test"))
    table = Entry("table", ("icecheck_r1",), "t")
    first, second = Ledger("icecheck_r1", file), Ledger("icecheck_r1", file)
    first.add(table)
    second.add(table)
    second.forget(table, deleted=False)
    assert read_ledger(file.path).entries == (table,)
    first.forget(table, deleted=True)
    assert read_ledger(file.path).entries == ()
    file.close(keep=False)


def test_a_line_that_is_broken_in_the_middle_is_an_error(tmp_path):
    ledger = LedgerFile(tmp_path / LEDGER_FILE, "icecheck_r1", Target("http://a.test"))
    ledger.close(keep=True)
    with ledger.path.open("ab") as file:
        file.write(b"{\n" + json.dumps({"made": ["namespace", ["x"], ""]}).encode() + b"\n")
    with pytest.raises(UsageError):
        read_ledger(ledger.path)


def test_a_namespace_that_names_another_owner_is_left_alone(icecheck, mock, tmp_path):
    def root(owner):
        properties = {"namespace": ["icecheck_dead1"], "properties": {"icecheck.run": owner}}
        with httpx.Client(headers={"Authorization": "Bearer t"}) as http:
            http.post(f"{mock.uri}/v1/wh/namespaces", json=properties).raise_for_status()

    for owner, code in (("icecheck_other", 6), ("icecheck_dead1", 0)):
        target = Target(mock.uri, warehouse="wh", prefix="wh")
        ledger = LedgerFile(tmp_path / LEDGER_FILE, "icecheck_dead1", target)
        ledger.made(Entry("namespace", ("icecheck_dead1",)))
        ledger.close(keep=True)
        root(owner)
        ended = icecheck("clean", mock.uri, "--token", "t", "--ledger", str(tmp_path / LEDGER_FILE))
        assert ended.exit_code == code, ended.output
        assert (("icecheck_dead1",) in namespaces_of(mock)) is (code == 6)
        mock.reset("wh")


@pytest.mark.parametrize("body", [None, [], {"namespace": ["x"], "properties": 5}])
def test_a_load_that_breaks_its_schema_keeps_nothing_from_being_removed(
    icecheck, mock, tmp_path, body
):
    with_a_table_and_a_view(mock, ["icecheck_dead1"])
    ledger = LedgerFile(
        tmp_path / LEDGER_FILE, "icecheck_dead1", Target(mock.uri, warehouse="wh", prefix="wh")
    )
    ledger.made(Entry("namespace", ("icecheck_dead1",)))
    for kind in ("table", "view"):
        ledger.made(Entry(kind, ("icecheck_dead1",), f"icecheck_dead1_{kind}"))
    ledger.close(keep=True)
    for loads in ("loadNamespaceMetadata", "loadTable"):
        alter_body(mock.registries, loads, lambda _: body)
    ended = icecheck("clean", mock.uri, "--token", "t", "--ledger", str(tmp_path / LEDGER_FILE))
    assert ended.exit_code == 0, ended.output
    assert namespaces_of(mock) == set()


def test_the_ledger_of_an_earlier_run_is_not_written_over(tmp_path):
    path = tmp_path / LEDGER_FILE
    first = LedgerFile(path, "icecheck_one", Target("http://h"))
    first.made(Entry("namespace", ("icecheck_one",)))
    first.close(keep=True)
    LedgerFile(path, "icecheck_two", Target("http://h")).close(keep=False)
    (left,) = tmp_path.iterdir()
    assert read_ledger(left).entries == (Entry("namespace", ("icecheck_one",)),)


def test_a_run_that_cannot_begin_says_last_how_to_remove_what_it_has_made(icecheck, tmp_path):
    with MockCatalog(token="t") as mock:
        answer_status(mock.registries, "dropTable", 405)
        forget_effect(mock.registries, "dropTable")
        given = ["--only", "checks", "--token", "t", "--run-id", "left1", "--output", "out of it"]
        result = icecheck("run", mock.uri, *given)
        assert result.exit_code == 4, result.output
        said, last = result.stderr.splitlines()
        assert "--accept-residue" in said
        _, _, command = last.partition("icecheck clean ")
        assert shlex.split(command) == [mock.uri, "--ledger", "out of it/ledger.jsonl"]
        left = read_ledger(tmp_path / "out of it" / LEDGER_FILE).entries
        assert left
        assert f"{len(left)} objects" in last
        # A run that has made nothing does not speak of what another one has left.
        other = icecheck("run", mock.uri, "--only", "checks", "--output", "out of it")
        assert other.exit_code == 4
        assert len(other.stderr.splitlines()) == 1


def test_a_run_that_leaves_something_says_so_in_its_last_line(icecheck):
    with MockCatalog(token="t") as mock:
        forget_effect(mock.registries, "dropView")
        given = ["--token", "t", "--only", "checks", "--check", "createView.succeeds"]
        result = icecheck("run", mock.uri, *given)
        last = result.stdout.splitlines()[-1]
        assert last.startswith("left behind on the catalog: ")
        assert last.endswith(f"icecheck clean {mock.uri} --ledger icecheck-report/ledger.jsonl")


def test_what_is_left_is_named_with_each_ledger_that_there_is():
    run = finished(residue=("table a.b",))
    (bare,) = residue_lines(run, [])
    assert bare == "left behind on the catalog: table a.b (1 in all)"
    of_workers = [Path("out/gw0.ledger.jsonl"), Path("out/gw1.ledger.jsonl")]
    told = residue_lines(run, of_workers)
    assert [line.rpartition("--ledger ")[2] for line in told] == [str(path) for path in of_workers]
    assert all(line.startswith(bare) and "http://catalog.test" in line for line in told)
    assert residue_lines(finished(), of_workers) == []
