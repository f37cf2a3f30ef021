"""Drawn races: each planted defect is found for every seed, and lawful catalogs pass."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from msgspec import structs

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace
from icecheck.client.opening import open_session
from icecheck.client.session import Session
from icecheck.findings.telling.finding_card import describe
from icecheck.findings.verdict import Level, Verdict
from icecheck.findings.verdict import Outcome as Ending
from icecheck.judging.check import Check
from icecheck.judging.judge import judge
from icecheck.mock_server.core.context import Call, Delay, Drop, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects import defects
from icecheck.mock_server.defects.commits.late_sight import LateSight
from icecheck.mock_server.defects.kit.changing import make_namespace
from icecheck.mock_server.defects.kit.requests import rename_ends
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.mock import MockCatalog
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import Problem
from icecheck.scenarios.races.contest import contest
from icecheck.scenarios.races.programs import Program, from_json, requests_of
from icecheck.targets.target import Target
from tests.kill.killing import (
    ADDRESS,
    TOKEN,
    WAREHOUSE,
    checks_of,
    defects_of,
    mock_session,
    words,
)
from tests.kit.contracts import CONTRACT
from tests.kit.shares import some

CHECKS = checks_of("test_random_races")
NAMES = defects_of("commits.crossing_races", "commits.overlooked_races")
SEEDS = range(5)
RACES_MAX = 400
RUNS_MAX = 3
SMALLEST_MAX = 6
ARRANGED_MAX = 20
"""More than makes the objects of the largest program, and less than those of two."""
CHANGING = (
    "createTable", "registerTable", "updateTable", "dropTable", "renameTable", "commitTransaction",
    "createView", "replaceView", "dropView", "renameView",
    "createNamespace", "updateProperties", "dropNamespace",
)  # fmt: skip


@contextmanager
def session_of(seed: int, defect_name: str = "", *, http: bool = False) -> Iterator[Session]:
    """Yield a session with this seed and a mock of its own, in process or behind a socket."""
    with MockCatalog(seed=1, token=TOKEN) as mock:
        transport = None if http else mock.httpx_transport()
        target = Target(mock.uri if http else ADDRESS, warehouse=WAREHOUSE, token=TOKEN)
        session = open_session(target, run_id="kill", seed=seed, transport=transport)
        if defect_name:
            defects()[defect_name].install(mock.registries)
        yield session
        session.close()


def judged(session: Session) -> list[Verdict]:
    return [judge(check, Catalog(session, check.id)) for check in CHECKS]


# ---- catalogs that lose races


@pytest.mark.parametrize("name", some(NAMES, 14))
@pytest.mark.parametrize(
    "seeds",
    [
        SEEDS[:1],
        pytest.param(SEEDS[1:], marks=pytest.mark.complete("four seeds more than the usual one")),
    ],
    ids=["usual", "others"],
)
def test_every_defect_is_found_for_each_of_five_seeds_and_can_be_replayed(
    name: str, seeds: range
) -> None:
    (check,) = [check for check in CHECKS if defects()[name].breaks in check.proves]
    sizes = []
    for seed in seeds:
        (finding,) = found(check, seed, name).findings
        assert finding.symptom.slug.startswith("anomaly:")
        assert "contradiction: " in finding.detail
        smallest = from_json(finding.steps)
        sizes.append(len(requests_of(smallest)))
        with session_of(seed, name) as fresh:
            assert contradicts(Catalog(fresh, check.id), smallest, strictly="reads" in check.id)
        assert fresh.residue == []
    # How far a race can be shrunk is chance: some seed shows that it is.
    assert len(seeds) == 1 or min(sizes) <= SMALLEST_MAX, sizes


def found(check: Check, seed: int, name: str, *, http: bool = False) -> Verdict:
    """Return the verdict that finds a defect, in one of a few runs: a race is chance.

    Where other processes leave little of a processor, the requests of a race overlap less.
    """
    for _ in range(RUNS_MAX):
        with session_of(seed, name, http=http) as session:
            verdict = judge(check, Catalog(session, check.id))
        assert session.residue == []
        if verdict.outcome is Ending.FAIL:
            return verdict
    pytest.fail(f"{check.id} has not found {name} with seed {seed} in {RUNS_MAX} runs")


@pytest.mark.complete("a race that is shrunk; one is found and replayed in the usual command")
def test_the_card_shows_the_requests_of_the_smallest_program_and_no_others() -> None:
    (check,) = [check for check in CHECKS if check.id == "race.random-namespaces"]
    verdict = found(check, 0, "race-renamed-into-dropped-namespace")
    (finding,) = verdict.findings
    raced = len(requests_of(from_json(finding.steps)))
    sent = [each for each in verdict.evidence if each.operation in CHANGING and each.step == "do"]
    # How small the program gets is chance, and so is whether its last request tells anything.
    assert 0 < len(sent) <= raced
    before = [each for each in verdict.evidence if each.ordinal < min(e.ordinal for e in sent)]
    assert len(before) <= ARRANGED_MAX


@pytest.mark.complete("the card of another race is looked at in the usual command")
def test_the_card_of_what_one_client_is_shown_has_the_requests_of_the_others() -> None:
    (check,) = [check for check in CHECKS if check.id == "race.random-reads"]
    verdict = found(check, 0, "race-loads-share-an-answer")
    (finding,) = verdict.findings
    raced = [
        each for each in verdict.evidence if each.ordinal >= finding.since and each.step == "do"
    ]
    assert len(raced) == len(requests_of(from_json(finding.steps)))
    card = describe(verdict, CONTRACT)
    assert len(card.arrange) == len(verdict.evidence) - 1


def contradicts(catalog: Catalog, program: Program, *, strictly: bool) -> bool:
    """Return whether a program shows a contradiction in some races: whether it does is chance."""
    namespace = given_namespace(catalog)
    races = (contest(catalog, namespace, program, strictly=strictly) for _ in range(RACES_MAX))
    found = any(each.judgement.anomaly is not None for each in races)
    catalog.undo()
    return found


# Whether a load joins another one over HTTP is chance: a commit has to be answered in between.
OVER_HTTP = tuple(name for name in NAMES if name != "race-loads-share-an-answer")


@pytest.mark.complete("the same defects behind a socket")
@pytest.mark.parametrize("name", OVER_HTTP)
def test_defects_are_found_over_http(name: str) -> None:
    (check,) = [check for check in CHECKS if defects()[name].breaks in check.proves]
    found(check, 0, name, http=True)


@pytest.mark.complete("all races that are written down, for each of these defects")
@pytest.mark.parametrize("name", NAMES)
def test_no_race_that_is_written_down_finds_these(name: str) -> None:
    others = checks_of("test_races", "test_races_on_names")
    with session_of(0, name) as session:
        failed = [v.check for v in [judge(e, Catalog(session, e.id)) for e in others] if v.findings]
    assert failed == []


# ---- lawful catalogs


def test_the_checks_pass_on_the_faithful_mock_over_http() -> None:
    with session_of(0, http=True) as session:
        assert words(judged(session)) == []
    assert session.residue == []


def _overlapping(registries: Registries, status: int, *, applied: bool, late_ms: int = 0) -> None:
    """Answer so while another change is new, whether or not the answered one took effect."""
    sight = LateSight(window_ms=10)

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if sight.state(faithful.context, state) is state:
            return sight.wrote(faithful.context, state, faithful(state, call))
        told = replies.error_reply(status, "CommitFailedException", "Somebody else is faster")
        after = state
        if applied:
            with suppress(Problem):
                after = faithful(state, call).state
        return Outcome(after, told, (Delay(late_ms),))

    for operation_id in CHANGING:
        wrap(registries, operation_id, around)


def passes(session: Session) -> None:
    """Check that nothing is blamed; where trouble persists, the target was not to be had."""
    session.connection._sleep = lambda _: None  # retries take no time here
    blamed = [v for v in judged(session) if v.outcome in {Ending.FAIL, Ending.ERROR}]
    assert words(blamed) == []


@pytest.mark.parametrize("late_ms", some([30, 0], 2))
def test_a_catalog_that_refuses_whatever_overlaps_is_not_blamed(late_ms: int) -> None:
    with mock_session() as (mock, session):
        _overlapping(mock.registries, 409, applied=False, late_ms=late_ms)
        passes(session)


@pytest.mark.parametrize("applied", some([True, False], 2))
@pytest.mark.parametrize("status", some([500, 502, 504], 3))
def test_unknown_outcomes_are_not_blamed(status: int, applied: bool) -> None:
    with mock_session() as (mock, session):
        _overlapping(mock.registries, status, applied=applied)
        passes(session)


@pytest.mark.parametrize("applied", [True, False])
def test_connections_that_break_are_not_blamed(applied: bool) -> None:
    """Every seventh change is carried out or not, and not answered; a drop is sent again then."""
    with mock_session() as (mock, session):
        asked = iter(range(10**6))

        def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
            if next(asked) % 7:
                return faithful(state, call)
            after = state
            if applied:
                with suppress(Problem):
                    after = faithful(state, call).state
            return Outcome(after, replies.NO_CONTENT, (Drop(),))

        for operation_id in CHANGING:
            wrap(mock.registries, operation_id, around)
        passes(session)


def test_a_catalog_that_makes_missing_namespaces_is_not_blamed() -> None:
    """What comes into a namespace that was just dropped may bring it back."""
    with mock_session() as (mock, session):
        for operation_id in ("createTable", "createView", "registerTable"):
            make_namespace(mock.registries, operation_id)
        make_namespace(mock.registries, "renameTable", lambda call: rename_ends(call)[1][0])
        passes(session)
    assert session.residue == []


def test_a_catalog_that_deletes_the_files_of_dropped_tables_is_not_blamed() -> None:
    with mock_session() as (mock, session):
        wrap(mock.registries, "registerTable", _file_is_gone)
        passes(session)


def _file_is_gone(_faithful: Faithful, _state: WarehouseState, _call: Call) -> Outcome:
    raise Problem(400, "BadRequestException", "There is no such file")


def test_loads_that_lag_are_no_lost_changes() -> None:
    """What loads show late may fail the check of reads, and nothing else."""
    with mock_session() as (mock, session):
        sight = LateSight(window_ms=30)

        def writing(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
            outcome = faithful(state, call)
            sight.wrote(faithful.context, state, outcome)  # the answer is not held back
            return outcome

        def loading(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
            outcome = faithful(sight.state(faithful.context, state), call)
            return structs.replace(outcome, state=state)

        for operation_id in CHANGING:
            wrap(mock.registries, operation_id, writing)
        wrap(mock.registries, "loadTable", loading)
        failed = {v.check: v for v in judged(session) if v.outcome is Ending.FAIL}
    assert {v.level for v in failed.values()} <= {Level.INTEROP}
