"""A gate for which only counts what a catalog that nobody here wrote has been seen to do."""

import pytest

from icecheck.contract import Level
from icecheck.findings import conclusion as concluding
from icecheck.findings.telling.finding_card import UNWITNESSED, card_of
from icecheck.findings.verdict import Outcome, Run
from icecheck.mock_server.defects import defects
from icecheck.mock_server.mock import MockCatalog
from icecheck.reports.run_json import document, problems_of, render
from icecheck.run.options import RunOptions
from icecheck.run.runner import run_checks
from icecheck.targets.target import Target
from tests.kill.killing import ADDRESS, TOKEN, WAREHOUSE
from tests.kit.contracts import CONTRACT

CHECK = "createNamespace.already-exists"


def run_with(*, witnessed_only: bool) -> Run:
    mock = MockCatalog(seed=1, token=TOKEN)
    defects()["namespace-created-twice"].install(mock.registries)
    target = Target(ADDRESS, warehouse=WAREHOUSE, token=TOKEN)
    options = RunOptions(target, "gate", globs=(CHECK,), witnessed_only=witnessed_only)
    try:
        return run_checks(options, transport=mock.httpx_transport())
    finally:
        mock.stop()


@pytest.fixture
def nobody_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concluding, "is_unwitnessed", lambda _check, level: level is Level.MUST)


@pytest.mark.usefixtures("nobody_passed")
def test_what_nobody_was_seen_to_pass_fails_the_verdict_and_not_the_gate() -> None:
    run = run_with(witnessed_only=True)
    (failed,) = [v for v in run.verdicts if v.outcome is Outcome.FAIL]
    assert failed.check == CHECK
    assert run.status == "not-conformant"
    assert run.exit_code == 0
    row = next(c for c in document(run)["checks"] if c["id"] == CHECK)
    assert row["gates"] is False
    assert problems_of(render(run)) == []


@pytest.mark.usefixtures("nobody_passed")
def test_without_the_option_it_fails_the_gate_too() -> None:
    assert run_with(witnessed_only=False).exit_code == 1


def test_what_somebody_passed_fails_the_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concluding, "is_unwitnessed", lambda _check, _level: False)
    assert run_with(witnessed_only=True).exit_code == 1


@pytest.mark.parametrize("unwitnessed", [True, False])
def test_a_card_says_so(monkeypatch: pytest.MonkeyPatch, *, unwitnessed: bool) -> None:
    monkeypatch.setattr(
        "icecheck.findings.telling.finding_card.is_unwitnessed", lambda _check, _level: unwitnessed
    )
    run = run_with(witnessed_only=False)
    (failed,) = [v for v in run.verdicts if v.outcome is Outcome.FAIL]
    assert (UNWITNESSED in card_of(failed, CONTRACT)) is unwitnessed
