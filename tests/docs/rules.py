"""What is done with each snippet of the documents: how it is run, where, or why it is not."""

from dataclasses import dataclass

CORE, SUITE, SPARK, SIGV4 = "", "suite", "spark", "sigv4"

EXAMPLE = "https://catalog.example.com/api/catalog"


@dataclass(frozen=True, slots=True)
class Rule:
    """How a snippet is run: ``how`` names a function of tests/docs/running.py.

    ``extra`` is the one that its document names for it, ``beside`` are distributions that it names
    too. ``slow`` ones run under `tox -e hostile` only. ``exits`` are the codes that are right.
    """

    how: str
    extra: str = SUITE
    beside: tuple[str, ...] = ()
    slow: bool = False
    exits: tuple[int, ...] = (0,)


def replaced(text: str, url: str, free_port: int) -> str:
    """Return a snippet with what is made up in it replaced by what is there.

    The one rule for example hosts and placeholders: the catalog is the mock of the test, which
    takes the credentials that the documents name; a name is one that there is.
    """
    for written, real in (
        (EXAMPLE, url),
        ("[--format text|markdown|json]", "--format markdown"),
        (" URL", f" {url}"),
        (" NAME", " namespace-drop-cascades"),
        (" CHECK", " createNamespace.already-exists"),
        (" ID", " createNamespace.409"),
        (" OLD NEW", " old new"),
        (" RUN RUN", " old new"),
        (" RUN", " new"),
        (" REPORT", " new"),
        ("baseline/run.json", "old/run.json"),
        ("replay FILE", "replay kept/one.json"),
        ("--regressions DIR", "--regressions kept"),
        ("--minutes N", "--minutes 0"),
        ("--port 8181", f"--port {free_port}"),
    ):
        text = text.replace(written, real)
    return text


_SET_UP = "a set-up command: what it installs and runs is what CI does"
_RECORDS = "fetches or needs what others publish, and writes records: run by hand"
_WITNESSES = "drives PyIceberg for a minute: tests/witnesses does"
_WHOLE_REPORTS = "takes whole reports, and the records lack parts: tests/cli/test_cli_report.py"
_WHEEL = "tests/hostile/test_uvx.py makes a wheel and runs it by uvx"
_RETAIL = "tests/retail runs the pipeline"
_REPOSITORY = "a command of CI, which runs it itself"

