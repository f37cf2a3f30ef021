"""What 1.11.0 announces in the config and plans: lawful catalogs pass, junk is told or ignored."""

from collections.abc import Callable
from typing import Any

import pytest

from icecheck.client.catalog import Catalog
from icecheck.contract import load
from icecheck.findings.verdict import Group, Outcome, SkipKind, Verdict
from icecheck.judging.judge import judge
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.core.context import Registries
from icecheck.mock_server.defects import defects
from icecheck.mock_server.defects.kit.rewriting import alter_body
from icecheck.mock_server.planning.plans import PlanningMode, PlanningSettings
from icecheck.proof.defective import defective_session
from icecheck.run.options import RunOptions
from icecheck.run.runner import run_as_far_as_possible
from icecheck.targets.target import Target
from icecheck.wire.connection import TargetUnusable
from tests.kill.killing import ISOLATIONS, checks_of, mock_session, words
from tests.kit.shares import some
from tests.lawful.lawful_1_11_config import LAWFUL_CONFIG

VERSION = "1.11.0"
CONTRACT = load(VERSION)
SEPARATORS = checks_of("test_separators", contract=CONTRACT)
OF_PLANNING = {
    "planTableScan.completed-has-plan-id",
    "planTableScan.min-rows-requested",
    "fetchPlanningResult.unknown-plan",
    "fetchPlanningResult.missing-table",
    "cancelPlanning.unknown-plan",
    "cancelPlanning.missing-table",
    "fetchScanTasks.unknown-task",
    "fetchScanTasks.missing-table",
    "fetchScanTasks.of-its-plan",
}
CHECKS = (
    *SEPARATORS,
    *checks_of(
        "test_unknown_warehouse",
        "test_referenced_by",
        "test_planned_access",
        "test_planning_mode",
        contract=CONTRACT,
    ),
    *(
        each
        for each in checks_of(
            "test_scan_planning",
            "test_scan_planning_files",
            "test_scan_planning_deletes",
            contract=CONTRACT,
        )
        if each.id in OF_PLANNING
    ),
)
NAMES = checks_of(
    "test_names", "test_odd_parents", "test_roundtrip_names", "test_alike_names", contract=CONTRACT
)
"""Checks of namespaces with odd characters in their names."""
NO_SECOND = {"names.both-separators", "listNamespaces.both-separators"}
OF_PLANS = {
    "planTableScan.storage-credentials",
    "planTableScan.every-file-with-credentials",
    "loadCredentials.of-a-plan",
}
THROUGH_VIEWS = {each.id for each in CHECKS if "referenced-by" in each.id}
WAREHOUSES = {"getConfig.unknown-warehouse", "getConfig.type-of-missing-warehouse"}
SERVED = {"loadTable.scan-planning-mode-served"}
PLANNING = ("planTableScan.", "cancelPlanning.", "fetchPlanningResult.", "fetchScanTasks.")
UNKNOWN_PLANS = ("fetchPlanningResult.unknown-plan", "cancelPlanning.unknown-plan")
SKIPPED = {
    "any-warehouse": WAREHOUSES,
    "tells-no-warehouse": WAREHOUSES,
    "no-views": THROUGH_VIEWS,
    "plan-ids-by-shape-everywhere": {"fetchScanTasks.unknown-task", "fetchScanTasks.missing-table"},
    "plan-ids-signed": UNKNOWN_PLANS,
    "plan-ids-counted": {"cancelPlanning.unknown-plan"},
    "plans-without-credentials": OF_PLANS,
    "no-mode": {"loadTable.scan-planning-mode", *SERVED},
    "client-plans": {
        *OF_PLANS,
        *SERVED,
        *(each.id for each in CHECKS if each.id.startswith(PLANNING)),
    },
    "nothing-to-vend": {*OF_PLANS, "loadCredentials.referenced-by"},
}
"""The catalogs that some checks cannot judge, and which ones; the others pass."""


def outcomes(verdicts: list[Verdict]) -> dict[str, Outcome]:
    return {v.check: v.outcome for v in verdicts if v.outcome is not Outcome.PASS}


@pytest.mark.parametrize("name", LAWFUL_CONFIG)
def test_a_lawful_catalog_is_not_blamed(name: str) -> None:
    installs = [LAWFUL_CONFIG[name]]
    with defective_session(installs, from_the_start=True, spec=VERSION) as (_, session):
        verdicts = [judge(check, Catalog(session, check.id)) for check in CHECKS]
    assert outcomes(verdicts) == dict.fromkeys(SKIPPED.get(name, ()), Outcome.SKIP), words(verdicts)
    assert session.residue == []


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_every_isolation_does(isolation: str) -> None:
    with mock_session(isolation=isolation, spec=VERSION) as (_, session):
        verdicts = [judge(check, Catalog(session, check.id)) for check in CHECKS]
    assert words(verdicts) == []


@pytest.mark.parametrize(
    "planning",
    [
        PlanningSettings(mode=PlanningMode.ASYNC, polls_until_ended=2),
        PlanningSettings(files_per_task=1),
        PlanningSettings(mode=PlanningMode.ASYNC, files_per_task=7),
    ],
    ids=repr,
)
def test_planners_are_not_blamed(planning: PlanningSettings) -> None:
    with mock_session(planning=planning, spec=VERSION) as (_, session):
        verdicts = [judge(check, Catalog(session, check.id)) for check in CHECKS]
    in_the_background = planning.mode is PlanningMode.ASYNC
    skipped = ["planTableScan.completed-has-plan-id"] if in_the_background else []
    assert outcomes(verdicts) == dict.fromkeys(skipped, Outcome.SKIP), words(verdicts)


