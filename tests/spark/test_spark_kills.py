"""Every Spark check fails on a catalog with one defect: none of them passes whatever happens."""

import re

import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.opening import open_session
from icecheck.findings.verdict import Group, Outcome
from icecheck.judging.judge import judge
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.core.context import Call
from icecheck.mock_server.core.context import Outcome as Answered
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects import defects
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.run.collect import collect
from icecheck.spark import SparkWorkbench
from icecheck.targets.target import Target
from tests.hostile.failing_catalogs.naming import strays
from tests.kit.contracts import CONTRACT
from tests.laws.golden import reviewed

KILLED_BY = dict(line.split(" | ") for line in reviewed("spark_kills.txt"))


SPARKS_OWN_NAMESPACE = "default"
"""What Spark writes into a view as the namespace of unqualified names; it asks nobody for it."""


ENGINE = re.compile(r"needs (Spark|Iceberg) ")
"""How the reason of a check begins that another Spark or Iceberg than the running one can judge."""


CHECKS = {check.id: check for check in collect((Group.SPARK,), CONTRACT)}


def test_every_spark_check_has_a_defect_that_exists() -> None:
    assert sorted(KILLED_BY) == sorted(CHECKS)
    assert set(KILLED_BY.values()) <= set(defects())


@pytest.mark.complete("each defect costs a run of Spark; every script runs in the usual command")
@pytest.mark.spark
@pytest.mark.parametrize(("check_id", "defect"), KILLED_BY.items(), ids=KILLED_BY)
def test_a_spark_check_fails_on_a_catalog_with_its_defect(
    workbench: SparkWorkbench, check_id: str, defect: str
) -> None:
    with MockCatalog() as mock:
        defects()[defect].install(mock.registries)
        heard = record_requests(mock)
        session = open_session(Target(mock.uri, warehouse="wh", isolation="flat"), run_id="own")
        check = CHECKS[check_id]
        verdict = judge(check, Catalog(session, check_id), {"spark": workbench})
        session.close()
    if verdict.skip is not None and ENGINE.match(verdict.skip.reason):
        pytest.skip(verdict.skip.reason)
    assert verdict.outcome is Outcome.FAIL, f"{verdict.outcome}: {verdict.summary}"
    assert verdict.findings[0].symptom.slug.startswith("spark-")
    assert heard
    foreign = {(url, each) for url, body in heard for each in strays(url, body)}
    assert [(url, each) for url, each in foreign if each != SPARKS_OWN_NAMESPACE] == []


def record_requests(mock: MockCatalog) -> list[tuple[str, bytes]]:
    """Return a list that the path and body of every request are put into, Spark's among them."""
    heard: list[tuple[str, bytes]] = []

    def record(faithful: Faithful, state: WarehouseState, call: Call) -> Answered:
        url = f"{call.request.raw_path}?{call.request.query_string}"
        heard.append((url, call.request.body))
        return faithful(state, call)

    for operation_id in mock.registries.operations:
        wrap(mock.registries, operation_id, record)
    return heard
