"""Scan planning: a defect proves each check, each defect is found, and lawful servers pass."""

from pathlib import Path
from typing import Any

import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.opening import open_session
from icecheck.client.session import Session
from icecheck.conformance.kit.manifest_files import POSITION_DELETES, PlannedFile, given_files
from icecheck.findings.verdict import Outcome, SkipKind
from icecheck.judging.judge import judge
from icecheck.mock_server.core.context import Call, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.requests import sent_json
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_body,
    alter_request_body,
    wrap,
)
from icecheck.mock_server.mock import MockCatalog
from icecheck.mock_server.planning.plans import PlanningMode, PlanningSettings
from icecheck.mock_server.protocol.problem import unsupported
from icecheck.targets.target import Target
from tests.kill.killing import (
    checks_of,
    mock_session,
    words,
)
from tests.kill.refusing import refuse_if
from tests.kit.shares import some

CHECKS = checks_of(
    "test_scan_planning",
    "test_scan_planning_files",
    "test_scan_planning_partitions",
    "test_scan_planning_terms",
)
FILTERED = checks_of(
    "test_scan_planning_columns", "test_scan_planning_specs", "test_scan_planning_values"
)


def test_what_the_checks_wrote_is_gone_afterwards() -> None:
    with mock_session() as (mock, session):
        warehouse = mock.warehouses.open("kill")
        assert warehouse is not None
        root = Path(warehouse.context.location.removeprefix("file://"))
        for check in checks_of("test_scan_planning_files"):
            assert judge(check, Catalog(session, check.id)).outcome is Outcome.PASS
        assert [path.name for path in root.rglob("*.json")] != []
        assert [path.name for path in root.rglob("*.avro")] == []


@pytest.mark.parametrize(
    "planning",
    some(
        [
            PlanningSettings(mode=PlanningMode.ASYNC),
            PlanningSettings(mode=PlanningMode.ASYNC, polls_until_ended=4, files_per_task=2),
            PlanningSettings(files_per_task=1),
        ],
        2,
    ),
    ids=repr,
)
def test_lawful_planners_are_not_blamed(planning: PlanningSettings) -> None:
    with mock_session(planning=planning) as (_, session):
        verdicts = [judge(check, Catalog(session, check.id)) for check in CHECKS]
    assert words(verdicts) == []


def test_numbers_that_no_manifest_can_hold_are_no_error_of_the_suite() -> None:
    def large(body: dict[str, Any]) -> dict[str, Any]:
        body["metadata"]["last-sequence-number"] = 2**64
        return body

    with mock_session() as (mock, session):
        for operation_id in ("createTable", "loadTable", "updateTable"):
            alter_body(mock.registries, operation_id, large)
        checks = checks_of("test_scan_planning_files")[:2]
        verdicts = [judge(check, Catalog(session, check.id)) for check in checks]
    assert {v.outcome for v in verdicts} == {Outcome.SKIP}, words(verdicts)


ONE_ANSWER = PlanningSettings(files_per_task=1000)
TASKS = "fetchScanTasks.large-scan"
PLANS = (
    "fetchPlanningResult.known-plan", "cancelPlanning.known-plan", "cancelPlanning.ends-the-plan",
)  # fmt: skip


def test_a_planner_without_plan_tasks_is_not_asked_for_them() -> None:
    with mock_session(planning=ONE_ANSWER) as (_, session):
        assert _skipped(session) == {TASKS: SkipKind.NOT_APPLICABLE}


@pytest.mark.parametrize(
    ("planning", "skipped"),
    [(ONE_ANSWER, (TASKS, *PLANS)), (PlanningSettings(files_per_task=2), PLANS)],
    ids=["one answer", "plan tasks"],
)
def test_a_planner_that_gives_completed_plans_no_id_is_not_blamed(
    planning: PlanningSettings, skipped: tuple[str, ...]
) -> None:
    def anonymous(body: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in body.items() if name != "plan-id"}

    with mock_session(planning=planning) as (mock, session):
        alter_body(mock.registries, "planTableScan", anonymous)
        assert _skipped(session) == dict.fromkeys(skipped, SkipKind.NOT_APPLICABLE)


def test_a_planner_that_forgets_what_was_told_in_one_answer_is_not_blamed() -> None:
    def nothing_is_left(_call: Call) -> bool:
        return True

    with mock_session(planning=ONE_ANSWER) as (mock, session):
        refuse_if(mock.registries, "fetchPlanningResult", nothing_is_left, 404)
        assert _skipped(session) == dict.fromkeys((TASKS, PLANS[0]), SkipKind.NOT_APPLICABLE)


