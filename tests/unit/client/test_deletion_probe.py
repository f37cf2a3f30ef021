"""A run stops before it creates more: what cannot be deleted is found out on one object."""

import httpx
import pytest

from icecheck.client import adapting
from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace
from icecheck.client.opening import open_session
from icecheck.contract import Level
from icecheck.findings.verdict import Group, Outcome, Run, SkipKind
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.core.context import Registries
from icecheck.mock_server.defects.kit.rewriting import alter_body, answer_status, forget_effect
from icecheck.run.options import RunOptions
from icecheck.run.runner import run_checks
from icecheck.targets.target import Target
from icecheck.wire.connection import TargetUnusable
from tests.kit.lost_creation import LostOnce
from tests.kit.shares import some


def run_on(
    mock: MockCatalog,
    *,
    accept_residue: bool = False,
    isolation: str = "auto",
    throttled: bool = False,
) -> Run:
    way = mock.httpx_transport()
    target = Target("http://mock.test", isolation=isolation, accept_residue=accept_residue)
    options = RunOptions(target, "r1", groups=(Group.CHECKS,), globs=("listTables.*", "drop*"))
    return run_checks(
        options, transport=LostOnce(way, applied=False, throttles=True) if throttled else way
    )


def forgets(*operation_ids: str) -> MockCatalog:
    mock = MockCatalog(seed=1)
    for operation_id in operation_ids:
        forget_effect(mock.registries, operation_id)
    return mock


@pytest.mark.parametrize("isolation", ["nested", "flat"])
@pytest.mark.parametrize("operation_id", ["dropNamespace", "dropTable"])
def test_a_drop_without_effect_is_the_only_finding_of_the_run(
    operation_id: str, isolation: str
) -> None:
    """Nothing else is judged, because whatever a check makes would stay."""
    mock = forgets(operation_id)
    run = run_on(mock, isolation=isolation)
    failed = [v for v in run.verdicts if v.outcome is Outcome.FAIL]
    assert [v.level for v in failed] == [Level.MUST]
    assert failed[0].requirements == (f"{operation_id}.gone",)
    assert (run.status, run.exit_code) == ("not-conformant", 1)
    kinds = {v.skip.kind for v in run.verdicts if v.skip}
    assert SkipKind.SAFETY_LEVEL in kinds
    assert not [v for v in run.verdicts if v.outcome is Outcome.PASS and not v.passive]
    assert run.facts["safety"]["residue"]
    assert mock.journal.count("createTable") <= 2
    mock.stop()


@pytest.mark.parametrize("operation_id", ["dropNamespace", "dropTable"])
def test_a_drop_that_is_refused_ends_the_run_at_the_first_object(operation_id: str) -> None:
    mock = MockCatalog(seed=1)
    answer_status(mock.registries, operation_id, 403)
    forget_effect(mock.registries, operation_id)
    with pytest.raises(TargetUnusable, match=r"still there.*--accept-residue"):
        run_on(mock)
    assert mock.journal.count("createTable") <= 1
    mock.stop()


@pytest.mark.parametrize("hidden", ["dropNamespace", "dropTable", "dropView"])
def test_a_catalog_that_claims_to_make_and_not_to_drop_is_left_alone(hidden: str) -> None:
    mock = MockCatalog(seed=1, hidden=(hidden,))
    with pytest.raises(TargetUnusable, match=hidden):
        run_on(mock)
    assert mock.journal.count("createTable") == 0
    mock.stop()


def test_residue_can_be_accepted_and_is_reported() -> None:
    mock = MockCatalog(seed=1, hidden=("dropTable",))
    run = run_on(mock, accept_residue=True)
    assert run.facts["safety"]["residue"]
    assert run.exit_code == 6
    mock.stop()


def test_a_catalog_that_deletes_under_another_status_is_judged() -> None:
    def install(registries: Registries) -> None:
        for operation_id in ("dropTable", "dropNamespace"):
            answer_status(registries, operation_id, 202)

    mock = MockCatalog(seed=1)
    install(mock.registries)
    run = run_on(mock)
    assert run.facts["safety"]["residue"] == []
    mock.stop()


def test_two_workers_under_one_parent_try_it_on_objects_of_their_own() -> None:
    mock = MockCatalog(seed=1)
    target = Target("http://mock.test", namespace=("given",))
    transport = mock.httpx_transport()
    with httpx.Client(transport=transport, base_url="http://mock.test/v1") as theirs:
        prefix = theirs.get("/config").json()["overrides"]["prefix"]
        body = {"namespace": ["given"]}
        theirs.post(f"/{prefix}/namespaces", json=body).raise_for_status()
    sessions = [
        open_session(target, run_id="r1", worker=worker, transport=transport)
        for worker in ("gw0", "gw1")
    ]
    names = [Catalog(each, each.probe_id("deletion")).new_name() for each in sessions]
    assert len(set(names)) == 2
    mock.stop()


@pytest.mark.parametrize("throttled", [False, True])
@pytest.mark.parametrize("isolation", ["nested", "flat"])
def test_a_name_that_is_taken_ends_the_run_and_stays(isolation: str, throttled: bool) -> None:
    mock = MockCatalog(seed=1)
    transport = mock.httpx_transport()
    session = open_session(
        Target("http://mock.test", isolation=isolation), run_id="r1", transport=transport
    )
    if isolation == "flat":
        given_namespace(Catalog(session, session.probe_id("deletion")))
    with pytest.raises(TargetUnusable, match=r"exists already.*--run-id.*icecheck clean"):
        run_on(mock, isolation=isolation, throttled=throttled)
    there = mock.journal.count("dropNamespace", status=204)
    session.close()
    assert mock.journal.count("dropNamespace", status=204) <= there + 1
    mock.stop()


def test_who_may_not_create_anything_is_told_so() -> None:
    mock = MockCatalog(seed=1)
    answer_status(mock.registries, "createNamespace", 403)
    with pytest.raises(TargetUnusable, match=r"403.*--namespace.*--read-only"):
        run_on(mock)
    mock.stop()


def test_a_parent_that_is_not_there_ends_the_run() -> None:
    mock = MockCatalog(seed=1)
    target = Target("http://mock.test", namespace=("typo",))
    with pytest.raises(TargetUnusable, match=r"typo is not there.*--namespace"):
        open_session(target, run_id="r1", transport=mock.httpx_transport())
    assert mock.journal.count("createNamespace") == 0
    mock.stop()


def slips(*_: object) -> None:
    """Read a member as a mistake of the suite would, on an answer that is in order."""
    {}["misspelled"]


@pytest.mark.parametrize("accept_residue", [False, True])
def test_a_mistake_of_the_suite_is_no_trouble_of_the_catalog(
    accept_residue: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapting, "given_namespace", slips)
    with MockCatalog(seed=1) as mock, pytest.raises(KeyError, match="misspelled"):
        run_on(mock, accept_residue=accept_residue)


@pytest.mark.parametrize("accept_residue", [False, True])
@pytest.mark.parametrize(
    "body", some([{}, {"metadata": []}, {"metadata": None}, {"metadata": "a"}], 2)
)
def test_a_first_table_of_a_wrong_shape_is_left_to_the_checks(
    body: object, accept_residue: bool
) -> None:
    with MockCatalog(seed=1) as mock:
        alter_body(mock.registries, "createTable", lambda _: body)
        assert run_on(mock, accept_residue=accept_residue).verdicts