_PROXIED = "tests/proxy/test_cli_proxy.py types it, with a job"
EXCLUDED: dict[tuple[str, str], str] = {
    ("README.md", "python3 -m venv .venv && .venv/bin/pip install -q -e '.[spark]'"): _SET_UP,
    ("README.md", "python3 -m venv .venv && .venv/bin/pip install -q -e '.[all]'"): _SET_UP,
    ("CONTRIBUTING.md", "python3 -m venv .venv && .venv/bin/pip install"): _SET_UP,
    ("README.md", "pip install "): "what an environment with this extra is made with",
    ("README.md", "icecheck self-test"): "plants 1 700 defects; tests/kill does, tests/cli some",
    ("ARCHITECTURE.md", "conformance/   the checks"): "a picture of the directories",
    ("ARCHITECTURE.md", "pytest conformance/…"): "a form, not a command: what tests/laws run",
    ("CONTRIBUTING.md", "tox -e "): _REPOSITORY,
    ("CONTRIBUTING.md", 'pytest -m "not spark"'): _REPOSITORY,
    ("CONTRIBUTING.md", "pytest tests/contract/test_contract_loads.py"): _REPOSITORY,
    ("CONTRIBUTING.md", "ICECHECK_UPDATE_GOLDEN=1 pytest tests/"): "rewrites golden files",
    (
        "CONTRIBUTING.md",
        "ICECHECK_UPDATE_GOLDEN=1 ICECHECK_COMPLETE=1 pytest -m complete",
    ): "rewrites golden files",
    ("CONTRIBUTING.md", "python -m tools."): _RECORDS,
    ("CONTRIBUTING.md", "python -m tests.reference"): _RECORDS,
    ("CONTRIBUTING.md", "python -m tests.mutation"): _RECORDS,
    ("CONTRIBUTING.md", "python -m tests.lawful.drawn"): "takes half an hour",
    ("docs/mutation.md", "tox -e mutation"): _RECORDS,
    ("docs/catalogs/", "tox -e reference"): _RECORDS,
    ("docs/catalogs/", "python -m tests.reference"): _RECORDS,
    ("docs/catalogs/", "icecheck doctor"): _RECORDS,
    ("docs/clients.md", "python -m tests.dialects"): _RECORDS,
    ("docs/clients.md", "pip install duckdb"): _RECORDS,
    ("docs/clients.md", "icecheck run URL --clients"): _WITNESSES,
    ("docs/clients.md", "pytest --pyargs icecheck.scenarios.clients"): _WITNESSES,
    ("README.md", "python -m build --wheel"): _WHEEL,
    ("README.md", "uvx --from"): _WHEEL,
    ("docs/ci.md", "python -m build --wheel"): _WHEEL,
    ("docs/ci.md", "- uses: OWNER/icecheck@COMMIT"): "tests/pipeline runs the action",
    ("docs/ci.md", "catalog:"): "a job of GitLab, which there is none of here",
    ("docs/examples/downstream/", ""): "tests/pipeline/test_downstream.py follows it",
    ("docs/targets.md", "icecheck run URL --check 'generated.*.fuzzed'"): "takes hours",
    ("docs/reports.md", "icecheck report render"): _WHOLE_REPORTS,
    ("docs/reports.md", "icecheck report merge"): _WHOLE_REPORTS,
    ("docs/certify.md", "icecheck "): "the commands of docs/reports.md with another's bundle",
    (
        "docs/evidence.md",
        "icecheck evidence ",
    ): "tests/evidence/test_evidence_commands.py types them",
    ("docs/spark.md", "icecheck "): "tests/cli/test_cli_spark_matrix.py types them",
    ("README.md", "icecheck spark-matrix URL"): "tests/cli/test_cli_spark_matrix.py types it",
    ("docs/spark.md", "pip install '.[spark"): "installs Spark",
    ("docs/spark.md", "tox -e spark4.1-iceberg-1.11.0"): "installs another Spark",
    ("docs/pipeline.md", "icecheck "): _RETAIL,
    ("docs/proxy.md", "icecheck proxy"): _PROXIED,
    ("docs/proxy.md", "icecheck run"): "the command of docs/targets.md",
    ("docs/proxy.md", "spark-submit --conf"): "needs a job; tests/proxy has one of Spark",
    ("README.md", "icecheck proxy URL"): _PROXIED,
    ("README.md", "icecheck pipeline URL"): _RETAIL,
    ("docs/catalogs/README.md", "icecheck report matrix"): "tests/reference compares what it makes",
    ("docs/decisions/", ""): "says what was decided and seen at the time, not what to type",
}
"""(document or folder, how the snippet begins) -> why it is not run."""

BLOCKS: dict[tuple[str, str], Rule] = {
    ("README.md", f"icecheck run {EXAMPLE}"): Rule("typed", slow=True),
    ("README.md", "[[expectation]]"): Rule("expectations"),
    ("README.md", "pytest --pyargs icecheck.conformance"): Rule("typed", slow=True),
    ("README.md", "import pyarrow as pa"): Rule("tested", beside=("pyarrow",)),
    ("README.md", "from icecheck.mock_server import MockCatalog"): Rule("programmed"),
    ("ARCHITECTURE.md", '@check("createNamespace.already-exists"'): Rule("quoted"),
    ("docs/targets.md", "[target]"): Rule("target", CORE),
    ("docs/expectations.md", "[[expectation]]"): Rule("expectations"),
    ("docs/clients.md", "icecheck serve --port 8181"): Rule("served", CORE),
    ("docs/mock.md", "from icecheck.mock_server import MockCatalog"): Rule("programmed"),
    ("docs/mock.md", "from concurrent.futures"): Rule("programmed"),
    ("docs/mock.md", "import pyarrow as pa"): Rule("programmed", "suite,s3", ("pyarrow",)),
    ("docs/ci.md", f"icecheck run {EXAMPLE}"): Rule("typed", slow=True),
}

