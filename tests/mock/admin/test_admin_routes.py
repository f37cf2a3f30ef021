"""What can be done to a running mock in Python can be done over HTTP, and has the same effect."""

import asyncio
import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.admin.routes import routes
from icecheck.mock_server.core.clock import VirtualClock
from tests.mock.admin.conftest import COMMIT, TABLE


def ok(answer: httpx.Response) -> Any:
    assert answer.is_success, answer.text
    return answer.json() if answer.content else None


def turn(http: httpx.Client) -> Any:
    return http.get(TABLE).json()["metadata"]["properties"].get("turn")


def test_the_server_says_that_it_is_ready_and_what_it_is(
    mock: MockCatalog, admin: httpx.Client
) -> None:
    assert ok(admin.get("/health")) == {"status": "ready"}
    info = ok(admin.get("/info"))
    assert (info["uri"], info["warehouses_on_demand"]) == (mock.uri, True)
    assert "loadTable" in info["operations"]
    assert admin.head("/health").status_code == 200


def test_warehouses_show_what_they_hold(
    mock: MockCatalog, http: httpx.Client, admin: httpx.Client
) -> None:
    (shown,) = ok(admin.get("/warehouses"))["warehouses"]
    assert (shown["name"], shown["namespaces"], shown["tables"], shown["views"]) == ("wh", 1, 1, 0)
    ok(http.post("/v1/wh/namespaces", json={"namespace": ["a.b", "c"], "properties": {"k": "v"}}))
    listed = ok(admin.get("/warehouses/wh/namespaces"))["namespaces"]
    assert [each["namespace"] for each in listed] == [["a.b"], ["a.b", "c"], ["db"]]
    assert listed[1]["properties"]["k"] == "v"
    assert listed[2]["tables"] == ["t"]
    table = ok(admin.get("/warehouses/wh/namespaces/db/tables/t"))
    loaded = ok(http.get(TABLE))
    assert table["metadata_location"] == loaded["metadata-location"]
    assert table["metadata"] == loaded["metadata"]
    assert admin.get("/warehouses/wh/namespaces/db/tables/u").status_code == 404
    assert admin.get("/warehouses/wh/namespaces/db/views/t").status_code == 404
    assert admin.get("/warehouses/none/namespaces").status_code == 404
    ok(admin.post("/warehouses", json={"name": "new"}))
    assert "new" in {each.name for each in mock.warehouses.all()}
    assert admin.delete("/warehouses/new").status_code == 204
    ok(admin.post("/warehouses/wh/reset"))
    assert http.get(TABLE).status_code == 404


def test_a_fault_of_the_administration_happens_and_is_counted(
    mock: MockCatalog, http: httpx.Client, admin: httpx.Client
) -> None:
    settings = {"fault": "answer-lost", "table": "db.t", "strict": True}
    rule = ok(admin.post("/faults", json=settings))
    assert mock.faults.rules[0].id == rule["id"]
    with pytest.raises(httpx.TransportError):
        http.post(TABLE, json=COMMIT)
    assert turn(http) == "1"
    shown = ok(admin.get(f"/faults/{rule['id']}"))
    assert (shown["matched"], shown["fired"]) == (1, 1)
    (entry,) = ok(admin.get("/requests", params={"fault": rule["id"]}))["requests"]
    assert (entry["operation"], entry["answered"]) == ("updateTable", False)
    assert ok(admin.delete(f"/faults/{rule['id']}"))["fired"] == 1
    assert admin.delete(f"/faults/{rule['id']}").status_code == 404
    unfired = ok(admin.post("/faults", json=settings))
    assert admin.delete(f"/faults/{unfired['id']}").status_code == 409
    assert mock.faults.rules == ()
    presets = {each["name"] for each in ok(admin.get("/fault-presets"))["presets"]}
    assert {"commit-unknown", "throttled", "flaky", "slow", "token-expired"} <= presets


