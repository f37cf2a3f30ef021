"""Each command shows the options that it uses, and no other: every one of them is seen to work."""

import contextlib
import json
import re
import shutil
import ssl
import threading
import zipfile
from functools import cache
from pathlib import Path

import click
import httpx
import pytest

import icecheck.client.doctor  # noqa: F401 - it keeps the new_run_id that it finds: not ours
from icecheck.bundles.bundle import Product
from icecheck.bundles.packing import pack
from icecheck.cli import main
from icecheck.cli.commands.spark import spark_matrix
from icecheck.findings.replay import KIND, VERSION
from icecheck.findings.verdict import Outcome
from icecheck.mock_server import (
    Client,
    MockCatalog,
    OAuth2Settings,
    Permissions,
    WarehouseDeclaration,
)
from icecheck.mock_server.defects import defects
from icecheck.ownership.ledger import Entry
from icecheck.ownership.ledger_file import LedgerFile
from icecheck.proxy.proxy import CatalogProxy
from icecheck.reports import run_json
from icecheck.reports.exchanges import ExchangeLog
from icecheck.scenarios.random import test_namespaces_and_tables as histories
from icecheck.scenarios.random.plans import Sizes
from icecheck.scenarios.random.test_namespaces_and_tables import CHECK
from icecheck.spark.unavailable import SparkUnavailable
from icecheck.targets.target import Target, UsageError
from icecheck.wire.connection import Connection
from icecheck.wire.transport import SocketTransport
from tests.cli.option_samples import sample_of
from tests.kit.findings import a_finding
from tests.kit.finished_runs import finished, verdict

TLS = ssl.create_default_context()  # reading the certificates takes longer than the requests
COMMANDS = tuple(main.list_commands(click.Context(main)))
CLIENTS = OAuth2Settings(
    clients=(
        Client("me", "secret"),
        Client("nobody", "secret", permissions=Permissions.nothing()),
    )
)
CATALOGS = {
    "plain": {},
    "reading": {},
    "oauth2": {"oauth2": CLIENTS, "token": "t"},
    "hiding": {"hidden": ("listViews",)},
    "keeping": {"hidden": ("loadNamespaceMetadata",)},
    "defective": {},
    "leading": {
        "warehouses": [WarehouseDeclaration("wh", overrides={"uri": "http://127.0.0.1:1"})]
    },
}


def parameters_of(command):
    found = main.get_command(click.Context(main), command)
    return [p.opts[-1] for p in found.params]


# What was seen without an option: many options are tried beside the same command.
WITHOUT = {}
SHOWN = [
    (command, option)
    for command in COMMANDS
    for option in parameters_of(command)
    if command != "explore" or option not in parameters_of("replay")
]
"""Those of explore that replay has too go the same way, and take longer to be seen there."""
ELSEWHERE = {
    ("explore", "--minutes"),  # long histories; test_cli_explore.py has minutes too
    ("run", "--fuzz-seconds"),  # requests for seconds; test_fuzzed_checks.py has them
    ("run", "--seed"),  # two runs that draw; test_determinism.py has seeds
    ("run", "--thorough"),  # ten thousand steps; test_scenario_plans.py has them
}
FIRST_SHOWN = {option: command for command, option in reversed(SHOWN)}


def _marks(command, option):
    if FIRST_SHOWN[option] != command:
        return pytest.mark.complete("another command with the same option")
    if (command, option) in ELSEWHERE:
        return pytest.mark.complete("takes seconds to be seen, and is used in another test too")
    if SHOWN.index((command, option)) % 2:
        return pytest.mark.complete("the usual command tries every second option")
    return ()


BY_TIER = [
    pytest.param(
        command,
        option,
        id=f"{command}-{option}",
        marks=_marks(command, option),
    )
    for command, option in SHOWN
]


def test_there_is_a_sample_for_every_option_that_is_shown():
    missing = [pair for pair in SHOWN if sample_of(*pair) is None]
    assert missing == []