COMMANDS: dict[str, Rule] = {
    "icecheck list": Rule("typed", CORE),
    "icecheck list defects": Rule("typed", CORE),
    "icecheck list requirements": Rule("typed", CORE),
    "icecheck list requirements --diff 1.10.0 1.11.0": Rule("typed", CORE),
    "icecheck list requirements --format markdown": Rule("typed", CORE),
    "icecheck explain": Rule("typed", CORE, exits=(2,)),
    "icecheck explain ID": Rule("typed", CORE),
    "icecheck explain CHECK": Rule("typed", CORE),
    "icecheck doctor URL": Rule("typed", CORE),
    "icecheck clean URL --ledger icecheck-report/ledger.jsonl": Rule("typed", CORE),
    "icecheck compare OLD NEW": Rule("typed", CORE, exits=(1,)),
    "icecheck compare OLD NEW [--format text|markdown|json]": Rule("typed", CORE, exits=(1,)),
    "icecheck bundle DIR": Rule("typed", CORE, exits=(2,)),
    "icecheck verify BUNDLE": Rule("typed", exits=(2,)),
    "icecheck report matrix RUN RUN": Rule("typed"),
    "icecheck report trend RUN RUN": Rule("typed"),
    "icecheck gate REPORT": Rule("typed", CORE),
    "icecheck replay FILE URL": Rule("typed"),
    "icecheck explore URL --minutes N": Rule("typed"),
    "icecheck run URL --regressions DIR": Rule("typed", slow=True),
    "icecheck serve --port 8181": Rule("served", CORE),
    "icecheck serve --defect NAME": Rule("served", CORE),
    "icecheck serve --profile fixture-1.10": Rule("served", CORE),
    "icecheck serve --fault throttled,table=db.orders,times=3": Rule("served", CORE),
    "icecheck serve --journal-file requests.jsonl": Rule("served", CORE),
    "icecheck serve --state DIR": Rule("served", CORE),
    "icecheck serve --table-locations by-name": Rule("served", CORE),
    "icecheck serve --spec 1.11.0": Rule("served", CORE),
    "icecheck serve --warehouse wh=s3://lake/wh": Rule("served", "s3"),
    "icecheck serve --seed-file seed.yaml": Rule("typed", exits=(2,)),
    "icecheck serve --run -- COMMAND": Rule("typed", CORE, exits=(127,)),
    "icecheck connect CLIENT": Rule("typed", CORE, exits=(2,)),
    "icecheck connect spark --s3": Rule("typed", CORE),
    "icecheck run": Rule("typed", exits=(2,)),
    "icecheck run URL --smoke": Rule("typed"),
    "icecheck run --mock": Rule("typed", slow=True),
    "icecheck plan URL": Rule("typed", slow=True),
    "icecheck run URL --update-expectations": Rule("typed", slow=True),
    "icecheck run URL --witnessed-only": Rule("typed", slow=True),
}
"""Commands inside of sentences, by what is written; wherever they stand, they mean the same."""


def rule_of(document: str, start: str, language: str) -> Rule | str | None:
    """Return how a snippet is run, or why it is not; None where no table speaks of it."""
    for (where, begins), reason in EXCLUDED.items():
        if document.startswith(where) and start.startswith(begins):
            return reason
    for (where, begins), rule in BLOCKS.items():
        if document == where and start.startswith(begins):
            return rule
    return COMMANDS.get(start) if language == "sh" else None