@pytest.mark.parametrize(
    "separator",
    some(["%2E", "%24", None, "%7C", "%3A", "%2F", "%20", "%25", "%1F", "%3A%3A", "%2b"], 3),
)
def test_names_with_the_announced_separator_are_left_out(separator: str | None) -> None:
    with defective_session(separator=separator, from_the_start=True, spec=VERSION) as (_, session):
        checks = (*SEPARATORS, *NAMES)
        verdicts = [judge(check, Catalog(session, check.id)) for check in checks]
    others = [v for v in verdicts if v.outcome is not Outcome.PASS]
    assert [v.check for v in others if v.outcome is not Outcome.SKIP] == [], words(others)
    assert {v.skip.kind for v in others if v.skip} <= {SkipKind.NOT_APPLICABLE}
    skipped = {v.check for v in others}
    assert {each.id for each in SEPARATORS} & skipped == (
        {each.id for each in SEPARATORS}
        if separator is None
        else NO_SECOND
        if separator == "%1F"
        else set()
    )
    assert session.residue == []


def test_a_separator_that_no_server_understands_is_told_and_not_the_loss_of_levels() -> None:
    unknown = defects()["names-announced-separator-unknown"].install
    with defective_session([unknown], from_the_start=True, spec=VERSION) as (_, session):
        verdicts = [judge(check, Catalog(session, check.id)) for check in SEPARATORS]
    failed = [v.check for v in verdicts if v.outcome is Outcome.FAIL]
    assert failed == ["names.announced-separator"], words(verdicts)


# --------------------------------------------------------------- what nobody can use

JUNK: dict[str, tuple[Any, set[str]]] = {
    "empty": ("", {"getConfig.separator-not-empty"}),
    "half an escape": ("%2", {"getConfig.separator-encoded"}),
    "no escape": ("%ZZ", {"getConfig.separator-encoded"}),
    "a percent sign": ("%", {"getConfig.separator-encoded"}),
    "no UTF-8": ("%FF", set()),
    "a raw character": ("\x1d", {"getConfig.separator-encoded"}),
    "a slash": ("/", {"getConfig.separator-encoded"}),
    "a number": (7, {"getConfig.answered"}),
    "null": (None, {"getConfig.answered"}),
    "a list": (["%1D"], {"getConfig.answered"}),
}
"""What is announced -> the text, and which of the checks of the config fail."""
UNUSABLE = ("..", "%2E%2E", "%00", "_", "a", "%5F")


def announcing(**members: Any) -> Callable[[Registries], None]:
    """Return an installation that announces a separator, or members beside the overrides."""
    separator = {"namespace-separator": members.pop("separator")} if "separator" in members else {}

    def announced(body: dict[str, Any]) -> dict[str, Any]:
        more = {name.replace("_", "-"): value for name, value in members.items()}
        return body | {"overrides": body["overrides"] | separator} | more

    return lambda registries: alter_body(registries, "getConfig", announced)


def judged_by_a_run(install: Callable[[Registries], None]) -> tuple[dict[str, Outcome], Any]:
    """Return check -> outcome of a whole run on such a mock, and the error that ended it."""
    mock = MockCatalog(seed=1, warehouses=["wh"], root="memory://root", spec=VERSION)
    install(mock.registries)
    options = RunOptions(
        Target("http://m", warehouse="wh"),
        "r1",
        groups=(Group.CHECKS,),
        globs=("getConfig.*", "names.*", "listNamespaces.*", "createNamespace.*"),
        spec=VERSION,
    )
    try:
        ended = run_as_far_as_possible(options, transport=mock.httpx_transport())
    finally:
        mock.stop()
    return {v.check: v.outcome for v in ended.run.verdicts}, ended.error


@pytest.mark.parametrize("what", JUNK)
def test_a_separator_that_is_none_ends_no_run(what: str) -> None:
    separator, due = JUNK[what]
    found, error = judged_by_a_run(announcing(separator=separator))
    assert error is None
    assert Outcome.ERROR not in found.values()
    failed = {check for check, outcome in found.items() if outcome is Outcome.FAIL}
    of_config = {check for check in failed if check.startswith("getConfig.")}
    assert of_config == due
    # What this mock understands all the same is told once, not wherever levels are sent.
    assert {check for check in failed if not check.startswith("getConfig.")} <= {
        "names.announced-separator",
        "schema.getConfig.200",
    }


@pytest.mark.parametrize("separator", UNUSABLE)
def test_a_separator_that_leads_elsewhere_is_not_followed(separator: str) -> None:
    _, error = judged_by_a_run(announcing(separator=separator))
    assert isinstance(error, TargetUnusable)


@pytest.mark.parametrize("lifetime", ["", "soon", "P", 30, None, ["PT30M"], "P-1D"])
def test_a_lifetime_that_is_none_ends_no_run(lifetime: Any) -> None:
    found, error = judged_by_a_run(announcing(idempotency_key_lifetime=lifetime))
    assert error is None
    assert Outcome.ERROR not in found.values()
