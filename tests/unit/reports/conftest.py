"""Finished runs made by hand, one for each way a run can end; `run` stands for each of them."""

from dataclasses import replace

import pytest

from icecheck.findings.verdict import Evidence, Group, Level, Outcome, Skip, SkipKind
from tests.kit.findings import a_finding
from tests.kit.finished_runs import finished, verdict

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e|`\x00\x1f]]>&\ud800"


def evidence(ordinal=1, *, body="{}", status=200):
    return Evidence(
        ordinal=ordinal,
        step="do",
        operation="createNamespace",
        request="POST http://catalog.test/v1/namespaces",
        status=status,
        request_body='{"namespace": ["a"]}',
        response_headers="content-type: application/json",
        response_body=body,
        curl="curl -sS -X POST -H \"Authorization: Bearer $ICECHECK_TOKEN\" 'http://catalog.test/'",
    )


def failed(check, *, expected="409", actual="200", detail="", body="{}", **members):
    finding = a_finding("status", expected, actual, detail, exchange=2)
    return verdict(
        check,
        Outcome.FAIL,
        summary=f"expected {expected}, got {actual}",
        findings=(finding,),
        evidence=(evidence(1), evidence(2, body=body)),
        **members,
    )


PASSED = verdict("createNamespace.created", requirements=("createNamespace.200",))
CORE = verdict("getConfig.answered", requirements=("getConfig.200",), profile="core")
READ = verdict("listNamespaces.listed", requirements=("listNamespaces.200",), profile="read")
GOOD = (CORE, READ, PASSED)
FAILED = failed("createNamespace.already-exists")
BLOCKED = verdict(
    "dropNamespace.dropped",
    Outcome.BLOCKED,
    summary="createNamespace answered 500 to an ordinary request",
    requirements=("dropNamespace.204",),
    blocked_by=("createNamespace.already-exists",),
    evidence=(evidence(status=500),),
)
SKIPPED = verdict(
    "renameTable.renamed",
    Outcome.SKIP,
    summary="the catalog's config does not claim renameTable",
    skip=Skip(SkipKind.NOT_DECLARED, "the catalog's config does not claim renameTable"),
    requirements=("renameTable.204",),
    requests=0,
)
SHOULD = failed(
    "createNamespace.error-type",
    expected="AlreadyExistsException",
    actual="RuntimeException",
    level=Level.SHOULD,
)
ERROR = verdict(
    "createNamespace.broken-check",
    Outcome.ERROR,
    summary="NameError: x",
    findings=(a_finding("suite-error", "no error", "NameError", "Traceback\n  line 1\nNameError"),),
)
OF_SPARK = {"group": Group.SPARK, "level": Level.INTEROP, "profile": "write"}
SPARK_WORKS = verdict("spark.create", operations=("createTable",), **OF_SPARK)
SPARK_BROKEN = failed(
    "spark.merge", expected="2 rows", actual="1 row", group=Group.SPARK, level=Level.INTEROP
)
SPARK_NOT_RUN = replace(SKIPPED, check="spark.branch", group=Group.SPARK, level=Level.INTEROP)
CLIENT = {"group": Group.SCENARIOS, "level": Level.INTEROP, "profile": "write"}
CLIENTS = (
    replace(
        verdict("dialect.duckdb.tables", operations=("createTable",), **CLIENT),
        title="DuckDB 1.5.5: makes and drops a table",
    ),
    replace(
        failed("dialect.duckdb.transactions", detail="DuckDB 1.5.5 stops at commit", **CLIENT),
        title="DuckDB 1.5.5: commits to both at once",
    ),
    replace(
        BLOCKED,
        check="dialect.pyiceberg.views",
        title="PyIceberg 0.12.0: makes a view",
        blocked_by=("schema.createView.200",),
        **CLIENT,
    ),
    replace(SKIPPED, check="dialect.spark.tables", title="Spark 3.5.9: makes a table", **CLIENT),
)


UNREACHABLE = "http://catalog.test cannot be reached: connection refused"
KEEPS = "the table a.b was made, its drop was answered 418, and it is still there"
FULL = "out/ledger.jsonl cannot be written (No space left on device): make room"
UNKNOWN = {"config": None, "isolation": "unknown", "server_header": None, "latencies_ms": {}}
RUNS = {
    "passed": finished(*GOOD),
    "warnings": finished(*GOOD, SHOULD),
    "failed": finished(*GOOD, FAILED, BLOCKED, SKIPPED, SHOULD),
    "skipped-only": finished(SKIPPED),
    "error": finished(*GOOD, ERROR),
    "interrupted": finished(*GOOD, interrupted=True),
    "interrupted-at-once": finished(interrupted=True),
    "tripped": finished(*GOOD, tripped=True),
    "unreachable": finished(
        ended={"tripped": UNREACHABLE, "preflight": (evidence(status=None),)}, **UNKNOWN
    ),
    "unusable": finished(
        replace(FAILED, check="schema.createTable.200", passive=True),
        ended={"tripped": KEEPS, "preflight": (evidence(1), evidence(2, status=418))},
        residue=("table a.b",),
    ),
    "interrupted-before": finished(
        interrupted=True, ended={"preflight": (evidence(),)}, isolation="unknown"
    ),
    "no-room": finished(*GOOD, FAILED, ended={"unwritten": FULL}),
    "no-room-but-for-good": finished(*GOOD, ended={"unwritten": FULL}),
    "no-room-before": finished(ended={"unwritten": FULL, "preflight": (evidence(),)}),
    "drop-lies": finished(*GOOD, FAILED, SKIPPED, undropped=["table"]),
    "nothing": finished(),
    "residue": finished(*GOOD, residue=("namespace icecheck_abc123.left",)),
    "clients": finished(*GOOD, *CLIENTS),
    "spark": finished(*GOOD, SPARK_WORKS, SPARK_BROKEN, SPARK_NOT_RUN),
    "hostile-preflight": finished(
        ended={"tripped": HOSTILE, "preflight": (evidence(body=HOSTILE),)}, **UNKNOWN
    ),
    "hostile": finished(
        *GOOD,
        failed(
            f"createNamespace.{HOSTILE}", expected=HOSTILE, actual=HOSTILE, detail=HOSTILE,
            body=HOSTILE, title=HOSTILE,
        ),
        replace(SKIPPED, skip=Skip(SkipKind.MISSING_FIXTURE, HOSTILE)),
        replace(BLOCKED, summary=HOSTILE, blocked_by=(HOSTILE,)),
        replace(SPARK_BROKEN, title=HOSTILE, summary=HOSTILE),
        residue=(HOSTILE,),
    ),
}  # fmt: skip


def pytest_generate_tests(metafunc):
    if "run" in metafunc.fixturenames:
        metafunc.parametrize("run", RUNS.values(), ids=RUNS)


@pytest.fixture
def runs():
    """Every hand-made run by name."""
    return RUNS


@pytest.fixture
def finish_run():
    """Make a finished run out of verdicts."""
    return finished


@pytest.fixture
def fail_verdict():
    """Make the verdict of a failed check."""
    return failed


@pytest.fixture
def hostile():
    """A text that breaks whatever is pasted together instead of rendered."""
    return HOSTILE
