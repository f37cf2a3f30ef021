"""What a catalog loses hides nothing: checks that can do without it find what else is wrong."""

import json

import httpx
import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.opening import open_session
from icecheck.findings.shared_symptoms import CHANGED_ALTHOUGH_REFUSED
from icecheck.findings.verdict import Outcome, Verdict
from icecheck.judging.explaining.effects import EFFECTS
from icecheck.judging.judge import judge
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.core.context import Call, Registries
from icecheck.mock_server.core.context import Outcome as Answered
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects import defects
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.defects.kit.updating import ignore_update
from icecheck.mock_server.protocol.problem import Problem
from icecheck.run.collect import collect
from icecheck.targets.target import Target
from tests.kit.contracts import CONTRACT
from tests.kit.shares import some
from tests.lawful.capabilities.serving import GROUPS, said_of, serving
from tests.lawful.capabilities.test_relied_effects import LOSSES
from tests.lawful.lawful import Install

CHECKS = {check.id: check for check in collect(GROUPS, CONTRACT, disruptive=True)}
_NO_NAMESPACE_MARK = "createNamespace.properties-stored"
_NO_MARK = "createTable.properties-kept"
_NOT_STAGED = "createTable.stage-creates-nothing"
_NO_STATISTICS = "update.set-statistics.effect"
_NO_REMOVAL = "update.remove-snapshot-ref.effect"
_NO_DROP = "dropTable.204"

HIDDEN: tuple[tuple[str, str, str], ...] = (
    ("world.namespaces", _NO_NAMESPACE_MARK, "world-child-takes-what-was-changed"),
    ("world.tables", _NO_MARK, "world-committed-tables-are-not-counted"),
    ("world.tables", _NO_MARK, "world-drop-takes-who-has-the-old-name"),
    ("world.tables", _NOT_STAGED, "world-rename-finds-old-properties"),
    ("states.life", _NO_STATISTICS, "states-columns-have-one-name"),
    ("states.life", _NO_REMOVAL, "states-defaults-are-the-columns"),
    ("states.conflicts", _NO_STATISTICS, "states-one-ref-is-asserted"),
    ("states.two-lives", _NO_STATISTICS, "states-transaction-carries-properties-over"),
    ("request.json-on-every-route", _NOT_STAGED, "json-action-comes-first"),
)
"""A check, an effect that the catalog loses, and a defect that the check finds all the same."""


def loses(effect: str) -> Install:
    if effect == _NO_REMOVAL:  # no check tells of it but the one of the update itself
        return lambda registries: ignore_update(
            registries, "remove-snapshot-ref", lambda _, d: not d.is_new_table
        )
    return LOSSES[effect][0]


def serves_no(operation_id: str, status: int) -> Install:
    """Answer every request to an operation as one to an unknown route."""

    def around(_faithful: Faithful, _state: WarehouseState, _call: Call) -> Answered:
        raise Problem(status, "NotFoundException", "Unknown path")

    return lambda registries: wrap(registries, operation_id, around)


def judged(check: str, *installs: Install, **target: object) -> Verdict:
    def install(registries: Registries) -> None:
        for each in installs:
            each(registries)

    verdicts = said_of([CHECKS[check]], install, settle=False, **target).verdicts
    return next(verdict for verdict in verdicts if verdict.check == check)


ENDS_WITH_IT = {
    ("alike.tables-beside-longer-names", _NO_DROP),
    ("names.space", _NO_DROP),
    ("roundtrip.namespace-names.store", _NO_NAMESPACE_MARK),
    ("roundtrip.table-names.address", _NO_DROP),
    ("transaction.every-table-changes", _NO_MARK),
    ("update.set-properties", _NO_MARK),
}
"""Checks of which the lost effect is the last part, or only arranged."""


@pytest.mark.parametrize(
    ("check", "effect"), some(sorted({row[:2] for row in HIDDEN} | ENDS_WITH_IT), 2)
)
def test_a_check_does_without_a_lost_effect(check: str, effect: str) -> None:
    verdict = judged(check, loses(effect))
    assert (verdict.outcome, verdict.without) == (Outcome.PASS, (effect,))
    assert effect in verdict.summary


@pytest.mark.parametrize(("check", "effect", "defect"), some(HIDDEN, 2))
def test_a_lost_effect_hides_no_defect(check: str, effect: str, defect: str) -> None:
    broken = defects()[defect].install
    found = judged(check, broken)
    verdict = judged(check, loses(effect), broken)
    assert verdict.outcome is found.outcome is Outcome.FAIL
    assert verdict.findings[0].symptom == found.findings[0].symptom
    assert effect in verdict.without
    assert found.without == ()


