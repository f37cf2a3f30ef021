"""Features of later documents are recognised and never at fault (verdict-rules 10)."""

from collections.abc import Iterable

import pytest

from icecheck.client.catalog import Catalog
from icecheck.findings.verdict import Group, Outcome, Verdict
from icecheck.judging.check import Check
from icecheck.judging.judge import judge
from icecheck.judging.passive import observe, passive_verdicts
from icecheck.mock_server.planning.plans import PlanningMode, PlanningSettings
from icecheck.proof.defective import defective_session
from icecheck.replies.schema import schema_judge
from icecheck.run.collect import collect
from icecheck.wire.exchange import Exchange
from tests.kill.killing import words
from tests.kit.contracts import CONTRACT
from tests.kit.residual_plans import plan_with
from tests.kit.shares import has_turn, in_shares, is_plain, share
from tests.lawful.lawful_later import LAWFUL_LATER, SHOWN_BY

CHECKS = collect((Group.CHECKS, Group.GENERATED, Group.SCENARIOS), CONTRACT)
PLANNING = tuple(check for check in CHECKS if check.profile == "scan-planning")
MODES = {
    "sync": PlanningSettings(files_per_task=1),
    "async": PlanningSettings(mode=PlanningMode.ASYNC),
}


def verdicts_on(
    names: Iterable[str], checks: Iterable[Check], planning: PlanningSettings | None = None
) -> tuple[list[Verdict], list[Exchange]]:
    installs = [LAWFUL_LATER[name] for name in names]
    with defective_session(installs, from_the_start=True, planning=planning) as (_, session):
        session.exchanges.clear()
        verdicts = [judge(check, Catalog(session, check.id)) for check in checks]
        exchanges = [*session.exchanges]
        verdicts += passive_verdicts(observe(exchanges, session.schemas), CONTRACT)
    assert session.residue == []
    return verdicts, exchanges


@in_shares
def test_a_catalog_of_later_documents_passes_everything() -> None:
    checks = share(CHECKS, 0, 18, always=lambda check: is_plain(check) and has_turn(check, 0, 3))
    verdicts, _ = verdicts_on(LAWFUL_LATER, checks)
    others = {v.check: v.outcome for v in verdicts if v.outcome is not Outcome.PASS}
    # The catalog compares one tag with one tag: for a list of tags it sends the whole table.
    skipped = {check.id for check in checks} & {"etag.told-with-not-modified"}
    assert others == dict.fromkeys(skipped, Outcome.SKIP)


@in_shares
@pytest.mark.parametrize("mode", MODES)
def test_plans_in_the_words_of_later_documents_are_not_blamed(mode: str) -> None:
    names = ("plans-with-credentials", "new-predicates")
    checks = share(PLANNING, [*MODES].index(mode), len(MODES))
    verdicts, exchanges = verdicts_on(names, checks, MODES[mode])
    assert words(verdicts) == []
    assert any(b'"left"' in e.response_body for e in exchanges)
    assert any(b'"storage-credentials"' in e.response_body for e in exchanges)


@pytest.mark.parametrize(
    "predicate",
    [
        True,
        {"type": "eq", "left": {"type": "reference", "name": "a"}, "right": 1},
        {"type": "not", "child": {"type": "is-null", "child": {"type": "reference", "id": 1}}},
        {"type": "and", "left": False, "right": {"type": "eq", "term": "a", "value": 1}},
        {"type": "in", "child": {"type": "reference", "name": "a"}, "values": [1, 2]},
    ],
)
def test_a_residual_may_be_a_predicate_of_a_later_document(predicate: object) -> None:
    assert (
        schema_judge(CONTRACT).response_problems("planTableScan", "200", plan_with(predicate)) == ()
    )


@pytest.mark.parametrize(
    "predicate",
    [
        1,
        {"left": 1, "right": 2},
        {"type": "eq", "left": {"type": "reference", "name": "a"}},
        {"type": "and", "left": {"type": "eq"}, "right": True},
        {"type": "like", "left": 1, "right": 2},
    ],
)
def test_a_residual_that_no_document_knows_is_blamed(predicate: object) -> None:
    assert (
        schema_judge(CONTRACT).response_problems("planTableScan", "200", plan_with(predicate)) != ()
    )


def test_requests_are_written_by_this_document_all_the_same() -> None:
    later = {"type": "eq", "left": {"type": "reference", "name": "a"}, "right": 1}
    mine = {"type": "eq", "term": "a", "value": 1}
    assert schema_judge(CONTRACT).request_is_valid("planTableScan", {"filter": mine})
    assert not schema_judge(CONTRACT).request_is_valid("planTableScan", {"filter": later})


def test_a_column_of_a_later_type_is_not_blamed() -> None:
    field = {"id": 1, "name": "a", "type": "variant", "required": False}
    metadata = {
        "format-version": 3, "table-uuid": "u", "location": "l", "last-updated-ms": 1,
        "last-column-id": 1, "next-row-id": 0,
        "schemas": [{"type": "struct", "schema-id": 0, "fields": [field]}],
    }  # fmt: skip
    problems = schema_judge(CONTRACT).response_problems("loadTable", "200", {"metadata": metadata})
    assert [p for p in problems if "fields" in p.pointer] == []


def test_every_later_fact_is_shown_by_a_catalog_or_needs_none() -> None:
    # Parameters that a client may send show in no answer; the type of a column is tested above.
    asked = {fact.name for fact in CONTRACT.later if fact.kind == "parameter"}
    assert set(SHOWN_BY) == {fact.name for fact in CONTRACT.later} - asked - {"Type.variant"}
    assert set(SHOWN_BY.values()) == set(LAWFUL_LATER)
