"""Finished runs by hand, one for each state in which a reader meets a report."""

import json
from dataclasses import replace

from icecheck.findings.verdict import Evidence, Group, Level, Outcome, Run, Skip, SkipKind
from icecheck.reports import run_json
from tests.kit.findings import a_finding
from tests.kit.finished_runs import finished, verdict

_BEGAN_MS = 1_772_366_400_000
_PASSING = {
    "getConfig.answered": ("getConfig.200", "core", "getConfig"),
    "listNamespaces.listed": ("listNamespaces.200", "read", "listNamespaces"),
    "createNamespace.created": ("createNamespace.200", "write", "createNamespace"),
    "createTable.created": ("createTable.200", "write", "createTable"),
    "loadTable.loaded": ("loadTable.200", "read", "loadTable"),
}
# Check -> how many fail like it, the symptom, what was expected and came, and the operation.
_CAUSES = {
    "updateTable.conflict": (12, "requirement-ignored", "409", "200", "updateTable"),
    "listTables.pages-cover-all": (9, "pages-incomplete", "5 names", "4 names", "listTables"),
    "dropNamespace.holds-table": (8, "status", "409", "204", "dropNamespace"),
    "loadTable.missing": (7, "status", "404", "500", "loadTable"),
    "createView.created": (4, "status", "200", "501", "createView"),
}


def _passes():
    for at, (check, (requirement, profile, operation)) in enumerate(_PASSING.items()):
        yield verdict(
            check,
            requirements=(requirement,),
            profile=profile,
            operations=(operation,),
            started_ms=_BEGAN_MS + 300 * at,
        )


def _evidence(ordinal, operation, status, body):
    url = f"http://catalog.test/v1/wh/namespaces/a/{operation}"
    return Evidence(
        ordinal=ordinal,
        step="given" if ordinal == 1 else "do",
        operation=operation,
        request=f"POST {url}",
        status=status,
        request_body='{"name": "t", "requirements": [{"type": "assert-create"}], "updates": []}',
        response_headers="content-type: application/json",
        response_body=body,
        curl=f"curl -sS -X POST -H 'Authorization: Bearer $ICECHECK_TOKEN' '{url}'",
    )


def _fails(check, number, symptom, expected, actual, operation, level=Level.MUST):
    status = int(actual) if actual.isdecimal() else 200
    answer = '{"metadata": {"format-version": 2, "location": "s3://warehouse/a/t"}, "config": {}}'
    return verdict(
        f"{check}-{number}" if number else check,
        Outcome.FAIL,
        level=level,
        summary=f"expected {expected}, got {actual}",
        findings=(a_finding(symptom, expected, actual, "it was asked once", exchange=2),),
        evidence=(_evidence(1, "createTable", 200, "{}"), _evidence(2, operation, status, answer)),
        operations=(operation,),
        requirements=(f"{operation}.200",),
        started_ms=_BEGAN_MS + 2_000 + 40 * number,
    )


def _of_five_causes():
    for check, (many, *finding) in _CAUSES.items():
        for number in range(many):
            yield _fails(check, number, *finding)


def _spark(check, title, outcome=Outcome.PASS, **members):
    given = {"group": Group.SPARK, "level": Level.INTEROP, "profile": "write", "title": title}
    return verdict(f"spark.{check}", outcome, **given | members)


_NOT_DECLARED = Skip(SkipKind.NOT_DECLARED, "the catalog's config does not claim renameTable")
_SKIPPED = verdict(
    "renameTable.renamed",
    Outcome.SKIP,
    summary=_NOT_DECLARED.reason,
    skip=_NOT_DECLARED,
    requirements=("renameTable.204",),
    operations=("renameTable",),
    requests=0,
)
_OF_SPARK = (
    _spark("create", "CREATE TABLE", operations=("createTable",)),
    _spark(
        "merge",
        "MERGE INTO",
        Outcome.FAIL,
        summary="expected 2 rows, got 1 row",
        findings=(a_finding("rows", "2 rows", "1 row"),),
        operations=("updateTable",),
    ),
    _spark("rename", "ALTER TABLE RENAME", Outcome.SKIP, summary="no rename", skip=_NOT_DECLARED),
)


def _secured(run):
    auth = {
        "method": "oauth2-client-credentials",
        "principals": 2,
        "client_certificate": False,
        "answered": {"without a token": ["getConfig", "listNamespaces"]},
    }
    return _with(run, target={"auth": auth})


def _with(run, **blocks):
    """Return a run with some of its recorded facts replaced."""
    facts = {name: run.facts[name] | block for name, block in blocks.items()}
    return replace(run, facts=run.facts | facts)


def _everywhere(run, project):
    """Return a run that is the same on every machine and with every release of the suite."""
    return _with(
        run,
        suite={
            "version": "0.0.0",
            "requirement_set_sha256": f"sha256:{'0' * 64}",
            "frozen_set": "iceberg-rest/1.10.0@0.0.0",
            "requirement_set_frozen": True,
        },
        spec={"sha256": f"sha256:{'1' * 64}"},
        environment={"python": "3.11.0", "os": "linux-x86_64", "ci": False},
        target={"implementation": {"project": project}} | _auth(run),
        timing={"finished_at": "2026-03-01T12:00:02+00:00"},
    )


def _auth(run):
    return {"auth": run.facts["target"]["auth"]}


_RUNS: dict[str, Run] = {
    "all-pass": finished(*_passes()),
    "one-failure": finished(*_passes(), next(_of_five_causes())),
    "forty-failures": finished(*_passes(), *_of_five_causes(), _SKIPPED),
    "interrupted": finished(*list(_passes())[:3], interrupted=True),
    "tripped": finished(*list(_passes())[:2], tripped=True),
    "unreachable": finished(
        ended={
            "tripped": "http://catalog.test cannot be reached: connection refused",
            "preflight": (_evidence(1, "getConfig", None, "connection refused"),),
        },
        config=None,
        isolation="unknown",
        server_header=None,
        latencies_ms={},
    ),
    "nothing-verified": finished(_SKIPPED),
    "secured": _secured(finished(*_passes())),
    "spark-only": finished(*_OF_SPARK),
}  # fmt: skip


RUNS = {
    name: replace(
        _everywhere(run, f"Catalog that is {name}"), generated_at="2026-03-01T12:00:02+00:00"
    )
    for name, run in _RUNS.items()
}
"""Name -> run; rendering one gives the same text everywhere."""


def documents_of(*names):
    """Return the run.json of these runs."""
    return [json.loads(run_json.render(RUNS[name])) for name in names]