@pytest.mark.parametrize("check", some(sorted({row[0] for row in {*HIDDEN} | ENDS_WITH_IT}), 3))
def test_a_faithful_catalog_is_judged_once(check: str) -> None:
    verdict = judged(check)
    assert (verdict.outcome, verdict.without, verdict.summary) == (Outcome.PASS, (), "")


@pytest.mark.parametrize(
    ("check", "operation_id", "status"),
    [
        ("names.space", "dropTable", 404),
        ("names.space", "dropTable", 501),
        ("roundtrip.table-names.store", "dropTable", 501),
        ("world.tables", "dropTable", 404),
        ("world.tables", "renameTable", 404),
        ("world.tables", "renameTable", 501),
        ("world.namespaces", "updateProperties", 404),
        ("error.several-faults", "renameTable", 501),
        ("error.several-faults", "commitTransaction", 501),
        ("error.several-faults", "registerTable", 501),
        ("names.space", "dropNamespace", 501),
        ("error.type-of-what-is-missing", "dropTable", 404),
        ("error.type-of-what-is-missing", "reportMetrics", 404),
        ("error.type-of-missing-namespace", "registerTable", 404),
        ("race.random-reads", "renameTable", 404),
        ("race.random-reads", "tableExists", 404),
        ("race.random-reads", "dropTable", 404),
    ],
)
def test_a_check_does_without_an_operation_that_is_not_served(
    check: str, operation_id: str, status: int
) -> None:
    verdict = judged(check, serves_no(operation_id, status), accept_residue=True)
    success = CONTRACT.operations[operation_id].success
    assert (verdict.outcome, verdict.without) == (Outcome.PASS, (success,))


def test_the_requests_of_a_check_that_is_called_again_are_counted_on() -> None:
    with serving(loses(_NO_MARK)) as (_, session):
        check = CHECKS["update.set-properties"]
        verdict = judge(check, Catalog(session, check.id))
        own = [e.ordinal for e in session.exchanges if e.check == check.id]
    assert verdict.without == (_NO_MARK,)
    assert len(own) == len({*own}) == verdict.requests


@pytest.mark.parametrize("effect", ["createNamespace.exists-afterwards", "dropNamespace.204"])
def test_what_explains_is_tried_below_the_namespace_that_the_user_has_named(effect: str) -> None:
    (tried,) = [each for each in EFFECTS if each.requirement == effect and not each.route]
    with MockCatalog(seed=1) as mock:
        httpx.get(f"{mock.uri}/v1/config?warehouse=wh")
        httpx.post(f"{mock.uri}/v1/wh/namespaces", json={"namespace": ["theirs"]})
        place = Target(mock.uri, warehouse="wh", namespace=("theirs",))
        session = open_session(place, run_id="below")
        catalog = Catalog(session, "probe")
        assert tried.is_kept(catalog)
        catalog.undo()
        session.close()
    made = [e.request_body for e in catalog.exchanges if e.operation == "createNamespace"]
    assert [json.loads(body or b"")["namespace"][0] for body in made] == ["theirs"]


def test_an_operation_that_is_not_served_is_the_finding_of_its_own_checks() -> None:
    unserved = serves_no("renameTable", 501)
    verdict = judged("renameTable.keeps-table", unserved)
    assert (verdict.outcome, verdict.without) == (Outcome.FAIL, ())


def test_half_of_a_refused_transaction_is_told_as_such_of_namesakes_too() -> None:
    verdict = judged(
        "alike.transaction-over-one-name", defects()["transaction-half-done-on-conflict"].install
    )
    assert [finding.symptom for finding in verdict.findings] == [CHANGED_ALTHOUGH_REFUSED]


def test_lost_statistics_are_not_due_to_lost_properties() -> None:
    verdict = judged("states.life", loses(_NO_MARK), loses(_NO_STATISTICS))
    assert (verdict.outcome, verdict.without) == (Outcome.PASS, (_NO_STATISTICS,))


def test_what_a_staged_table_lacks_is_not_due_to_its_being_made_at_once() -> None:
    broken = defects()["partition-spec-lost"].install
    found, verdict = (
        judged("createTable.staged-answer", *each)
        for each in (
            (broken,),
            (broken, loses(_NOT_STAGED)),
        )
    )
    assert verdict.outcome is found.outcome is Outcome.FAIL


@pytest.mark.parametrize(
    "check", ["registerTable.missing-namespace", "generated.registerTable.fuzzed"]
)
def test_the_word_of_a_router_is_no_refusal(check: str) -> None:
    checks = [CHECKS["registerTable.succeeds"], CHECKS[check]]
    said = said_of(checks, serves_no("registerTable", 404))
    (verdict,) = (each for each in said.verdicts if each.check == check)
    assert verdict.outcome is Outcome.FAIL
    assert verdict.summary.endswith("registerTable answers 404 whatever is asked)")
    assert "schema.registerTable.404" not in {each.check for each in said.verdicts}
