"""Fault rules: what a test asks to go wrong goes wrong, so often, and nothing else does."""

import httpx
import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.serving.fault_rules import (
    PRESETS,
    SETTINGS,
    UnknownFault,
    parse_fault,
    rule_of,
)
from icecheck.mock_server.serving.faults import Faults, UnfiredFault
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
    ["comit-conflict", "throttled,oops=1", "throttled,times", "throttled,times=-1",
     "throttled,times=many", "server-error,status=200", "throttled,probability=0",
     "throttled,operation=loadTabel", "custom", "custom,phase=before,latency-ms=5",
     "throttled,phase=during", "throttled,matched=1", "custom,type=a\nb,status=500",
     "custom,content-type=text/€"],
)  # fmt: skip
def test_a_fault_that_cannot_be_is_refused_with_what_can(text):
    with pytest.raises(UnknownFault):
        parse_fault(text)


def test_a_rule_is_read_as_the_command_line_gives_it():
    rule = Faults().add(parse_fault("throttled,table=db.t,times=3,retry-after=2,strict=true"))
    assert (rule.table, rule.times, rule.retry_after, rule.strict) == ("db.t", 3, 2, True)


def test_every_fault_says_what_it_does():
    assert all(preset.words.endswith(".") for preset in PRESETS.values())


@pytest.mark.parametrize("fault", sorted(PRESETS.keys() - {"custom"}))
def test_every_fault_happens_to_a_commit_of_a_client(mock, http, fault):
    settings = {"times": 1, "probability": 1.0, "strict": True}
    if fault == "slow":
        settings["latency_ms"] = 1
    with mock.fault(fault, **settings) as rule:
        try:
            answer = http.post(TABLE, json=COMMIT)
            seen = (answer.status_code, answer.headers["content-type"], answer.content)
        except httpx.TransportError:
            seen = None
    assert rule.fired == 1
    entry = mock.journal.find("updateTable")[-1]
    assert entry.fault == rule.id
    if fault != "slow":
        good = http.post(TABLE, json=COMMIT)
        assert seen != (good.status_code, good.headers["content-type"], good.content)


def test_a_body_is_cut_corrupt_or_said_to_be_something_else(mock, http):
    with mock.fault("truncated", operation="loadTable"), pytest.raises(httpx.TransportError):
        http.get(TABLE)
    with mock.fault("corrupt", operation="loadTable"):
        answer = http.get(TABLE)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    with pytest.raises(ValueError, match=r"Expecting|Unterminated|delimiter"):
        answer.json()
    with mock.fault("wrong-content-type", operation="loadTable"):
        answer = http.get(TABLE)
    assert answer.headers["content-type"] == "text/html"
    assert answer.json()["metadata"]["table-uuid"]


def test_an_answer_is_late_and_good(mock, http):
    with mock.fault("slow", operation="loadTable", latency_ms=150):
        answer = http.get(TABLE)
    assert answer.elapsed.total_seconds() >= 0.15
    assert answer.status_code == 200


@pytest.mark.parametrize("fault", ["answer-lost", "commit-unknown", "server-error-applied"])
def test_a_refused_commit_is_no_commit_whose_answer_could_be_lost(mock, http, fault):
    missing = "/v1/wh/namespaces/db/tables/missing"
    with mock.fault(fault) as rule:
        assert http.post(missing, json=COMMIT).status_code == 404
        assert (rule.matched, rule.fired) == (0, 0)
        assert mock.journal.find()[-1].fault == ""
    with pytest.raises(UnfiredFault), mock.fault(fault, strict=True):
        http.post(missing, json=COMMIT)


@pytest.mark.parametrize("fault", ["truncated", "corrupt", "wrong-content-type"])
def test_an_answer_without_a_body_has_none_that_could_be_wrong(mock, http, fault):
    tag = http.get(TABLE).headers["etag"]
    with mock.fault(fault, times=1) as rule:
        assert http.head(TABLE).status_code == 204
        assert http.get(TABLE, headers={"if-none-match": tag}).status_code == 304
        assert (rule.matched, rule.fired) == (0, 0)


def test_a_late_refusal_is_late(mock, http):
    with mock.fault("slow", latency_ms=120, times=1) as rule:
        answer = http.get("/v1/wh/namespaces/db/tables/missing")
    assert (answer.status_code, rule.fired) == (404, 1)
    assert answer.elapsed.total_seconds() >= 0.12


def test_a_budget_says_which_of_the_requests(mock, http):
    def statuses(count, **budget):
        with mock.fault("throttled", operation="loadTable", **budget):
            return [http.get(TABLE).status_code for _ in range(count)]

    assert statuses(6, after=2, times=2) == [200, 200, 429, 429, 200, 200]
    assert statuses(6, every=3, times=0) == [200, 200, 429, 200, 200, 429]
    assert statuses(6, after=1, every=2, times=1) == [200, 200, 429, 200, 200, 200]
    drawn = [statuses(40, probability=0.5, times=0, seed=seed) for seed in (7, 7, 8)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert 5 < drawn[0].count(429) < 35


def test_a_rule_matches_by_everything_that_a_request_has(mock, http):
    other = http.headers["user-agent"].partition("/")[0]
    for settings, status in (
        ({"warehouse": "wh"}, 429), ({"warehouse": "another"}, 200),
        ({"namespace": "db"}, 429), ({"namespace": "d"}, 200), ({"user_agent": other}, 429),
        ({"user_agent": "Trino"}, 200), ({"method": "get"}, 429), ({"method": "POST"}, 200),
        ({"path": "/tables/t"}, 429), ({"path": "/views/"}, 200), ({"principal": "eve"}, 200),
    ):  # fmt: skip
        with mock.fault("throttled", **settings):
            assert http.get(TABLE).status_code == status, settings


def test_a_rule_can_be_about_one_principal():
    with MockCatalog(token="secret", warehouses=["wh"]) as mock:
        headers = {"authorization": "Bearer secret"}
        with httpx.Client(base_url=mock.uri, headers=headers, trust_env=False) as http:
            with mock.fault("throttled", principal="the static token"):
                assert http.get("/v1/config").status_code == 429
            assert {entry.principal for entry in mock.journal.find()} == {"the static token"}


def test_a_strict_rule_that_never_fires_is_an_error_at_the_end(mock, http):
    with (
        pytest.raises(UnfiredFault, match="never happened"),
        mock.fault("commit-conflict", table="db.typo", strict=True),
    ):
        http.post(TABLE, json=COMMIT)
    with pytest.raises(UnfiredFault, match="f-"), MockCatalog() as another:
        another.faults.add("commit-conflict", strict=True)
    another = MockCatalog()
    another.faults.add("commit-conflict", strict=True)
    with pytest.raises(KeyError, match="is not hidden by it"), another:
        raise KeyError("what went wrong is not hidden by it")


def test_what_may_be_set_is_what_the_command_line_takes():
    assert {"operation", "table", "times", "status", "retry_after", "strict"} <= {*SETTINGS}
    assert not {"id", "fired", "matched"} & {*SETTINGS}
    with pytest.raises(UnknownFault, match="takes no 'nope'"):
        rule_of("throttled", {"nope": 1})