def _skipped(session: Session) -> dict[str, SkipKind]:
    """Return the skipped checks with their skips; the others have to pass."""
    verdicts = [judge(check, Catalog(session, check.id)) for check in CHECKS]
    assert words([v for v in verdicts if v.outcome is not Outcome.SKIP]) == []
    return {v.check: v.skip.kind for v in verdicts if v.skip is not None}


def test_a_catalog_whose_files_are_elsewhere_is_not_blamed() -> None:
    def elsewhere(registries: Registries) -> None:
        def moved(body: dict[str, Any]) -> dict[str, Any]:
            location = str(body["metadata-location"])
            return {**body, "metadata-location": location.replace("file:///", "s3://bucket/")}

        alter_body(registries, "createTable", moved)

    with mock_session() as (mock, session):
        elsewhere(mock.registries)
        checks = checks_of("test_scan_planning_files")
        verdicts = [judge(check, Catalog(session, check.id)) for check in checks]
    assert {v.skip.kind if v.skip else v.outcome for v in verdicts} == {SkipKind.MISSING_FIXTURE}


def test_a_catalog_that_does_not_know_every_transform_is_not_blamed() -> None:
    def with_buckets(call: Call) -> bool:
        return b"bucket[16]" in call.request.body

    with mock_session() as (mock, session):
        refuse_if(mock.registries, "createTable", with_buckets, 400)
        checks = checks_of("test_scan_planning_partitions")
        verdicts = [judge(check, Catalog(session, check.id)) for check in checks]
    assert [v.skip and v.skip.kind for v in verdicts] == [SkipKind.NOT_APPLICABLE] * len(checks)


def test_a_planner_to_which_ranges_and_unknown_filters_are_unsupported_is_not_blamed() -> None:
    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Any:
        sent = sent_json(call)
        if sent.keys() & {"start-snapshot-id", "end-snapshot-id"} or "icecheck" in str(sent):
            raise unsupported("There are no such scans")
        return faithful(state, call)

    with mock_session() as (mock, session):
        wrap(mock.registries, "planTableScan", around)
        asked = (*CHECKS, *checks_of("test_scan_planning_history"))
        verdicts = [judge(check, Catalog(session, check.id)) for check in asked]
    assert words([v for v in verdicts if v.outcome is not Outcome.SKIP]) == []


def test_a_planner_that_prunes_nothing_is_not_blamed() -> None:
    with mock_session() as (mock, session):
        alter_request_body(mock.registries, "planTableScan", _without_filter)
        # Its answers have no residual: clients then apply the filter that they sent.
        alter_body(mock.registries, "planTableScan", _without_residuals)
        verdicts = [judge(check, Catalog(session, check.id)) for check in (*CHECKS, *FILTERED)]
    assert [line for line in words(verdicts) if "malformed" not in line] == []


def _without_residuals(body: dict[str, Any]) -> dict[str, Any]:
    tasks = body.get("file-scan-tasks", [])
    bare = [{k: v for k, v in task.items() if k != "residual-filter"} for task in tasks]
    return {**body, "file-scan-tasks": bare}


def _without_filter(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name != "filter"}


def test_the_manifests_of_the_suite_are_read_by_pyiceberg() -> None:
    mock = MockCatalog(seed=1)
    target = Target("http://mock.invalid", warehouse="kill", isolation="flat")
    session = open_session(target, run_id="read", transport=mock.httpx_transport())
    catalog = Catalog(session, "manifests")
    with given_files(catalog) as files:
        files.append(PlannedFile("a.parquet", "a"), PlannedFile("b.parquet", "b"))
        files.append(PlannedFile("c.parquet", "a"))
        files.remove("a.parquet")
        deletes = PlannedFile("d.parquet", "b", content=POSITION_DELETES, refers_to="b.parquet")
        files.append(deletes)
        client = mock.pyiceberg("kill", in_process=True)
        table = client.load_table((*files.table.namespace, files.table.name))
        tasks = {task.file.file_path: task for task in table.scan().plan_files()}
        assert sorted(tasks) == [files.location("b.parquet"), files.location("c.parquet")]
        of_b = tasks[files.location("b.parquet")].delete_files
        assert [each.file_path for each in of_b] == [files.location("d.parquet")]
        only_a = table.scan(row_filter="category = 'a'").plan_files()
        assert [task.file.file_path for task in only_a] == [files.location("c.parquet")]
    mock.stop()
