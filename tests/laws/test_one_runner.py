"""`icecheck run` and pytest are one runner: on the same catalog they give the same report."""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from icecheck.findings.verdict import Group
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.core.context import Outcome
from icecheck.mock_server.defects import defects
from icecheck.mock_server.defects.kit.rewriting import alter_body
from icecheck.mock_server.protocol.problem import Problem
from icecheck.reports import run_json
from icecheck.run.collect import collect
from icecheck.run.options import RunOptions
from icecheck.run.output import FORMATS
from icecheck.run.runner import run_as_far_as_possible
from icecheck.targets.target import Target
from tests.kill.killing import MODULES
from tests.kit.contracts import CONTRACT
from tests.kit.serving import Sent, gateway
from tests.kit.shares import some
from tests.laws.test_faithful import CREDENTIAL, WAREHOUSE, faithful

SECONDS_MAX = 300
ALONE = ("-p", "no:randomly", "-p", "no:xdist")
PAGES = 12
LOGIN_PAGE = (200, {"content-type": "text/html"}, b"<html><body>Please log in</body></html>")
ADDRESS = re.compile(r"(http://(127\.0\.0\.1|localhost):\d+|file:[^\s\"\\]*)")
OF_ONE_RUN = frozenset({"duration_ms", "started_ms", "exchanges"})
Document = dict[str, Any]


class Case(NamedTuple):
    """A catalog, and the modules of checks that are judged on it.

    ``serve`` gives the URL of a mock that is or is not faithful; ``spec`` is the document's
    version.
    """

    modules: tuple[str, ...]
    serve: Callable[[], Any]
    spec: str = "1.10.0"


@contextmanager
def served(*, prepare: Callable[[MockCatalog], None] = lambda _: None) -> Iterator[str]:
    with faithful() as mock:
        prepare(mock)
        yield mock.uri


def with_defects(*names: str) -> Callable[[], Any]:
    def prepare(mock: MockCatalog) -> None:
        for name in names:
            defects()[name].install(mock.registries)

    return lambda: served(prepare=prepare)


def _teapot(context: object, state: object, call: object) -> Outcome:
    raise Problem(418, "TeapotException", "not today")


def no_metrics(mock: MockCatalog) -> None:
    mock.registries.operations["reportMetrics"] = _teapot


def without_metrics() -> Any:
    """Return a catalog that does not claim metrics, but accepts them."""

    def unlisted(body: Document) -> Document:
        return body | {"endpoints": [e for e in body["endpoints"] if not e.endswith("/metrics")]}

    return served(prepare=lambda mock: alter_body(mock.registries, "getConfig", unlisted))


def first_answer_malformed() -> Any:
    """Answer the first creation of a namespace, which no check sends, without the name."""

    def prepare(mock: MockCatalog) -> None:
        made: list[None] = []

        def once(body: Document) -> Document:
            made.append(None)
            return {} if len(made) == 1 else body

        alter_body(mock.registries, "createNamespace", once)
        mock.registries.operations["listNamespaces"] = _teapot

    return served(prepare=prepare)


def nothing_works() -> Any:
    """Return a catalog that lacks what every check needs, so that each one is blocked."""

    def prepare(mock: MockCatalog) -> None:
        def unlisted(body: Document) -> Document:
            left = [e for e in body["endpoints"] if not e.startswith("HEAD")]
            return body | {"endpoints": left}

        alter_body(mock.registries, "getConfig", unlisted)
        mock.registries.operations["createTable"] = _teapot

    return served(prepare=prepare)


@contextmanager
def behind_a_login() -> Iterator[str]:
    """Answer with a login page for a while from the first HEAD on, and again at the last look.

    The run recognises the catalog by the request that it sends before it lists namespaces.
    """
    lock = threading.Lock()
    pages, looks, last, witness = 0, 0, "", ""

    def allows(sent: Sent) -> bool:
        nonlocal pages, looks, last, witness
        with lock:
            if 0 < pages < PAGES or (sent.method == "HEAD" and not pages):
                pages += 1
                if sent.path.partition("?")[0].endswith("/namespaces"):
                    witness = witness or last
                last = sent.path
                return False
            looks += pages == PAGES and (sent.method, sent.path) == ("GET", witness)
            return looks < 2 or sent.path != witness

    with faithful() as mock, gateway(mock, allows, otherwise=LOGIN_PAGE) as url:
        yield url


CASES = {
    "faithful": Case(("test_metrics", "test_register"), served),
    "faithful, another release": Case(("test_credentials", "test_metrics"), served, spec="1.6.0"),
    "register-overwrite-ignored": Case(
        ("test_metrics", "test_register"), with_defects("register-overwrite-ignored")
    ),
    "namespace-drop-cascades": Case(("test_namespaces",), with_defects("namespace-drop-cascades")),
    "not claimed and served": Case(("test_config", "test_metrics"), without_metrics),
    "not claimed, its check is not demanded": Case(
        ("test_config", "test_credentials"), without_metrics, spec="1.6.0"
    ),
    "everything is blocked": Case(("test_metrics", "test_tables_staged"), nothing_works),
    "only what a probe was answered is malformed": Case(("test_listing",), first_answer_malformed),
    "a login page for a while": Case(("test_namespaces",), behind_a_login),
}


