"""A run that may only read: nothing is written, and what the user names is looked at."""

from collections import Counter

import pytest

from icecheck.findings.verdict import Group, Outcome, Run, SkipKind
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.defects.kit.rewriting import answer_status
from icecheck.run.options import RunOptions
from icecheck.run.runner import run_checks
from icecheck.targets.sources import from_toml
from icecheck.targets.target import Given, Target, UsageError
from icecheck.targets.values import given_from

READING = {"GET", "HEAD"}
GIVEN = Given(table=(("prod", "sales"), "orders"), view=(("prod",), "recent"))
SCHEMA = {"type": "struct", "fields": [{"id": 1, "name": "id", "type": "long", "required": True}]}
VIEW = {
    "version-id": 1,
    "timestamp-ms": 1,
    "schema-id": 0,
    "summary": {},
    "default-namespace": [],
    "representations": [{"type": "sql", "sql": "select 1", "dialect": "spark"}],
}


@pytest.fixture
def mock():
    """A catalog that is in use: nothing in it is the run's."""
    import httpx

    catalog = MockCatalog(seed=1, warehouses=["warehouse"])
    transport = catalog.httpx_transport()
    with httpx.Client(transport=transport, base_url="http://m/v1/warehouse") as http:
        for levels in (["prod"], ["prod", "sales"], ["prod", "other"]):
            http.post("/namespaces", json={"namespace": levels}).raise_for_status()
        for name in ("orders", "returns"):
            body = {"name": name, "schema": SCHEMA}
            http.post("/namespaces/prod%1Fsales/tables", json=body).raise_for_status()
        body = {"name": "recent", "schema": SCHEMA, "view-version": VIEW, "properties": {}}
        http.post("/namespaces/prod/views", json=body).raise_for_status()
    yield catalog
    catalog.stop()


def read_only_run(mock: MockCatalog, given: Given = GIVEN) -> Run:
    target = Target("http://m", read_only=True, given=given)
    groups = (Group.CHECKS, Group.GENERATED, Group.SCENARIOS)
    return run_checks(RunOptions(target, "r1", groups=groups), transport=mock.httpx_transport())


def test_nothing_is_written_and_nobody_is_blamed(mock: MockCatalog) -> None:
    before, asked = mock.state(), mock.journal.last_sequence
    run = read_only_run(mock)
    sent = [entry for entry in mock.journal.find() if entry.sequence > asked]
    written = [e for e in sent if e.method not in READING]
    assert {e.operation for e in written} <= {"planTableScan", "fetchScanTasks", "getToken"}
    assert mock.state() is before
    outcomes = Counter(v.outcome for v in run.verdicts)
    assert not {Outcome.FAIL, Outcome.BLOCKED, Outcome.ERROR} & outcomes.keys()
    assert outcomes[Outcome.PASS] > 40
    assert (run.exit_code, run.status) == (0, "partial")
    assert run.facts["safety"]["level"] == "read-only"
    assert run.facts["safety"]["created"] == 0


@pytest.mark.parametrize(
    "check", ["loadTable.succeeds", "tableExists.existing", "loadView.succeeds"]
)
def test_what_was_given_is_looked_at(mock: MockCatalog, check: str) -> None:
    [verdict] = [v for v in read_only_run(mock).verdicts if v.check == check]
    assert verdict.outcome is Outcome.PASS


def test_a_defect_is_found_by_reading_alone(mock: MockCatalog) -> None:
    answer_status(mock.registries, "tableExists", 200)
    run = read_only_run(mock)
    failed = {v.check for v in run.verdicts if v.outcome is Outcome.FAIL}
    assert "tableExists.existing" in failed
    assert run.exit_code == 1


def test_without_anything_given_there_is_still_something_to_read(mock: MockCatalog) -> None:
    run = read_only_run(mock, Given())
    by_check = {v.check: v for v in run.verdicts}
    skipped = by_check["loadTable.succeeds"].skip
    assert skipped is not None
    assert skipped.kind is SkipKind.SAFETY_LEVEL
    assert "--given-table" in skipped.reason
    assert by_check["listNamespaces.no-such-parent"].outcome is Outcome.PASS
    assert run.exit_code == 0


def test_given_objects_are_read_from_names_and_lists() -> None:
    text = '[target]\nread-only = true\n[given]\ntable = ["a.b", "t"]\nnamespace = "c.d"\n'
    assert from_toml(text, "f") == {
        "read_only": True,
        "given": Given(namespace=("c", "d"), table=(("a.b",), "t")),
    }
    assert given_from({"view": "a.b.v", "table": None}) == Given(view=(("a", "b"), "v"))
    assert given_from({"view": None}) is None


@pytest.mark.parametrize(
    "given", [{"table": "t"}, {"view": "a..v"}, {"tabel": "a.t"}, {"table": 1}]
)
def test_a_given_object_that_cannot_be_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        given_from(given)