@pytest.mark.parametrize(
    ("command", "absent"),
    [
        ("doctor", ("--isolation", "--disruptive", "--race-rounds", "--mock")),
        (
            "clean",
            ("--isolation", "--read-only", "--location-root", "--second-token", "--given-table"),
        ),
    ],
)
def test_an_option_of_another_command_is_neither_shown_nor_taken(icecheck, command, absent):
    shown = icecheck(command, "--help").stdout
    for option in absent:
        assert option not in shown
        refused = icecheck(command, "http://127.0.0.1:9", option, "x")
        assert refused.exit_code == 2


def test_explore_is_told_of_a_catalog_as_replay_is():
    theirs = {"file", "--check", "--output", "--run-id"}
    shared = set(parameters_of("replay")) - theirs
    assert shared <= set(parameters_of("explore"))


@pytest.mark.parametrize(("command", "option"), BY_TIER)
def test_every_option_that_is_shown_makes_a_difference(command, option, world):
    sample = sample_of(command, option)
    other = (command, (*sample.otherwise, *sample.beside), sample.catalog)
    if other not in WITHOUT:
        WITHOUT[other] = world(*other)
    without = WITHOUT[other]
    given = world(command, (*sample.given, *sample.beside), sample.catalog)
    assert given != without


@pytest.mark.parametrize(
    ("command", "arguments", "catalog"),
    [
        ("run", ("--check", "createTable.succeeds"), "plain"),
        ("run", ("--verbose", "--token", "t", "--check", "loadTable.*"), "oauth2"),
        ("plan", ("--check", "createTable.succeeds"), "plain"),
        ("doctor", ("--credential", "me:secret"), "oauth2"),
        ("doctor", ("--sigv4", "eu-west-1/execute-api"), "plain"),
        ("clean", (), "plain"),
        ("compare", ("passed", "failed"), "unnamed"),
        ("self-test", ("--defect", "namespace-drop-cascades"), "unnamed"),
        ("serve", ("--seed", "1"), "unnamed"),
    ],
)
def test_without_another_option_the_same_is_seen_twice(world, command, arguments, catalog):
    assert world(command, arguments, catalog) == world(command, arguments, catalog)


@pytest.fixture
def world(icecheck, tmp_path, monkeypatch):
    """Run a command in a directory of its own beside a mock of its own, and say what was seen."""
    seen = []
    watch(monkeypatch, seen)
    monkeypatch.setattr(histories, "THOROUGH", Sizes(2, 12, 13))  # the real ones take minutes
    monkeypatch.setenv("PYICEBERG_HOME", str(tmp_path))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")

    def look(command, arguments, catalog):
        settings = CATALOGS.get(catalog, {})
        if command == "explore" and catalog != "unnamed":
            settings = {"hidden": ("listTables",)}  # no history is drawn: that takes long
        with MockCatalog(seed=1, **settings) as mock:
            if catalog == "defective":
                defects()["namespace-drop-cascades"].install(mock.registries)
            prepare(tmp_path, mock)
            seen.clear()
            before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
            argv = typed(command, arguments, catalog, mock.uri)
            result = icecheck(*argv)
            told = "\n".join(filter(None, (result.stdout, result.stderr)))
            left = [p for p in tmp_path.rglob("*") if p.is_file()]
            new = {str(p): facts(p) for p in left if before.get(p) != p.read_bytes()}
            for path in tmp_path.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            everything = json.dumps([result.exit_code, told, sorted(map(str, seen)), new])
            assert "Traceback" not in everything
            return plain(everything, mock.uri, tmp_path)

    return look


TAKE_A_URL = {
    "run", "plan", "doctor", "clean", "replay", "explore", "spark-matrix", "pipeline", "proxy",
}  # fmt: skip