def test_a_gate_decides_a_race(mock: MockCatalog, http: httpx.Client, admin: httpx.Client) -> None:
    metadata = ok(http.get(TABLE))["metadata"]
    first = {"type": "assert-table-uuid", "uuid": metadata["table-uuid"]}
    schema = {"type": "assert-last-assigned-field-id", "last-assigned-field-id": 1}

    def commit(number: int) -> int:
        column = {"id": 2, "name": f"c{number}", "type": "long", "required": False}
        fields = [*metadata["schemas"][0]["fields"], column]
        update = {"action": "add-schema", "schema": {"type": "struct", "fields": fields}}
        body = {"requirements": [first, schema], "updates": [update]}
        arrived.wait()
        return httpx.post(f"{mock.uri}{TABLE}", json=body, trust_env=False).status_code

    gate = ok(admin.post("/gates", json={"operation": "updateTable", "holds": 2}))
    arrived = threading.Event()
    with ThreadPoolExecutor(2) as clients:
        one = clients.submit(commit, 1)
        arrived.set()
        mock.gates.get(gate["id"]).wait_for(1)
        two = clients.submit(commit, 2)
        asked = {"order": [2, 1], "wait_for": 2}
        released = ok(admin.post(f"/gates/{gate['id']}/release", json=asked))
        assert [each["handled"] for each in released["arrived"]] == [True, True]
        assert (one.result(), two.result()) == (409, 200)
    assert ok(http.get(TABLE))["metadata"]["schemas"][1]["fields"][1]["name"] == "c2"
    assert http.post(TABLE, json=COMMIT).status_code == 200
    assert [each["id"] for each in ok(admin.get("/gates"))["gates"]] == [gate["id"]]
    assert ok(admin.get(f"/gates/{gate['id']}"))["rule"]["operation"] == "updateTable"
    late = {"order": [3], "timeout_ms": 10}
    assert admin.post(f"/gates/{gate['id']}/release", json=late).status_code == 400
    waiting = {"wait_for": 3, "timeout_ms": 10}
    assert admin.post(f"/gates/{gate['id']}/release", json=waiting).status_code == 408
    assert admin.delete(f"/gates/{gate['id']}").status_code == 204
    assert admin.delete(f"/gates/{gate['id']}").status_code == 404


def test_a_wait_in_vain_is_answered_before_a_client_gives_up(mock: MockCatalog) -> None:
    uri = f"{mock.uri}/_mock/v1"
    gate = mock.gates.add("updateTable", holds=1)
    for path, wait in (
        ("requests/wait", {"count": 9}),
        (f"gates/{gate.id}/release", {"wait_for": 1}),
    ):
        assert httpx.post(f"{uri}/{path}", json=wait, timeout=4, trust_env=False).status_code == 408


def test_an_answer_can_be_held_after_it_was_applied(mock: MockCatalog, http: httpx.Client) -> None:
    with (
        mock.gate("updateTable", phase="after", holds=1) as gate,
        ThreadPoolExecutor(1) as clients,
    ):
        waiting = clients.submit(httpx.post, f"{mock.uri}{TABLE}", json=COMMIT, trust_env=False)
        gate.wait_for()
        for _ in range(200):
            if turn(http) == "1":
                break
        assert turn(http) == "1"
        assert not waiting.done()
        gate.release()
        assert waiting.result().status_code == 200


def test_a_gate_holds_clients_in_process_too(mock: MockCatalog) -> None:
    def commit() -> int:
        with httpx.Client(transport=mock.httpx_transport(), base_url=mock.uri) as inside:
            return inside.post(TABLE, json=COMMIT).status_code

    with ThreadPoolExecutor(2) as clients, mock.gate("updateTable", table="db.t") as gate:
        two = [clients.submit(commit) for _ in range(2)]
        gate.wait_for(2)
        assert not any(each.done() for each in two)
        gate.release()
        assert [each.result() for each in two] == [200, 200]


def test_what_waits_at_a_gate_goes_when_the_server_stops() -> None:
    with ThreadPoolExecutor(1) as clients:
        with MockCatalog() as mock:
            mock.gates.add("getConfig", holds=1)
            waiting = clients.submit(httpx.get, f"{mock.uri}/v1/config", trust_env=False)
            mock.gates.all()[0].wait_for()
        with contextlib.suppress(httpx.TransportError):
            waiting.result(10)


def test_a_defect_is_switched_on_and_off_while_the_server_runs(
    mock: MockCatalog, http: httpx.Client, admin: httpx.Client
) -> None:
    properties = mock.registries.updates["set-properties"]
    assert admin.put("/defects/update-forgotten-set-properties").status_code == 204
    assert admin.put("/defects/drop-returns-200").status_code in (204, 404)
    on = ok(admin.get("/defects", params={"only": "on"}))["defects"]
    assert [each["on"] for each in on] == [True] * len(on)
    assert http.post(TABLE, json=COMMIT).status_code == 200
    assert turn(http) is None
    assert admin.delete("/defects/update-forgotten-set-properties").status_code == 204
    assert http.post(TABLE, json=COMMIT).status_code == 200
    assert turn(http) == "1"
    assert admin.delete("/defects/update-forgotten-set-properties").status_code == 404
    assert admin.put("/defects/nothing").status_code == 404
    assert len(ok(admin.get("/defects"))["defects"]) > 1000
    mock.defects.clear()
    assert mock.registries.updates["set-properties"] is properties


