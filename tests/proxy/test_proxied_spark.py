"""Spark's own statements through the proxy name what `run` names on the same catalog."""

import re

import pytest

from icecheck.contract import Level
from icecheck.findings.verdict import Group, Outcome, Run
from icecheck.mock_server import MockCatalog
from icecheck.run.options import RunOptions
from icecheck.run.runner import run_checks
from icecheck.spark import SparkWorkbench
from icecheck.spark_tests.script import read_scripts
from icecheck.spark_tests.test_scripts import SCRIPTS
from icecheck.targets.target import Target
from tests.proxy.started import Proxied, proxied
from tests.spark_breaks.plain_spark import course_at

DEFECTS = {
    "bare-error-loadNamespaceMetadata.404": "loadNamespaceMetadata.404",
    "bare-error-loadTable.404": "loadTable.404",
    "error-code-as-text": "loadTable.404",
    "error-code-500": "error.code-equals-status",
    "json-byte-order-mark": "http.json-in-utf-8",
    "lacks-createTable-metadata.table-uuid": "createTable.200",
    "lacks-updateTable-metadata-location": "updateTable.200",
    "mistypes-createNamespace-namespace": "createNamespace.200",
    "mistypes-getConfig-defaults": "getConfig.200",
    "mistypes-loadView-metadata.versions": "loadView.200",
}
"""Defect -> the requirement that it breaks."""

NULLS = re.compile(
    r"createTable, body /(location|partition-spec|write-order): it has to be of type"
)
"""Java's client writes null where it has nothing to say; the document says a string, or nothing."""

_SOME = frozenset(
    {"spark.add-column", "spark.create-existing", "spark.create-insert-select",
     "spark.create-replace-view", "spark.drop-table", "spark.missing-table", "spark.namespaces",
     "spark.rename-table"}
)  # fmt: skip


def required(run: Run) -> frozenset[str]:
    """Return the requirements whose MUST checks failed."""
    failed = (v for v in run.verdicts if v.outcome is Outcome.FAIL and v.level is Level.MUST)
    return frozenset(id_ for verdict in failed for id_ in verdict.requirements)


def nulls_aside(proxy: Proxied) -> list[str]:
    """Return what Spark sent wrongly, but for the members that Java writes as null."""
    told = proxy.observed("client-sent")
    return [each for each in told if not NULLS.match(each)]


def passed(workbench: SparkWorkbench, mock: MockCatalog, *, every: bool = False) -> Proxied:
    """Return the ended proxy through which Spark ran some scripts on a mock, or every one."""
    scripts = [script for script in read_scripts(SCRIPTS) if every or script.check in _SOME]
    with proxied(mock.uri) as proxy:
        course_at(workbench, scripts, proxy.uri)
    return proxy


@pytest.mark.complete("every script is run so below; the usual command has PyIceberg's requests")
@pytest.mark.spark
def test_spark_on_a_faithful_catalog_blames_nobody(workbench: SparkWorkbench) -> None:
    with MockCatalog() as mock:
        proxy = passed(workbench, mock)
    assert proxy.failed == {}
    assert nulls_aside(proxy) == []
    assert len(proxy.exchanges) > 50


@pytest.mark.complete("every script runs in the usual command once, without the proxy")
@pytest.mark.spark
def test_every_script_on_a_faithful_catalog_blames_nobody(workbench: SparkWorkbench) -> None:
    with MockCatalog() as mock:
        proxy = passed(workbench, mock, every=True)
    assert proxy.failed == {}
    assert nulls_aside(proxy) == []
    assert proxy.observed("server-errors") == []


@pytest.mark.complete("each defect costs a run of the checks and of Spark's statements")
@pytest.mark.spark
@pytest.mark.parametrize(("defect", "requirement"), DEFECTS.items(), ids=DEFECTS)
def test_spark_through_the_proxy_names_what_a_run_names(
    workbench: SparkWorkbench, defect: str, requirement: str
) -> None:
    with MockCatalog() as mock:
        mock.defects.switch_on(defect)
        proxy = passed(workbench, mock)
        options = RunOptions(Target(mock.uri, warehouse="wh"), "own", groups=(Group.CHECKS,))
        run = run_checks(options)
    assert proxy.run is not None
    assert requirement in required(proxy.run)
    assert required(proxy.run) <= required(run)
