"""What real clients send is replayed: on the faithful mock it works, and defects stop it."""

import json
from collections import Counter
from collections.abc import Iterator
from itertools import count
from typing import Any
from uuid import UUID

import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.opening import open_session
from icecheck.client.sender import KEY_HEADER
from icecheck.contract import DEFAULT_SPEC_VERSION
from icecheck.findings.verdict import Level, Outcome, SkipKind, Verdict
from icecheck.judging.check import Check, check_of
from icecheck.judging.judge import judge
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.core.context import Registries
from icecheck.mock_server.defects.kit.rewriting import alter_body
from icecheck.mock_server.defects.kit.updating import ignore_update
from icecheck.mock_server.metadata.builder import Draft
from icecheck.scenarios.dialects import test_dialects
from icecheck.scenarios.dialects.dialect import Dialect, Workflow, dialects
from icecheck.targets.target import Target
from tests.kill.killing import ISOLATIONS, mock_session, run_check
from tests.kill.refusing import refuse_if
from tests.kit.contracts import CONTRACT

REQUESTS_MAX = 150
CHECKS: dict[str, Check] = {
    check.id: check
    for name, value in vars(test_dialects).items()
    if name.startswith("test_") and (check := check_of(value, CONTRACT)) is not None
}
WORKFLOWS = [(d, w) for d in dialects().values() for w in d.workflows]
KILLED_BY = {
    "tables": ("status-updateTable.200-is-500", "status-dropTable.204-is-500"),
    "views": ("status-createView.200-is-500",),
    "transactions": ("status-commitTransaction.204-is-500",),
}


def check_for(dialect: Dialect, workflow: Workflow) -> Check:
    return CHECKS[f"dialect.{dialect.slug}.{workflow.name}"]


def each_workflow(*names: str) -> pytest.MarkDecorator:
    chosen = [(d, w) for d, w in WORKFLOWS if not names or w.name in names]
    return pytest.mark.parametrize(
        ("dialect", "workflow"), chosen, ids=[f"{d.slug}-{w.name}" for d, w in chosen]
    )


def judged(check: Check, *, hidden: tuple[str, ...] = ()) -> tuple[Verdict, list[str]]:
    """The verdict on a mock that does not serve some operations, and what was sent."""
    mock = MockCatalog(seed=1, hidden=hidden)
    session = open_session(
        Target("http://mock.invalid", warehouse="wh"),
        run_id="t1",
        transport=mock.httpx_transport(),
    )
    catalog = Catalog(session, check.id)
    verdict = judge(check, catalog)
    session.close()
    mock.stop()
    assert session.residue == []
    return verdict, [str(e.operation) for e in catalog.exchanges]


@pytest.mark.parametrize("isolation", ISOLATIONS)
@each_workflow()
def test_every_workflow_of_every_client_works_on_the_mock(
    dialect: Dialect, workflow: Workflow, isolation: str
) -> None:
    verdict = run_check(check_for(dialect, workflow), isolation=isolation)
    assert (verdict.outcome, verdict.summary) == (Outcome.PASS, "")
    assert verdict.level is Level.INTEROP


def test_all_replays_together_keep_their_budget_of_requests() -> None:
    assert sum(run_check(check).requests for check in CHECKS.values()) <= REQUESTS_MAX


@each_workflow()
def test_no_placeholder_reaches_the_catalog(dialect: Dialect, workflow: Workflow) -> None:
    check = check_for(dialect, workflow)
    with mock_session() as (_, session):
        catalog = Catalog(session, check.id)
        judge(check, catalog)
        for exchange in catalog.exchanges:
            assert "{" not in exchange.url
            assert "%7B" not in exchange.url
            for text in texts_in(json.loads(exchange.request_body or b"null")):
                assert not text.startswith("{")
                assert not text.endswith("}")


