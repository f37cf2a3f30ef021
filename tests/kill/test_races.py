"""Races: a defect proves each check in process and over HTTP, and lawful catalogs pass."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from msgspec import structs

from icecheck.client.catalog import Catalog
from icecheck.client.opening import open_session
from icecheck.client.session import Session
from icecheck.findings.verdict import Level, SkipKind, Verdict
from icecheck.findings.verdict import Outcome as Ending
from icecheck.judging.judge import judge
from icecheck.judging.observed import Observed
from icecheck.judging.passive import observe, passive_verdicts
from icecheck.mock_server.core.context import Call, Delay, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects import defects
from icecheck.mock_server.defects.commits.late_sight import LateSight
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.mock import MockCatalog
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import Problem
from icecheck.targets.target import Target
from icecheck.wire.exchange import Exchange, Step
from tests.kill.killing import (
    ADDRESS,
    TOKEN,
    WAREHOUSE,
    checks_of,
    defects_of,
    mock_session,
    run_check,
    words,
)
from tests.kit.shares import some
from tests.lawful.lawful import LAWFUL, Install, lawful_session
from tests.lawful.lawful_commits import LAWFUL_COMMITS
from tests.lawful.lawful_tables import LAWFUL_TABLES

CHECKS = checks_of("test_races", "test_races_on_names")
# What is less than a MUST is told of the answers of all races; the kill matrix has its defects.
NAMES = [
    name
    for name in defects_of("commits.races")
    if any(defects()[name].breaks in check.proves for check in CHECKS)
]
CONTENDED = (
    "createNamespace",
    "createTable",
    "createView",
    "updateTable",
    "registerTable",
    "renameTable",
    "dropTable",
    "dropView",
    "replaceView",
    "commitTransaction",
    "updateProperties",
    "dropNamespace",
)


@contextmanager
def http_session(defect_name: str | None = None, rounds: int | None = None) -> Iterator[Session]:
    """Yield a session with its own mock behind a socket, which may have a defect."""
    with MockCatalog(seed=1, token=TOKEN) as mock:
        target = Target(mock.uri, warehouse=WAREHOUSE, token=TOKEN, race_rounds=rounds)
        session = open_session(target, run_id="kill")
        if defect_name is not None:
            defects()[defect_name].install(mock.registries)
        yield session
        session.close()


def judged(session: Session) -> list[Verdict]:
    return [judge(check, Catalog(session, check.id)) for check in CHECKS]


# ---- lawful catalogs


def test_every_check_passes_on_the_faithful_mock_over_http() -> None:
    with http_session() as session:
        assert words(judged(session)) == []
    assert session.residue == []


@pytest.mark.complete("twenty rounds of each race")
def test_more_rounds_are_more_of_the_same() -> None:
    def requests(rounds: int) -> int:
        mock = MockCatalog(seed=1)
        target = Target(ADDRESS, warehouse=WAREHOUSE, race_rounds=rounds)
        session = open_session(target, run_id="kill", transport=mock.httpx_transport())
        verdicts = judged(session)
        session.close()
        mock.stop()
        assert words(verdicts) == []
        return sum(verdict.requests for verdict in verdicts)

    assert requests(20) > 3 * requests(5)


def test_the_requests_do_not_depend_on_who_is_faster() -> None:
    def said(favoured: str) -> list[tuple[Any, ...]]:
        with mock_session() as (mock, session):
            for check in ("race.table-or-view", "race.rename-table"):
                _let_win(mock.registries, favoured, Catalog(session, check).new_name())
            session.exchanges.clear()
            judged(session)
            sent = [e for e in session.exchanges if e.step not in {Step.PROBE, Step.UNDO}]
            undone = [e for e in session.exchanges if e.step is Step.UNDO]
        # What was made last is removed first, and the table that won was renamed back last.
        return [
            *[
                (e.check, e.ordinal, e.method, e.url, _without_server_values(_body(e)))
                for e in sent
            ],
            *sorted((e.check, e.method, _address(e)) for e in undone),
        ]

    assert said("table") == said("view")


def _let_win(registries: Registries, favoured: str, name_in_race: str) -> None:
    """Answer 409 to every creation of the other kind by the check that makes such names.

    The same happens to a rename of its first table, or of the last one.
    """
    of_the_race = name_in_race.rpartition("_")[0]
    slower = f"{of_the_race}_4" if favoured == "table" else f"{of_the_race}_1"

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if call.namespace[-1].startswith(of_the_race):
            raise Problem(409, "AlreadyExistsException", "The other one was faster")
        return faithful(state, call)

    def around_renames(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if json.loads(call.request.body)["source"]["name"] == slower:
            raise Problem(409, "AlreadyExistsException", "The other one was faster")
        return faithful(state, call)

    wrap(registries, "createView" if favoured == "table" else "createTable", around)
    wrap(registries, "renameTable", around_renames)


def _address(exchange: Exchange) -> str:
    """Return the address of a removal; it does not tell whether a table or a view won."""
    return re.sub("/(tables|views)/", "/objects/", exchange.url)


def _body(exchange: Exchange) -> str:
    """Return the body of a request; one that renames a table back does not tell whose it is."""
    if (exchange.check, exchange.operation) == ("race.rename-table", "renameTable"):
        return ""
    return (exchange.request_body or b"").decode()


def _without_server_values(body: str) -> str:
    """Return a body without the ids, locations and times that the server has made."""
    body = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UUID", body)
    body = re.sub(r'"(metadata-location|location|manifest-list)":"[^"]*"', r'"\1":""', body)
    return re.sub(r'"timestamp-ms":\d+', '"timestamp-ms":0', body)


EVERY_LAWFUL: dict[str, Install] = {**LAWFUL, **LAWFUL_TABLES, **LAWFUL_COMMITS}
# Catalogs that differ for contenders; those with only other answers are tested elsewhere.
ELSEWHERE = (
    "one-level-namespaces", "no-namespace-properties", "no-endpoints-listed", "read-only",
    "narrow-names", "vending-credentials", "current-snapshot-only", "no-rename",
    "one-table-a-location", "no-staging", "main-only", "version-3-by-default", "without-loadTable",
    "refs-guard-snapshots", "views-are-unsupported", "no-transactions",
)  # fmt: skip


@pytest.mark.parametrize("name", some(ELSEWHERE, 6))
def test_lawful_catalogs_are_not_blamed(name: str) -> None:
    with lawful_session(EVERY_LAWFUL[name]) as session:
        verdicts = judged(session)
    blamed = [v for v in verdicts if v.outcome not in {Ending.PASS, Ending.SKIP}]
    assert words(blamed) == []


def _trouble_for_losers(
    registries: Registries, status: int, *operations: str, applied: bool = False
) -> None:
    """Answer so during another request, whether or not the answered one took effect."""
    sight = LateSight(window_ms=10)

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if sight.state(faithful.context, state) is state:
            return sight.wrote(faithful.context, state, faithful(state, call))
        trouble = replies.error_reply(status, "Trouble", "Not now")
        if not applied:
            return Outcome(state, trouble)
        try:
            return structs.replace(faithful(state, call), reply=trouble)
        except Problem:
            return Outcome(state, trouble)

    for operation_id in operations or CONTENDED:
        wrap(registries, operation_id, around)


@pytest.mark.parametrize(("status", "applied"), some([(504, True), (429, False), (503, False)], 3))
def test_unknown_outcomes_are_not_blamed(status: int, applied: bool) -> None:
    with mock_session() as (mock, session):
        session.connection._sleep = lambda _: None  # retries take no time here
        _trouble_for_losers(mock.registries, status, applied=applied)
        session.exchanges.clear()
        verdicts = judged(session)
    assert [v for v in verdicts if v.level is Level.MUST and v.outcome is not Ending.PASS] == []
    assert len([e for e in session.exchanges if e.status == status]) > 20


@pytest.mark.parametrize(
    ("status", "applied"), some([(500, True), (500, False), (502, False), (504, True)], 3)
)
def test_commits_may_end_with_an_unknown_outcome(status: int, applied: bool) -> None:
    """The document names such answers for commits only; writers cannot retry after them."""
    with mock_session() as (mock, session):
        commits = ("updateTable", "commitTransaction")
        _trouble_for_losers(mock.registries, status, *commits, applied=applied)
        failed = {v.check: v.level for v in judged(session) if v.outcome is Ending.FAIL}
    # What took effect is followed by commits to another state, whose conflict may be told.
    due = {"race.conflict-is-told": Level.INTEROP}
    assert failed == due or (applied and failed == {})


@pytest.mark.parametrize("operation_id", some(["createNamespace", "createTable", "dropTable"], 3))
def test_a_loser_that_is_told_of_a_failure_is_a_should(operation_id: str) -> None:
    """With the failed request first, and without effect, every other answer is lawful."""
    observed: dict[str, Observed] = {}
    with mock_session() as (mock, session):
        _trouble_for_losers(mock.registries, 500, operation_id)
        verdicts = []
        for check in CHECKS:
            session.exchanges.clear()
            verdicts.append(judge(check, Catalog(session, check.id)))
            observe(session.exchanges, session.schemas, observed, verdicts[-1])
    assert words(verdicts) == []
    told = {v.check: v for v in passive_verdicts(observed, session.contract)}["race.losers-told"]
    assert (told.outcome, told.level) == (Ending.FAIL, Level.SHOULD)
    assert {finding.answered for finding in told.findings} == {500}


@pytest.mark.parametrize("late_ms", some([30, 0], 2))
def test_a_catalog_that_refuses_whatever_overlaps_is_not_blamed(late_ms: int) -> None:
    """The whole warehouse has optimistic locking: any overlapping request is a conflict."""
    sight = LateSight(window_ms=10)

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if sight.state(faithful.context, state) is not state:
            refused = replies.error_reply(409, "CommitFailedException", "Somebody else is faster")
            return Outcome(state, refused, (Delay(late_ms),))
        return sight.wrote(faithful.context, state, faithful(state, call))

    with mock_session() as (mock, session):
        for operation_id in CONTENDED:
            wrap(mock.registries, operation_id, around)
        verdicts = judged(session)
    assert words(verdicts) == []


def test_a_drop_that_nobody_is_told_of_is_noticed() -> None:
    """Both clients are told that the table is not there, and so it is."""
    (check,) = [check for check in CHECKS if check.id == "race.drop"]
    with mock_session() as (mock, session):
        catalog = Catalog(session, check.id)
        of_the_race = catalog.new_name().rpartition("_")[0]

        def lost(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
            outcome = faithful(state, call)
            if not call.name.startswith(of_the_race):
                return outcome
            gone = replies.error_reply(404, "NoSuchTableException", "Gone")
            return structs.replace(outcome, reply=gone)

        wrap(mock.registries, "dropTable", lost)
        verdict = judge(check, catalog)
    assert verdict.outcome is Ending.FAIL
    assert (verdict.findings[0].expected, verdict.findings[0].actual) == ("204", "404")


def test_a_catalog_without_renaming_or_views_is_not_blamed() -> None:
    def refuse(_: Faithful, _state: WarehouseState, _call: Call) -> Outcome:
        raise Problem(406, "UnsupportedOperationException", "Not here")

    with mock_session() as (mock, session):
        for operation_id in ("renameTable", "createView"):
            wrap(mock.registries, operation_id, refuse)
        verdicts = {verdict.check: verdict for verdict in judged(session)}
    for check_id in ("race.rename-table", "race.create-view"):
        skip = verdicts.pop(check_id).skip
        assert skip is not None
        assert skip.kind is SkipKind.NOT_APPLICABLE
    for check_id in ("race.drop-view", "race.view-commits"):  # they need a view
        assert verdicts.pop(check_id).outcome is Ending.BLOCKED
    assert words(verdicts.values()) == []


def test_where_nobody_succeeds_nothing_is_proven() -> None:
    def refuse(_: Faithful, _state: WarehouseState, _call: Call) -> Outcome:
        raise Problem(409, "AlreadyExistsException", "Not now")

    with mock_session() as (mock, session):
        wrap(mock.registries, "registerTable", refuse)
        wrap(mock.registries, "commitTransaction", refuse)
        verdicts = {verdict.check: verdict for verdict in judged(session)}
    registering = verdicts["race.register-table"]
    assert registering.outcome is Ending.BLOCKED
    assert registering.blocked_by == ("registerTable.200",)
    assert verdicts["race.half-visible-transaction"].outcome is Ending.BLOCKED


# ---- catalogs that lose races


@pytest.mark.parametrize("name", some(NAMES, 3))
def test_every_defect_fails_its_check_over_http(name: str) -> None:
    verdict = _failed_over_http(name)
    if name.startswith(("race-loser-breaks", "race-loser-is", "race-loser-of", "race-drop")):
        assert verdict.findings[0].symptom.slug == "status"
        return
    assert verdict.findings[0].symptom.slug.startswith("anomaly:")
    assert "contradiction: " in verdict.findings[0].detail
    # The exchanges that the witness names are in the evidence.
    told = {int(n) for n in re.findall(r"\(exchange (\d+)\)", verdict.findings[0].detail)}
    assert told <= {each.ordinal for each in verdict.evidence}


def _failed_over_http(name: str) -> Verdict:
    """Return the failure that a defect brings about; on a busy machine more rounds may be due."""
    (check,) = [check for check in CHECKS if defects()[name].breaks in check.proves]
    for rounds in (None, 20, 100):
        with http_session(name, rounds) as session:
            verdict = judge(check, Catalog(session, check.id))
        if verdict.outcome is Ending.FAIL:
            return verdict
    raise AssertionError(f"no race of a hundred shows {name}")


WITHOUT_CONTENDERS = {
    "race-namespace-created-twice": "createNamespace.already-exists",
    "race-table-created-twice": "createTable.already-exists",
    "race-loser-replaces-table": "createTable.already-exists",
    "race-registered-twice": "registerTable.already-exists",
    "race-renamed-over-another": "renameTable.target-exists",
    "race-loser-breaks-tables": "createTable.already-exists",
    "race-loser-is-a-bad-request": "commit.one-winner",
    "race-refs-replaced-whole": "commit.independent-writers",
    "race-requirements-before-lock": "commit.one-winner",
    "race-last-writer-wins": "commit.independent-writers",
    "race-transaction-table-by-table": "transaction.every-table-changes",
}


@pytest.mark.parametrize(("name", "check_id"), WITHOUT_CONTENDERS.items())
def test_who_sends_one_request_after_another_notices_nothing(name: str, check_id: str) -> None:
    """The defects show in races only: the check of the same sentence without a race passes."""
    families = ("test_namespaces", "test_tables", "test_register", "test_rename")
    others = ("test_commits_together", "test_transactions")
    (alone,) = [each for each in checks_of(*families, *others) if each.id == check_id]
    assert words([run_check(alone, (name,))]) == []


def test_a_resurrected_table_is_removed_all_the_same() -> None:
    with mock_session(("race-commit-undoes-drop",)) as (_, session):
        (check,) = [check for check in CHECKS if check.id == "race.drop-and-commit"]
        assert judge(check, Catalog(session, check.id)).outcome is Ending.FAIL
    assert session.residue == []