def test_a_defect_keeps_what_it_remembers_while_others_come_and_go(
    mock: MockCatalog, http: httpx.Client
) -> None:
    mock.defects.switch_on("table-head-cached")
    assert http.head(TABLE).status_code == 204
    assert http.delete(TABLE).status_code == 204
    assert http.head(TABLE).status_code == 204, "it remembers"
    mock.defects.switch_on("list-tables-stale")
    assert http.head(TABLE).status_code == 204
    mock.defects.switch_off("list-tables-stale")
    assert http.head(TABLE).status_code == 204
    mock.defects.clear()
    assert http.head(TABLE).status_code == 404


def test_what_a_program_replaces_itself_outlives_defects(mock: MockCatalog) -> None:
    faithful = dict(mock.registries.operations)
    mock.defects.switch_on("update-forgotten-set-properties", "table-head-cached")
    own = mock.registries.operations["listViews"] = faithful["listTables"]
    mock.defects.switch_on("list-tables-stale")
    mock.defects.switch_off("update-forgotten-set-properties")
    mock.defects.clear()
    assert mock.registries.operations == {**faithful, "listViews": own}


def test_a_gate_on_the_configuration_holds_by_warehouse(mock: MockCatalog) -> None:
    def ask(warehouse: str) -> int:
        params = {"warehouse": warehouse}
        return httpx.get(f"{mock.uri}/v1/config", params=params, trust_env=False).status_code

    with ThreadPoolExecutor(1) as clients, mock.gate("getConfig", warehouse="one", holds=1) as gate:
        assert ask("two") == 200
        waiting = clients.submit(ask, "one")
        gate.wait_for()
        gate.release()
        assert waiting.result() == 200


def test_a_gate_may_hold_a_request_whose_loop_has_ended() -> None:
    mock = MockCatalog(root="memory://root")
    gate = mock.gates.add("getConfig", holds=1)

    async def give_up() -> None:
        transport = httpx.ASGITransport(mock.asgi())
        async with httpx.AsyncClient(transport=transport, base_url="http://mock") as client:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(client.get("/v1/config"), 0.2)

    asyncio.run(give_up())
    assert len(gate.arrived) == 1
    mock.stop()
    assert mock.gates.all() == ()


def test_snapshots_bring_everything_back(http: httpx.Client, admin: httpx.Client) -> None:
    saved = ok(admin.post("/snapshots"))
    assert "wh" in saved["warehouses"]
    assert http.delete(TABLE).status_code == 204
    assert admin.post(f"/snapshots/{saved['id']}/restore").status_code == 204
    assert http.get(TABLE).status_code == 200
    assert [each["id"] for each in ok(admin.get("/snapshots"))["snapshots"]] == [saved["id"]]
    assert admin.delete(f"/snapshots/{saved['id']}").status_code == 204
    assert admin.post(f"/snapshots/{saved['id']}/restore").status_code == 404
    assert admin.delete(f"/snapshots/{saved['id']}").status_code == 404


def test_a_state_is_described_taken_out_and_put_back(
    mock: MockCatalog, http: httpx.Client, admin: httpx.Client
) -> None:
    seed = {
        "warehouses": {"two": [{"name": "db", "tables": [{"name": "t", "columns": {"a": "int"}}]}]}
    }
    assert admin.post("/seed", json=seed).status_code == 204
    assert mock.state("two").table(("db",), "t") is not None
    document = ok(admin.get("/state"))
    assert sorted(document["warehouses"]) == ["two", "wh"]
    one = ok(admin.get("/state", params={"warehouse": "two"}))
    assert one["warehouses"] == {"two": document["warehouses"]["two"]}
    assert admin.get("/state", params={"warehouse": "none"}).status_code == 404
    assert http.delete(TABLE).status_code == 204
    assert admin.put("/state", json=document).status_code == 204
    assert http.get(TABLE).status_code == 200
    assert admin.put("/state", json={**document, "icecheck-state": 2}).status_code == 400
    assert admin.post("/seed", json=seed).status_code == 204


def test_a_reset_removes_what_it_is_asked_to(
    mock: MockCatalog, http: httpx.Client, admin: httpx.Client
) -> None:
    mock.faults.add("throttled", operation="getConfig")
    mock.gates.add("getConfig")
    mock.defects.switch_on("update-forgotten-set-properties")
    http.get(TABLE)
    assert admin.post("/reset", json={"faults": False, "journal": False}).status_code == 204
    assert (len(mock.faults.rules), len(mock.gates.all()), mock.defects.active) == (1, 0, ())
    assert mock.journal.count() == 1
    assert http.get(TABLE).status_code == 404
    assert admin.post("/reset").status_code == 204
    assert (mock.faults.rules, mock.journal.count()) == ((), 0)