def by_command_line(case: Case, *, fail_fast: bool = False) -> Document:
    """Return the report of the runner of the command line, in this process."""
    modules = {MODULES[name] for name in case.modules}
    chosen = [c for c in collect(tuple(Group), CONTRACT) if c.function.__module__ in modules]
    with case.serve() as url:
        options = RunOptions(
            Target(url, warehouse=WAREHOUSE, credential=CREDENTIAL),
            run_id="law",
            groups=tuple(group for group in Group if any(c.group is group for c in chosen)),
            globs=tuple(check.id for check in chosen),
            spec=case.spec,
            fail_fast=fail_fast,
        )
        run = run_as_far_as_possible(options).run
    document: Document = json.loads(run_json.render(run))
    return document


def pytest_on(case: Case, directory: Path, how: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run the same checks under pytest, in its own process; its report is in ``report``."""
    with case.serve() as url:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *how, "--pyargs"]
        command += [MODULES[name] for name in case.modules]
        command += ["--catalog-url", url, "--catalog-warehouse", WAREHOUSE]
        command += ["--catalog-credential", CREDENTIAL, "--conformance-run-id", "law"]
        command += ["--conformance-spec", case.spec]
        command += ["--conformance-report", str(directory / "report")]
        return subprocess.run(
            command,
            cwd=directory,
            env=os.environ
            | {"PYTHONPATH": f"{directory}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"},
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
        )


def under_pytest(case: Case, directory: Path, how: Sequence[str]) -> Document:
    """Return the report that the checks leave under pytest."""
    done = pytest_on(case, directory, how)
    page = directory / "report" / "run.json"
    assert page.is_file(), done.stdout[-4000:] + done.stderr[-2000:]
    document: Document = json.loads(page.read_text(encoding="utf-8"))
    return document


def said_of(document: Document) -> Document:
    """Return a report's statements on the catalog by their names, without times and addresses."""
    document = json.loads(ADDRESS.sub("http://catalog", json.dumps(document)))
    said: Document = {"complete": document["complete"]}
    for member in ("verdict", "totals"):
        said |= {f"{member}.{name}": value for name, value in document[member].items()}
    for member in ("causes", "profiles", "capabilities", "observations", "requirements"):
        said |= {f"{member} {row['id']}": row for row in document[member]}
    for check in document["checks"]:
        said[check["id"]] = {k: v for k, v in check.items() if k not in OF_ONE_RUN}
    said["checks_total"] = document["suite"]["checks_total"]
    said["groups"] = document["config"]["groups"]
    said["left"] = [document["safety"][name] for name in ("created", "deleted", "residue")]
    return said


def without_names(said: Document) -> Document:
    """Return the statements without names of objects and without the number of probes."""
    named = {"summary", "reproduce", "assertions"}
    kept = {key: value for key, value in said.items() if key != "left"}
    return {
        key: {k: v for k, v in value.items() if k not in named}
        if isinstance(value, dict)
        else value
        for key, value in kept.items()
    }


def differences(expected: Document, found: Document) -> Document:
    """Return the differences of two reports: member -> its two values."""
    return {
        name: (said, found.get(name)) for name, said in expected.items() if found.get(name) != said
    } | {name: (None, found[name]) for name in found.keys() - expected.keys()}


@pytest.mark.parametrize("name", some(CASES, 3))
def test_the_command_line_and_pytest_say_the_same(name: str, tmp_path: Path) -> None:
    expected = said_of(by_command_line(CASES[name]))
    found = said_of(under_pytest(CASES[name], tmp_path, ALONE))
    assert differences(expected, found) == {}


@pytest.mark.complete("test_plugin runs checks with two workers in the usual command")
@pytest.mark.usefixtures("other_plugins")
@pytest.mark.parametrize("how", [("-n", "2"), ("-p", "randomly", "-n", "1")], ids=" ".join)
def test_workers_and_their_order_change_nothing_but_names_and_probes(
    how: tuple[str, ...], tmp_path: Path
) -> None:
    """Each worker has its own root, whose name is in the names of its objects."""
    case = CASES["register-overwrite-ignored"]
    expected = without_names(said_of(by_command_line(case)))
    found = without_names(said_of(under_pytest(case, tmp_path, how)))
    assert differences(expected, found) == {}


def test_what_a_first_failure_leaves_unjudged_is_skipped_by_both(tmp_path: Path) -> None:
    case = Case(("test_metrics",), lambda: served(prepare=no_metrics))
    expected = said_of(by_command_line(case, fail_fast=True))
    found = said_of(under_pytest(case, tmp_path, (*ALONE, "-x")))
    assert found["reportMetrics.missing-table"]["outcome"] == "skip"
    assert differences(expected, found) == {}


@pytest.mark.complete("starts workers; one process is usual")
def test_a_worker_that_ends_at_a_first_failure_leaves_a_complete_run(tmp_path: Path) -> None:
    """A worker may still judge the checks that it was given before."""
    case = Case(("test_metrics",), lambda: served(prepare=no_metrics))
    found = under_pytest(case, tmp_path, ("-n", "1", "-x"))
    assert found["complete"] is True
    judged = [check for check in found["checks"] if not check["passive"]]
    assert len(judged) == found["suite"]["checks_total"]


@contextmanager
def views_beside_tables() -> Iterator[str]:
    """Give a view the name of a table: a SHOULD in 1.10.0, a MUST in 1.11.0."""
    with faithful(spec="1.11.0") as mock:
        defects()["createview-looks-at-no-table"].install(mock.registries)
        yield mock.uri


@pytest.mark.complete("two runs; the command line tells of several in the usual command")
@pytest.mark.parametrize("how", some([(ALONE,), (("-n", "2"),)], 2), ids=["alone", "workers"])
def test_pytest_tells_of_several_releases_too(how: tuple[str, ...], tmp_path: Path) -> None:
    case = Case(("test_view_names",), views_beside_tables, spec="1.10.0,1.11.0")
    spec = under_pytest(case, tmp_path, how)["spec"]
    assert spec["id"] == "iceberg-rest/1.11.0"
    (older,) = spec["beside"]
    assert [row["check"] for row in older["differs"]] == ["createView.table-in-the-way"]


@pytest.mark.complete("two runs; the command line finds it out in the usual command")
def test_pytest_finds_the_release_out_too(tmp_path: Path) -> None:
    case = Case(("test_metrics",), views_beside_tables, spec="auto")
    spec = under_pytest(case, tmp_path, ALONE)["spec"]
    assert spec["id"] == "iceberg-rest/1.11.0"
    assert "register-view" in spec["reason"]


def keeps_everything() -> Any:
    """Return a catalog that refuses to drop anything."""

    def prepare(mock: MockCatalog) -> None:
        for operation in ("dropTable", "dropNamespace"):
            mock.registries.operations[operation] = _teapot

    return served(prepare=prepare)


@pytest.mark.parametrize("how", some([(ALONE,), (("-n", "2"),)], 2), ids=["alone", "workers"])
def test_a_run_that_cannot_begin_is_reported_by_both_and_told_for_each_check(
    how: tuple[str, ...], tmp_path: Path
) -> None:
    case = Case(("test_metrics",), keeps_everything)
    expected = said_of(by_command_line(case))
    assert expected["verdict.exit_reason"] == "target-unusable"
    assert "still there" in expected["verdict.headline"]
    assert expected["complete"] is False
    done = pytest_on(case, tmp_path, how)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "--accept-residue" in done.stdout
    assert "Traceback" not in done.stdout
    assert "recording.py" not in done.stdout
    found = said_of(json.loads((tmp_path / "report" / "run.json").read_text(encoding="utf-8")))
    if how != ALONE:
        # Each worker has tried it on objects of its own.
        assert (found["verdict.status"], found["verdict.exit_code"]) == ("no-verdict", 4)
        assert found["checks_total"] == expected["checks_total"]
        return
    assert differences(expected, found) == {}


def test_a_drop_that_lies_is_told_by_both_in_the_headline(tmp_path: Path) -> None:
    case = Case(("test_metrics", "test_table_removal"), with_defects("drop-forgotten"))
    expected = said_of(by_command_line(case))
    assert "nothing else was judged" in expected["verdict.headline"]
    assert differences(expected, said_of(under_pytest(case, tmp_path, ALONE))) == {}


FULL_DISK = """
import errno, os
from icecheck.ownership import ledger_file

class Full:
    written = 0
    def __getattr__(self, name):
        return getattr(os, name)
    def write(self, file, data):
        self.written += 1
        if self.written > 12:
            raise OSError(errno.ENOSPC, "No space left on device")
        return os.write(file, data)

ledger_file.os = Full()
"""


@pytest.mark.complete("starts workers; a full disk ends the command in the usual command")
@pytest.mark.parametrize("how", some([(("-n", "1"),), (ALONE,)], 2), ids=["worker", "alone"])
def test_a_full_disk_ends_a_run_under_pytest_with_what_was_judged_until_then(
    how: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "full_disk.py").write_text(FULL_DISK, encoding="utf-8")
    case = Case(("test_metrics", "test_register"), served)
    done = pytest_on(case, tmp_path, ("-p", "full_disk", *how))
    assert done.returncode == pytest.ExitCode.INTERNAL_ERROR, done.stdout[-3000:]
    assert "ledger.jsonl cannot be written" in done.stdout
    assert "Traceback" not in done.stdout
    assert "INTERNALERROR" not in done.stdout
    report = tmp_path / "report"
    assert {path.name for path in report.iterdir() if "ledger" not in path.name} == {*FORMATS}
    run = json.loads((report / "run.json").read_text(encoding="utf-8"))
    told = {name: run["verdict"][name] for name in ("exit_code", "exit_reason")}
    assert told == {"exit_code": 3, "exit_reason": "no-room"}
    assert "ledger.jsonl cannot be written" in run["verdict"]["headline"]
    assert "the exchanges were not kept" in run["verdict"]["headline"]
