"""The record of a run: everything that a comparison and a reader need, without exchanges."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from icecheck.findings.expectations import parse
from icecheck.findings.expected_failures import Expectation

DIRECTORY = Path(__file__).parents[2] / "docs" / "catalogs"
"""A directory for each catalog: run.json, expectations.toml and README.md."""

RUN = "run.json"
SPARK_RUN = "run.spark.json"
"""The record of the Spark checks, which need PySpark and reachable files, unlike the others."""

OWN_RUN = "run.own.json"
"""The record by the catalog's own release, where that is later than the default one."""

_OWN_EXPECTATIONS = "expectations.own.toml"

_BLOCKS = (
    "kind", "report_version", "run_id", "generated_at", "complete", "verdict", "suite", "spec",
    "target", "config", "totals", "causes", "profiles", "safety",
)  # fmt: skip
_OF_A_CHECK = (
    "id",
    "title",
    "severity",
    "profile",
    "requirements",
    "outcome",
    "skip",
    "blocked_by",
    "without",
    "summary",
    "cause",
)
_OF_A_FINDING = ("id", "expected", "actual", "detail")
_FINDINGS_MAX = 4


def reduced(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run.json without exchanges and without requirements, which the suite has anyway."""
    kept = {block: document[block] for block in _BLOCKS}
    # The port changes with each run.
    kept["target"] = document["target"] | {"url": "http://127.0.0.1"}
    kept["config"] = {k: v for k, v in document["config"].items() if k != "command"}
    kept["checks"] = [_check(check) for check in document["checks"]]
    return kept


def _check(check: Mapping[str, Any]) -> dict[str, Any]:
    kept = {member: check[member] for member in _OF_A_CHECK if check[member]}
    if check["assertions"]:
        kept["assertions"] = [
            {member: finding[member] for member in _OF_A_FINDING if finding[member]}
            for finding in check["assertions"][:_FINDINGS_MAX]
        ]
    return kept


def write(name: str, document: Mapping[str, Any], file: str = RUN) -> None:
    """Write the record of a catalog, a line for each check so that a change is easily read."""
    kept = reduced(document)
    checks = kept.pop("checks")
    head = json.dumps(kept, indent=1).removesuffix("\n}")
    lines = ",\n".join(f"  {json.dumps(check)}" for check in checks)
    text = f'{head},\n "checks": [\n{lines}\n ]\n}}\n'
    (DIRECTORY / name / file).write_text(text, encoding="utf-8")


def read(name: str, file: str = RUN) -> dict[str, Any]:
    """Return a record of a catalog."""
    text = (DIRECTORY / name / file).read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


def is_witness(row: Mapping[str, Any]) -> bool:
    """Return whether a row of a record shows that the catalog passes the check, all of it."""
    return row["outcome"] == "pass" and not row.get("without")


def has(name: str, file: str) -> bool:
    """Return whether there is such a record of a catalog."""
    return (DIRECTORY / name / file).is_file()


def expectations_of(name: str, file: str = RUN) -> Path:
    """Return the file with the expectations for a catalog's failures in such a run."""
    return DIRECTORY / name / (_OWN_EXPECTATIONS if file == OWN_RUN else "expectations.toml")


def entries(name: str, file: str = RUN) -> tuple[Expectation, ...]:
    """Return the recorded expectations for a catalog's failures in such a run."""
    path = expectations_of(name, file)
    return parse(path.read_text(encoding="utf-8"), str(path)).entries
