"""Fault rules: what a test asks to go wrong goes wrong, so often, and nothing else does."""

import httpx
import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.serving.faults import FAULTS, Faults, UnknownFault, parse_fault
from tests.kit.contracts import CONTRACT

SCHEMA = {
    "type": "struct",
    "fields": [{"id": 1, "name": "id", "type": "long", "required": True}],
}
COMMIT = {
    "requirements": [],
    "updates": [{"action": "set-properties", "updates": {"turn": "1"}}],
}
TABLE = "/v1/wh/namespaces/db/tables/t"


@pytest.fixture
def mock():
    with MockCatalog(warehouses=["wh"]) as running:
        with httpx.Client(base_url=running.uri, trust_env=False) as http:
            http.post("/v1/wh/namespaces", json={"namespace": ["db"]}).raise_for_status()
            for name in ("t", "other"):
                body = {"name": name, "schema": SCHEMA}
                http.post("/v1/wh/namespaces/db/tables", json=body).raise_for_status()
        yield running


@pytest.fixture
def http(mock):
    with httpx.Client(base_url=mock.uri, trust_env=False) as client:
        yield client


def turn(http):
    return http.get(TABLE).json()["metadata"]["properties"].get("turn")


def test_a_conflict_refuses_commits_and_applies_nothing(mock, http):
    with mock.fault("commit-conflict", times=2) as rule:
        statuses = [http.post(TABLE, json=COMMIT).status_code for _ in range(3)]
        assert statuses == [409, 409, 200]
        assert rule.fired == 2
    assert turn(http) == "1"


def test_a_conflict_looks_like_one(mock, http):
    with mock.fault("commit-conflict"):
        error = http.post(TABLE, json=COMMIT).json()["error"]
    assert (error["type"], error["code"]) == ("CommitFailedException", 409)
    assert turn(http) is None


def test_a_lost_answer_was_applied(mock, http):
    with mock.fault("answer-lost"), pytest.raises(httpx.TransportError):
        http.post(TABLE, json=COMMIT)
    assert turn(http) == "1"


def test_a_dropped_connection_applied_nothing(mock, http):
    with mock.fault("connection-dropped"), pytest.raises(httpx.TransportError):
        http.post(TABLE, json=COMMIT)
    assert turn(http) is None


def test_throttling_says_when_to_come_back(mock, http):
    with mock.fault("throttled", retry_after=7):
        answer = http.get(TABLE)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "7")
    with mock.fault("throttled", status=503):
        assert http.post(TABLE, json=COMMIT).status_code == 503
    assert turn(http) is None


@pytest.mark.parametrize(
    ("fault", "applied"), [("server-error", None), ("server-error-applied", "1")]
)
@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_server_error_is_applied_or_not_as_asked(mock, http, fault, applied, status):
    with mock.fault(fault, operation="updateTable", status=status):
        answer = http.post(TABLE, json=COMMIT)
    assert answer.status_code == answer.json()["error"]["code"] == status
    assert turn(http) == applied


def test_only_the_named_table_is_hit(mock, http):
    with mock.fault("commit-conflict", table="db.t", times=9):
        assert http.post("/v1/wh/namespaces/db/tables/other", json=COMMIT).status_code == 200
        assert http.post(TABLE, json=COMMIT).status_code == 409


def test_only_the_named_operation_is_hit(mock, http):
    with mock.fault("throttled", operation="listTables", times=9):
        assert http.get(TABLE).status_code == 200
        assert http.get("/v1/wh/namespaces/db/tables").status_code == 429


def test_after_the_block_nothing_goes_wrong_any_more(mock, http):
    with mock.fault("commit-conflict", times=9):
        pass
    assert http.post(TABLE, json=COMMIT).status_code == 200
    assert not mock.faults


def test_a_lost_answer_in_process_is_a_transport_error_too(mock):
    with (
        httpx.Client(transport=mock.httpx_transport(), base_url=mock.uri) as http,
        mock.fault("answer-lost"),
        pytest.raises(httpx.TransportError),
    ):
        http.post(TABLE, json=COMMIT)


def test_every_server_error_of_the_served_operations_can_be_had(mock, http):
    for operation_id in mock.registries.operations:
        rows = CONTRACT.operations[operation_id].responses
        for row in rows:
            if row[0] == "5":
                status = 500 if row == "5XX" else int(row)
                with mock.fault("server-error", operation=operation_id, status=status) as rule:
                    assert mock.faults.rules == (rule,)
                    assert rule.status == status


@pytest.mark.parametrize(
    "text",
    ["comit-conflict", "throttled,oops=1", "throttled,times", "throttled,times=0",
     "throttled,times=many", "server-error,status=200"],
)  # fmt: skip
def test_a_fault_that_cannot_be_is_refused_with_what_can(text):
    with pytest.raises(UnknownFault):
        parse_fault(text)


def test_a_rule_is_read_as_the_command_line_gives_it():
    fault, settings = parse_fault("throttled,table=db.t,times=3,retry-after=2")
    rule = Faults().add(fault, **settings)
    assert (rule.table, rule.times, rule.retry_after) == ("db.t", 3, 2)


def test_every_fault_says_what_it_does():
    assert all((fault.act.__doc__ or "").endswith(".") for fault in FAULTS.values())