def texts_in(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from texts_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(inner)
    elif isinstance(value, str):
        yield value


@each_workflow()
def test_a_defect_of_the_mock_stops_the_client(dialect: Dialect, workflow: Workflow) -> None:
    for defect in KILLED_BY[workflow.name]:
        verdict = run_check(check_for(dialect, workflow), (defect,))
        assert verdict.outcome is Outcome.FAIL, defect


def takes_each_id_once(registries: Registries) -> None:
    """Acknowledge a schema whose id the table has, and drop it; iceberg-rust sends id 0 always."""

    def is_taken(update: Any, draft: Draft) -> bool:
        taken = [each.schema_id for each in draft.metadata.schemas]
        return not draft.is_new_table and update.schema.schema_id in taken

    ignore_update(registries, "add-schema", is_taken)
    ignore_update(
        registries, "set-current-schema", lambda u, d: u.schema_id == -1 and not d.added_schema_ids
    )


@each_workflow("tables")
def test_a_change_that_is_acknowledged_and_lost_stops_the_user(
    dialect: Dialect, workflow: Workflow
) -> None:
    check = check_for(dialect, workflow)
    bodies = [request.body or {} for step in workflow.steps for request in step.requests]
    parts = [part for body in bodies for part in body.get("table-changes", [body])]
    commits = [{update["action"] for update in part.get("updates", ())} for part in parts]
    updates = set().union(*(each for each in commits if "assign-uuid" not in each))
    for action in ("add-schema", "set-current-schema", "set-snapshot-ref"):
        verdict = run_check_on(
            check,
            lambda each, a=action: ignore_update(each, a, lambda _, draft: not draft.is_new_table),
        )
        # What is lost in its plainest form too is told there, and blocks the client's check.
        stopped = verdict.outcome in {Outcome.FAIL, Outcome.BLOCKED}
        assert stopped is (action in updates), (action, verdict.summary)


def test_a_column_under_an_id_that_the_table_has_is_missed() -> None:
    verdict = run_check_on(CHECKS["dialect.rust.tables"], takes_each_id_once)
    assert verdict.outcome is Outcome.FAIL
    assert "stops at add column" in verdict.summary
    assert verdict.level is Level.INTEROP


@each_workflow("tables")
def test_another_status_of_success_stops_those_who_were_seen_to_stop(
    dialect: Dialect, workflow: Workflow
) -> None:
    verdict = run_check(check_for(dialect, workflow), ("table-created-201",))
    stops = 201 in dialect.stops_at.get("createTable", ())
    assert verdict.outcome is (Outcome.FAIL if stops else Outcome.PASS)


@each_workflow("views")
def test_a_catalog_without_views_is_not_asked_for_them(
    dialect: Dialect, workflow: Workflow
) -> None:
    verdict, sent = judged(check_for(dialect, workflow), hidden=("createView",))
    assert verdict.skip is not None
    assert verdict.skip.kind is SkipKind.NOT_DECLARED
    assert sent == []


@each_workflow("tables")
def test_a_catalog_that_renames_nothing_is_replayed_without_it(
    dialect: Dialect, workflow: Workflow
) -> None:
    verdict, sent = judged(check_for(dialect, workflow), hidden=("renameTable",))
    assert verdict.outcome is Outcome.PASS
    assert "renameTable" not in sent
    assert "dropTable" in sent


@each_workflow("tables")
def test_who_is_asked_whether_something_exists_has_said_that_they_answer(
    dialect: Dialect, workflow: Workflow
) -> None:
    hidden = ("namespaceExists", "tableExists")
    verdict, sent = judged(check_for(dialect, workflow), hidden=hidden)
    assert verdict.outcome is Outcome.PASS
    assert not set(hidden) & set(sent)


@each_workflow()
def test_a_refusal_of_any_request_names_the_client_and_the_step(
    dialect: Dialect, workflow: Workflow
) -> None:
    check = check_for(dialect, workflow)
    steps = [s for s in workflow.steps if any(r.answer < 300 for r in s.requests)]
    operations = {r.operation for s in steps for r in s.requests if r.answer < 300}
    operations -= {"getConfig", *dialect.shrugs_off}
    names = {step.name.replace("-", " ") for step in steps}
    for operation in sorted(operations):
        verdict = run_check_on(check, lambda r, o=operation: refuse_if(r, o, lambda _: True, 422))
        found = [verdict.outcome, *(f.detail for f in verdict.findings)]
        assert verdict.outcome is not Outcome.PASS, operation
        if verdict.outcome is Outcome.FAIL:
            said, _, step = verdict.findings[0].detail.rpartition(" stops at ")
            assert said == f"{dialect.client} {dialect.version}", found
            assert step in names, found


@each_workflow()
def test_a_member_that_a_client_needs_is_missed(dialect: Dialect, workflow: Workflow) -> None:
    check = check_for(dialect, workflow)
    asked = [r for s in workflow.steps for r in s.requests if r.operation != "getConfig"]
    seen = count()
    for operation, pointers in dialect.needs.items():
        mine = [r for r in asked if r.operation == operation and r.answer < 300]
        for pointer in pointers:
            if all(pointer in request.empty for request in mine):
                continue
            next(seen)
            verdict = run_check_on(check, lambda r, o=operation, p=pointer: leave_out(r, o, p))
            assert verdict.outcome in {Outcome.FAIL, Outcome.BLOCKED}, (operation, pointer)
    assert next(seen) > 0


@pytest.mark.parametrize("spec", ["1.10.0", "1.11.0"])
@each_workflow()
def test_a_key_goes_with_a_request_of_who_sends_some_to_who_announces_them(
    dialect: Dialect, workflow: Workflow, spec: str
) -> None:
    asked = [request for step in workflow.steps for request in step.requests]
    keyed = Counter(request.operation for request in asked if request.keyed)
    assert bool(keyed) is (dialect.slug == "spark")
    check = check_for(dialect, workflow)
    with mock_session(spec=spec) as (_, session):
        catalog = Catalog(session, check.id)
        assert judge(check, catalog).outcome is Outcome.PASS
        sent = [
            (exchange.operation, dict(exchange.request_headers).get(KEY_HEADER))
            for exchange in catalog.exchanges
        ]
    if spec == "1.10.0":
        keyed.clear()
    assert Counter(operation for operation, key in sent if key) == keyed
    keys = [key for _, key in sent if key]
    assert len({*keys}) == len(keys)
    assert {UUID(key).version for key in keys} <= {7}


def test_a_catalog_that_announces_keys_and_refuses_them_stops_who_sends_them() -> None:
    def refuse(registries: Registries) -> None:
        refuse_if(
            registries, "createTable", lambda call: KEY_HEADER.lower() in call.request.headers, 422
        )

    for dialect, workflow in WORKFLOWS:
        if workflow.name == "tables":
            verdict = run_check_on(check_for(dialect, workflow), refuse, spec="1.11.0")
            stopped = Outcome.FAIL if dialect.slug == "spark" else Outcome.PASS
            assert verdict.outcome is stopped, dialect.slug


def run_check_on(check: Check, install: object, spec: str = DEFAULT_SPEC_VERSION) -> Verdict:
    with mock_session(spec=spec) as (mock, session):
        install(mock.registries)  # type: ignore[operator]
        return judge(check, Catalog(session, check.id))


def leave_out(registries: Registries, operation: str, pointer: str) -> None:
    *parents, last = pointer.strip("/").split("/")

    def without(body: object) -> object:
        place = body
        for part in parents:
            place = place.get(part) if isinstance(place, dict) else None
        if isinstance(place, dict):
            place.pop(last, None)
        return body

    alter_body(registries, operation, without)