def typed(command, arguments, catalog, url):
    """Return what is typed: ``URL`` stands for the mock, which most commands are told at once."""
    given = [argument.replace("URL", url) for argument in arguments]
    if command in TAKE_A_URL and catalog != "unnamed":
        given.insert(0, url)
    if command == "replay":
        given = [*([] if "other.json" in given else ["kept.json"]), *given]
        given += [] if "--run-id" in given else ["--run-id", "r1"]
    if command == "explore":
        given += [] if "--minutes" in given else ["--minutes", "0"]
        given += [] if "--seed" in given else ["--seed", "1"]
    if command in {"run", "plan"}:
        chosen = {"--check", "--smoke", "--last-failed"} & set(given)
        given += [] if chosen or "spark" in given else ["--check", "getConfig.answered"]
        given += [] if "--run-id" in given else ["--run-id", "r1"]
    if command == "clean" and "--ledger" not in given:
        given += ["--ledger", "ledger.jsonl"]
    return [command, *given]


def watch(monkeypatch, seen):
    """Note every request, and what has no effect that could be waited for."""
    send = SocketTransport.handle_request

    def sent(self, request):
        body = request.read()
        limits = request.extensions.get("timeout")
        seen.append(
            (request.method, str(request.url), sorted(request.headers.items()), body, limits)
        )
        return send(self, request)

    monkeypatch.setattr(SocketTransport, "handle_request", sent)

    def run_one(wanted, _directory, options):  # the real one starts a process with Spark
        words = spark_matrix._words(click.get_current_context())
        seen.append((wanted.name, words, str(options["environments"])))
        raise SparkUnavailable("not tried")

    monkeypatch.setattr(spark_matrix, "_run_one", run_one)
    begin = Connection.__init__

    def begun(self, target, *more, **others):
        begin(self, target, *more, **others)
        seen.append(("pause", self._pace._interval_seconds))

    monkeypatch.setattr(Connection, "__init__", begun)
    start = threading.Thread.start

    def started(self):
        if threading.current_thread() is threading.main_thread():
            seen.append(("thread",))
        start(self)

    monkeypatch.setattr(threading.Thread, "start", started)

    def found(*arguments, **named):
        raise UsageError(f"Spark is asked for with {arguments} {named}")

    monkeypatch.setattr("icecheck.spark.find_installation", found)
    monkeypatch.setattr("icecheck.cli.commands.run.require_spark", lambda: None)

    for module in ("cli.commands.explore", "run.replays.exploring", "targets.target"):
        monkeypatch.setattr(f"icecheck.{module}.new_run_id", lambda: "r1", raising=False)
    watch_serving(monkeypatch, seen)


def watch_serving(monkeypatch, seen):
    """Note how the mock is made, and end it as soon as it is ready."""
    make = MockCatalog.__init__

    def made(self, **settings):
        if "host" in settings:
            seen.append(sorted((name, repr(value)) for name, value in settings.items()))
        make(self, **settings)

    def served(mock, ready):
        with mock:
            ready(mock)

    def failing(self, rule):
        seen.append(("fault", rule))

    proxied = CatalogProxy.__init__

    def before(self, options, record, **settings):
        seen.append((repr(options.target), sorted(settings.items())))
        proxied(self, options, record, **settings)

    monkeypatch.setattr(CatalogProxy, "__init__", before)
    monkeypatch.setattr(CatalogProxy, "start", lambda _: None)
    monkeypatch.setattr(CatalogProxy, "uri", "http://proxy")
    told = "icecheck.mock_server.http.foreground.until_told_to_stop"
    monkeypatch.setattr(told, lambda: contextlib.nullcontext(lambda: None))
    monkeypatch.setattr(MockCatalog, "__init__", made)
    monkeypatch.setattr(MockCatalog, "serve_forever", served)
    monkeypatch.setattr("icecheck.mock_server.serving.faults.Faults.add", failing)
    monkeypatch.setattr(
        "icecheck.mock_server.defects.switching.DefectSwitches.switch_on",
        lambda _, *names: seen.append(names),
    )


def facts(path):
    """Return what a file that a command wrote says, apart from how the command was typed."""
    if path.name == "run.json":
        document = json.loads(path.read_text())
        del document["config"]["command"], document["target"]["fingerprint"]
        for check in document["checks"]:
            del check["duration_ms"], check["started_ms"], check["exchanges"]
        told = ("config", "target", "totals", "checks", "suite")
        return json.dumps({name: document[name] for name in told})
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            manifest = json.loads(archive.read("manifest.json"))
        return json.dumps([manifest["product"], manifest["members"]])
    return "file"


