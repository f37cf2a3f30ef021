"""Which checks are run, how fast, and when a run ends early."""

import json
import time

import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.defects.kit.rewriting import answer_status
from icecheck.targets.target import Target
from icecheck.wire.connection import Connection, Wire
from icecheck.wire.exchange import Step
from tests.kit.contracts import CONTRACT


@pytest.fixture
def broken():
    """A catalog that answers createNamespace with 201."""
    with MockCatalog() as catalog:
        answer_status(catalog.registries, "createNamespace", 201)
        yield catalog


@pytest.fixture
def mock():
    with MockCatalog() as catalog:
        yield catalog


def document(tmp_path):
    return json.loads((tmp_path / "icecheck-report" / "run.json").read_text())


def test_smoke_takes_few_requests_and_verifies_no_profile_whole(icecheck, mock, tmp_path):
    result = icecheck("run", mock.uri, "--smoke")
    assert result.exit_code == 0, result.output
    run = document(tmp_path)
    assert run["timing"]["requests"] <= 150
    statuses = {p["id"]: p["status"] for p in run["profiles"]}
    assert statuses["write"] == "partial"
    assert run["verdict"]["status"] == "partial"


def test_a_selection_by_name_is_no_whole_profile(icecheck, mock, tmp_path):
    icecheck("run", mock.uri, "--only", "checks", "--check", "createTable.*")
    statuses = {p["id"]: p["status"] for p in document(tmp_path)["profiles"]}
    assert statuses["write"] == "partial"


def test_the_run_ends_at_the_first_failure_and_says_what_it_left_out(icecheck, broken, tmp_path):
    few = ("--only", "checks", "--check", "createNamespace.*")
    result = icecheck("run", broken.uri, *few, "--fail-fast")
    assert result.exit_code == 1
    checks = [c for c in document(tmp_path)["checks"] if not c["passive"]]
    outcomes = [c["outcome"] for c in checks]
    assert outcomes.count("fail") == 1
    assert set(outcomes[outcomes.index("fail") + 1 :]) == {"skip"}
    later = checks[outcomes.index("fail") + 1 :]
    assert {c["skip"]["kind"] for c in later} == {"excluded-by-user"}


def test_only_what_failed_is_run_again(icecheck, broken, tmp_path):
    few = ("--only", "checks", "--check", "createNamespace.*", "--check", "getConfig.*")
    icecheck("run", broken.uri, *few)
    first = document(tmp_path)["checks"]
    failed = {c["id"] for c in first if c["outcome"] in {"fail", "blocked"} and not c["passive"]}
    assert failed
    icecheck("run", broken.uri, "--last-failed")
    assert {c["id"] for c in document(tmp_path)["checks"] if not c["passive"]} == failed


@pytest.mark.parametrize(
    "given",
    [("--smoke", "--check", "x*"), ("--smoke", "--last-failed"), ("--last-failed",)],
    ids=" ".join,
)
def test_a_selection_that_cannot_be_is_misuse(icecheck, mock, given):
    result = icecheck("run", mock.uri, *given)
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1


def test_a_report_in_which_all_passed_leaves_nothing_to_run_again(icecheck, mock):
    icecheck("run", mock.uri, "--only", "checks", "--check", "getConfig.*")
    assert icecheck("run", mock.uri, "--last-failed").exit_code == 2


def test_requests_keep_the_pace_that_the_user_set(mock):
    waited = []
    target = Target("http://mock.test", requests_per_second=10)
    connection = Connection(target, CONTRACT, mock.httpx_transport(), sleep=waited.append)
    wire = Wire("", 1, Step.DO, "getConfig", "GET", "http://mock.test/v1/config", {}, None)
    started = time.monotonic()
    for _ in range(4):
        connection.send(wire, lambda _: None)
    connection.close()
    # Nobody slept, so the turns lie 0.1 s apart from the first request on.
    assert sum(waited) > 3 * (0.1 + 0.2 + 0.3) / 3 - 3 * (time.monotonic() - started)
    assert len(waited) == 3


def test_a_catalog_can_be_held_to_what_it_does_not_list(icecheck, tmp_path):
    with MockCatalog(hidden=("viewExists",)) as mock:
        few = ("--only", "checks", "--check", "viewExists.*")
        icecheck("run", mock.uri, *few)
        kinds = {c["skip"]["kind"] for c in document(tmp_path)["checks"] if c["skip"]}
        assert kinds == {"not-declared"}
        result = icecheck("run", mock.uri, *few, "--claim", "viewExists")
        assert result.exit_code == 1
        assert icecheck("run", mock.uri, *few, "--claim", "viewExist").exit_code == 2
