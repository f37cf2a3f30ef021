"""Every Spark check fails on a catalog with one defect: none of them passes whatever happens."""

from collections.abc import Iterator
from types import ModuleType

import pytest
from tests.sick.naming import strays

from icecheck.check import Check, check_of
from icecheck.client import Catalog
from icecheck.judge import judge
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.context import Call, Context, Operation
from icecheck.mock_server.context import Outcome as Answered
from icecheck.mock_server.defects import defects
from icecheck.mock_server.defects.rewriting import wrap
from icecheck.mock_server.state import WarehouseState
from icecheck.session import open_session
from icecheck.spark import SparkWorkbench
from icecheck.spark_tests import test_pipeline as pipeline_checks
from icecheck.spark_tests import test_scan_planning as planning_checks
from icecheck.spark_tests import test_scripts as script_checks
from icecheck.target import Target
from icecheck.verdict import Outcome

KILLED_BY = {
    "spark.add-column": "update-forgotten-set-current-schema",
    "spark.all-types": "decimals-widened",
    "spark.branch": "update-branch-moves-main",
    "spark.changelog": "update-forgotten-set-snapshot-ref",
    "spark.column-comment-and-null": "column-docs-lost",
    "spark.create-existing": "table-not-created",
    "spark.create-insert-select": "update-forgotten-set-snapshot-ref",
    "spark.create-replace-view": "view-last-added-schema-is-the-first",
    "spark.create-or-replace": "update-forgotten-remove-snapshot-ref",
    "spark.ctas": "create-commit-forgets-data",
    "spark.delete": "update-main-is-not-current",
    "spark.drop-column": "update-last-column-id-falls",
    "spark.drop-purge": "drop-keeps-the-name",
    "spark.drop-table": "drop-revived-by-create",
    "spark.expire-snapshots": "update-forgotten-remove-snapshots",
    "spark.format-v1": "update-forgotten-upgrade-format-version",
    "spark.format-v3-deletion-vectors": "format-version-always-2",
    "spark.format-v3-row-lineage": "update-next-row-id-stays",
    "spark.identifier-fields": "update-forgotten-set-current-schema",
    "spark.insert-overwrite": "partition-spec-lost",
    "spark.merge": "commit-applies-one-update",
    "spark.merge-on-read-delete": "update-sequence-number-stays",
    "spark.merge-on-read-merge": "update-sequence-number-stays",
    "spark.metadata-tables": "load-without-location",
    "spark.missing-table": "load-missing-empty",
    "spark.namespace-not-empty": "namespace-drop-cascades",
    "spark.namespaces": "properties-update-forgotten",
    "spark.nested-evolution": "inner-ids-restart",
    "spark.partition-evolution": "update-partition-field-ids-start-over",
    "spark.partition-transforms": "partition-sources-as-sent",
    "spark.partitioned-table": "partition-spec-lost",
    "spark.pipeline.orders": "create-commit-forgets-data",
    "spark.rename-column": "update-forgotten-add-schema",
    "spark.rename-table": "rename-over-another",
    "spark.rename-view": "view-rename-conflict-writes",
    "spark.reorder-columns": "load-schema-reordered",
    "spark.rewrite-data-files": "assertion-fails-assert-ref-snapshot-id",
    "spark.rewrite-manifests": "update-forgotten-set-snapshot-ref",
    "spark.rewrite-position-deletes": "update-sequence-number-stays",
    "spark.rollback": "commit-forgets-snapshot-log",
    "spark.rtas": "update-forgotten-set-current-schema",
    "spark.scan-planning": "plan-without-deletes",
    "spark.show-tables": "drop-still-listed",
    "spark.show-views": "table-list-has-views",
    "spark.table-properties": "update-property-keys-lower-case",
    "spark.tag": "assertion-tags-are-unknown",
    "spark.time-travel-snapshot": "load-newest-snapshots-only",
    "spark.time-travel-timestamp": "commit-forgets-snapshot-log",
    "spark.truncate": "update-forgotten-add-snapshot",
    "spark.update": "commit-applies-one-update",
    "spark.widen-column": "update-forgotten-set-current-schema",
    "spark.write-audit-publish": "update-added-snapshot-goes-live",
    "spark.write-order": "update-forgotten-set-default-sort-order",
}


SPARKS_OWN_NAMESPACE = "default"
"""What Spark writes into a view as the namespace of unqualified names; it asks nobody for it."""


def checks_in(*modules: ModuleType) -> dict[str, Check]:
    functions = (getattr(module, name) for module in modules for name in dir(module))
    return {found.id: found for found in map(check_of, functions) if found is not None}


CHECKS = checks_in(script_checks, pipeline_checks, planning_checks)


@pytest.fixture(scope="module")
def workbench() -> Iterator[SparkWorkbench]:
    with SparkWorkbench.start() as started:
        yield started


def test_every_spark_check_has_a_defect_that_exists() -> None:
    assert sorted(KILLED_BY) == sorted(CHECKS)
    assert set(KILLED_BY.values()) <= set(defects())


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
    assert verdict.outcome is Outcome.FAIL, f"{verdict.outcome}: {verdict.summary}"
    assert verdict.findings[0].symptom.startswith("spark-")
    assert heard
    foreign = {(url, each) for url, body in heard for each in strays(url, body)}
    assert [(url, each) for url, each in foreign if each != SPARKS_OWN_NAMESPACE] == []


def record_requests(mock: MockCatalog) -> list[tuple[str, bytes]]:
    """Return a list that the path and body of every request are put into, Spark's among them."""
    heard: list[tuple[str, bytes]] = []

    def record(
        faithful: Operation, context: Context, state: WarehouseState, call: Call
    ) -> Answered:
        url = f"{call.request.raw_path}?{call.request.query_string}"
        heard.append((url, call.request.body))
        return faithful(context, state, call)

    for operation_id in mock.registries.operations:
        wrap(mock.registries, operation_id, record)
    return heard