def test_what_waits_at_a_gate_is_handled_before_a_reset(
    mock: MockCatalog, http: httpx.Client, admin: httpx.Client
) -> None:
    gate = mock.gates.add("createNamespace", holds=1)
    body = {"namespace": ["held"]}
    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(http.post, "/v1/wh/namespaces", json=body)
        gate.wait_for()
        assert admin.post("/reset").status_code == 204
        assert len(mock.state("wh").namespaces) == 0
        assert mock.journal.count() == 0
        assert held.result(30).status_code == 200
    assert len(mock.state("wh").namespaces) == 0


@pytest.mark.parametrize(("method", "path"), [("POST", "/reset"), ("DELETE", "/faults")])
def test_strict_faults_that_never_happened_are_told_where_all_are_removed(
    mock: MockCatalog, admin: httpx.Client, method: str, path: str
) -> None:
    strict = mock.faults.add("throttled", operation="getConfig", strict=True)
    refused = admin.request(method, path)
    assert refused.status_code == 409
    assert strict.id in refused.text
    assert mock.faults.rules == ()
    assert admin.request(method, path).status_code == 204


def test_the_clock_moves_and_stands(mock: MockCatalog, admin: httpx.Client) -> None:
    before = ok(admin.get("/clock"))
    assert before["stands_still"] is False
    later = ok(admin.post("/clock/advance", json={"milliseconds": 3_600_000}))
    assert 3_600_000 <= later["time_ms"] - before["time_ms"] < 3_700_000
    frozen = ok(admin.post("/clock/freeze", json={"time": "2026-01-01T00:00:00Z"}))
    assert (frozen["time_ms"], frozen["stands_still"]) == (1_767_225_600_000, True)
    assert mock.clock.now_ms() == 1_767_225_600_000
    assert ok(admin.post("/clock/advance", json={"milliseconds": 5}))["time_ms"] % 1000 == 5
    resumed = ok(admin.post("/clock/resume"))
    assert 0 <= resumed["time_ms"] - 1_767_225_600_005 < 60_000
    assert ok(admin.post("/clock/freeze"))["stands_still"] is True
    for wrong in ({"milliseconds": -1}, {"milliseconds": 10**18}, {"milliseconds": "1"}, {}):
        assert admin.post("/clock/advance", json=wrong).status_code == 400
    for text in (
        "yesterday", "9999-99-99", "0001-01-01T00:00:00+23:59", "1970-01-01T00:00:00+23:00",
        "9999-12-31T23:59:59-01:00",
    ):  # fmt: skip
        assert admin.post("/clock/freeze", json={"time": text}).status_code == 400


def test_a_clock_that_stands_by_itself_cannot_be_resumed() -> None:
    with MockCatalog(clock=VirtualClock(5)) as mock:
        uri = f"{mock.uri}/_mock/v1/clock"
        assert ok(httpx.get(uri, trust_env=False))["time_ms"] == 5
        assert httpx.post(f"{uri}/resume", trust_env=False).status_code == 409

    class Own:
        def now_ms(self) -> int:
            return 7

    with MockCatalog(clock=Own()) as mock:
        assert httpx.get(f"{mock.uri}/_mock/v1/clock", trust_env=False).status_code == 409


def test_revoked_tokens_open_nothing_any_more() -> None:
    from icecheck.mock_server import Client, OAuth2Settings

    oauth2 = OAuth2Settings(clients=(Client("spark", "s3cret"),))
    with MockCatalog(oauth2=oauth2, admin_token="boss") as mock:
        headers = {"authorization": f"Bearer {mock.access_token('spark')}"}
        config = f"{mock.uri}/v1/config"
        assert httpx.get(config, headers=headers, trust_env=False).status_code == 200
        assert mock.journal.find()[-1].principal == "spark"
        uri = f"{mock.uri}/_mock/v1/tokens/revoke"
        boss = {"authorization": "Bearer boss"}
        assert httpx.post(uri, headers=headers, trust_env=False).status_code == 401
        assert httpx.post(uri, headers=boss, trust_env=False).status_code == 204
        assert httpx.get(config, headers=headers, trust_env=False).status_code == 401


def test_every_route_says_what_it_does() -> None:
    names = [route.name for route in routes()]
    assert len(names) == len(set(names))
    assert all(route.words.endswith(".") for route in routes())