def plain(text, url, directory):
    """Leave out what differs from run to run."""
    text = text.replace(url, "URL").replace(str(directory), "DIR")
    for varying in (
        r"\(?[0-9.]+ s\b",
        r"icecheck_doctor[0-9a-f]{6}_[0-9a-f]+",
        r"icecheck-error-[a-z0-9_]{8}",
        r"icecheck-[a-z0-9_]{8}",
        r'\\"pid\\": \d+',
        r"\d{8}T\d{6}Z",
        r"\d{4}-\d\d-\d\dT[0-9:+]+",
        r"\b\d{13}\b",
        r"\b\d+-[0-9a-f]{16}-[a-z]+\b",  # entity tags: what they stand for holds times
        r"Signature=[0-9a-f]+",
        r"\b[0-9a-f]{64}\b",  # the digest of a signed body
        r"\beyJ[-A-Za-z0-9_.]+",
        r"(?<=127\.0\.0\.[12]):\d+",
    ):
        text = re.sub(varying, "", text)
    return text


@cache
def report_of(outcome):
    findings = (a_finding("status", "200", "500"),) if outcome is Outcome.FAIL else ()
    return run_json.render(finished(verdict("getConfig.bad-token", outcome, findings=findings)))


def kept(*steps):
    """Return the text of a replay file."""
    head = {"kind": KIND, "version": VERSION, "check": CHECK, "spec": "1.10.0"}
    return json.dumps({**head, "steps": steps})


def prepare(directory: Path, mock):
    """Lay out the files that samples name, and what is theirs on the catalog."""
    schema = {"type": "struct", "schema-id": 0, "fields": []}
    at, headers = f"{mock.uri}/v1/namespaces", {"Authorization": "Bearer t"}
    with httpx.Client(base_url=at, headers=headers, verify=TLS) as theirs:
        theirs.post("", json={"namespace": ["theirs"]})
        theirs.post("", json={"namespace": ["icecheck_o1"]})
        theirs.post("/theirs/tables", json={"name": "t", "schema": schema})
    files = {
        "not.pem": "nothing",
        "both.pem": "nothing",
        "kept.json": kept(["create-namespace", ["n0"], ["1"]], ["create-table", ["n0.x0"], ["2"]]),
        "other.json": kept(["create-namespace", ["n0"], ["1"]]),
        "kept/one.json": kept(["create-namespace", ["n0"], ["1"]]),
        "header.toml": '[target.headers]\nx-mine = "yes"\n',
        "known.toml": (
            '[[expectation]]\ncheck = "dropNamespace.holds-table"\nkind = "known-failure"\n'
            'reason = "as it is"\n'
        ),
        ".pyiceberg.yaml": f"catalog:\n  mine:\n    uri: {mock.uri}\n    token: mine\n",
        "spark.conf": "".join(
            f"spark.sql.catalog.{name}.type rest\nspark.sql.catalog.{name}.uri {mock.uri}\n"
            f"spark.sql.catalog.{name}.token {name}\n"
            for name in ("a", "b")
        ),
    }
    (directory / "kept").mkdir(exist_ok=True)
    for name, text in files.items():
        (directory / name).write_text(text)
    for name, outcome in (("passed", Outcome.PASS), ("failed", Outcome.FAIL)):
        (directory / name).mkdir(exist_ok=True)
        (directory / name / "run.json").write_text(report_of(outcome))
        ExchangeLog(directory / name / "exchanges.jsonl.zst").close()
    pack(directory / "passed", directory / "known.zip", Product())
    ledger = LedgerFile(directory / "ledger.jsonl", "icecheck_o1", Target(mock.uri))
    ledger.made(Entry("namespace", ("icecheck_o1",)))
    ledger.close(keep=True)
