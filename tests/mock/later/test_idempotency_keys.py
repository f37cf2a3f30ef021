"""A request that comes again with its idempotency key has no further effect (1.11.0, L2079)."""

import threading
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from icecheck.mock_server import (
    Client,
    IdempotencySettings,
    MockCatalog,
    OAuth2Settings,
    VendingSettings,
)
from icecheck.mock_server.core import keyed_answers
from icecheck.mock_server.core.clock import VirtualClock
from icecheck.mock_server.protocol.served_contract import keyed_operations
from tests.kit.ordinary_requests import SCHEMA, VIEW_VERSION
from tests.mock.asking import error_of
from tests.mock.later.conftest import Make

TABLES = "/namespaces/ns/tables"
VENDED = {"X-Iceberg-Access-Delegation": "vended-credentials"}


def key() -> dict[str, str]:
    return {"Idempotency-Key": str(uuid4())}


def create(http: httpx.Client, name: str, headers: dict[str, str], **more: Any) -> httpx.Response:
    return http.post(TABLES, json={"name": name, "schema": SCHEMA, **more}, headers=headers)


def committed(http: httpx.Client, headers: dict[str, str], **properties: str) -> httpx.Response:
    updates = [{"action": "set-properties", "updates": properties}]
    body = {"requirements": [], "updates": updates}
    return http.post(f"{TABLES}/t", json=body, headers=headers)


def versions(http: httpx.Client) -> int:
    return len(http.get(f"{TABLES}/t").json()["metadata"]["metadata-log"])


def test_sixteen_operations_have_keys_and_so_has_the_one_that_was_forgotten() -> None:
    assert len(keyed_operations("1.11.0")) == 17
    assert keyed_operations("1.10.0") == frozenset()


def test_the_lifetime_is_announced_where_keys_have_a_meaning(make: Make) -> None:
    def announced(**settings: Any) -> str | None:
        mock, _ = make(**settings)
        with httpx.Client(transport=mock.httpx_transport()) as http:
            found = http.get("http://mock/v1/config").json().get("idempotency-key-lifetime")
        return None if found is None else str(found)

    assert announced() == "PT30M"
    assert announced(idempotency=IdempotencySettings("PT5S")) == "PT5S"
    assert announced(idempotency=None) is None
    assert announced(spec="1.10.0") is None


def test_a_table_that_was_created_is_answered_again(http: httpx.Client) -> None:
    once = key()
    first, second = create(http, "t", once), create(http, "t", once)
    assert second.status_code == first.status_code == 200
    assert second.json() == first.json()
    assert second.headers["etag"] == first.headers["etag"]
    assert error_of(create(http, "t", key()))[0] == 409


def test_a_commit_is_made_once_and_its_answer_stays(http: httpx.Client) -> None:
    create(http, "t", {})
    once = key()
    first = committed(http, once, owner="one")
    assert committed(http, {}, owner="two").status_code == 200
    again = committed(http, once, owner="one")
    assert again.json()["metadata-location"] == first.json()["metadata-location"]
    assert again.headers["etag"] == first.headers["etag"]
    assert versions(http) == 2
    assert http.get(f"{TABLES}/t").json()["metadata"]["properties"]["owner"] == "two"


def test_a_drop_that_comes_again_leaves_what_has_the_name_since(http: httpx.Client) -> None:
    create(http, "t", {})
    once = key()
    assert http.delete(f"{TABLES}/t", headers=once).status_code == 204
    create(http, "t", {})
    assert http.delete(f"{TABLES}/t", headers=once).status_code == 204
    assert http.get(f"{TABLES}/t").status_code == 200


def test_a_rename_that_comes_again_finds_no_missing_table(http: httpx.Client) -> None:
    create(http, "t", {})
    source, target = ({"namespace": ["ns"], "name": name} for name in ("t", "u"))
    body, once = {"source": source, "destination": target}, key()
    for _ in range(2):
        assert http.post("/tables/rename", json=body, headers=once).status_code == 204


def test_a_refusal_is_final(http: httpx.Client) -> None:
    once = key()
    body = {"namespace": ["ns"]}
    refused = http.post("/namespaces", json=body, headers=once)
    assert http.delete("/namespaces/ns").status_code == 204
    again = http.post("/namespaces", json=body, headers=once)
    assert again.status_code == refused.status_code == 409
    assert again.json() == refused.json()
    assert http.get("/namespaces/ns").status_code == 404


def test_properties_that_were_removed_are_removed_in_the_answer_again(http: httpx.Client) -> None:
    http.post("/namespaces/ns/properties", json={"updates": {"owner": "me"}})
    once = key()
    for _ in range(2):
        answer = http.post("/namespaces/ns/properties", json={"removals": ["owner"]}, headers=once)
        assert answer.json() == {"updated": [], "removed": ["owner"], "missing": []}


def test_a_transaction_makes_one_version_of_each_table(http: httpx.Client) -> None:
    create(http, "t", {})
    change = {
        "identifier": {"namespace": ["ns"], "name": "t"},
        "requirements": [],
        "updates": [{"action": "set-properties", "updates": {"a": "b"}}],
    }
    once = key()
    for _ in range(2):
        body = {"table-changes": [change]}
        assert http.post("/transactions/commit", json=body, headers=once).status_code == 204
    assert versions(http) == 1


def test_a_plan_that_is_asked_for_again_is_the_same_one(http: httpx.Client) -> None:
    create(http, "t", {})
    once = key()
    first, second = (http.post(f"{TABLES}/t/plan", json={}, headers=once) for _ in range(2))
    assert first.json()["plan-id"] == second.json()["plan-id"]
    assert http.post(f"{TABLES}/t/plan", json={}, headers=key()).json() != first.json()


def test_views_are_created_replaced_and_dropped_once(http: httpx.Client) -> None:
    body = {"name": "v", "schema": SCHEMA, "view-version": VIEW_VERSION, "properties": {}}
    once = key()
    uuids = {
        http.post("/namespaces/ns/views", json=body, headers=once).json()["metadata"]["view-uuid"]
        for _ in range(2)
    }
    assert len(uuids) == 1
    once = key()
    for _ in range(2):
        assert http.delete("/namespaces/ns/views/v", headers=once).status_code == 204


@pytest.mark.parametrize("wrong", ["", "x", "0190b6a1-1b2c", "{}".format("g" * 36)])
def test_a_key_that_is_no_uuid_is_refused_and_does_nothing(http: httpx.Client, wrong: str) -> None:
    assert error_of(create(http, "t", {"Idempotency-Key": wrong}))[0] == 400
    assert http.get(f"{TABLES}/t").status_code == 404


def test_letters_of_a_key_count_in_either_case(http: httpx.Client) -> None:
    text = str(uuid4())
    create(http, "t", {"Idempotency-Key": text.lower()})
    assert create(http, "t", {"Idempotency-Key": text.upper()}).status_code == 200


def test_a_key_of_another_request_is_refused(http: httpx.Client) -> None:
    once = key()
    create(http, "t", once)
    assert error_of(create(http, "u", once))[0] == 400
    assert error_of(http.delete(f"{TABLES}/t", headers=once))[0] == 400
    assert http.get(f"{TABLES}/t").status_code == 200


def test_a_body_that_cannot_be_read_leaves_its_key_free(http: httpx.Client) -> None:
    once = key()
    assert http.post(TABLES, json={"name": 3}, headers=once).status_code == 400
    assert create(http, "t", once).status_code == 200


def test_a_key_ends_with_its_lifetime(make: Make, clock: VirtualClock) -> None:
    _, http = make(clock=clock, idempotency=IdempotencySettings("PT1M"))
    http.post("/namespaces", json={"namespace": ["ns"]})
    once = key()
    create(http, "t", once)
    clock.advance(59_999)
    assert create(http, "t", once).status_code == 200
    clock.advance(1)
    assert create(http, "t", once).status_code == 409


def test_what_counts_is_the_effect_not_the_answer(make: Make) -> None:
    mock, http = make()
    http.post("/namespaces", json={"namespace": ["ns"]})
    before, after = key(), key()
    mock.faults.add("server-error", operation="createTable", times=1)
    assert create(http, "t", before).status_code == 500
    assert create(http, "t", before).status_code == 200
    mock.faults.add("commit-unknown", operation="updateTable", times=1)
    assert committed(http, after, a="b").status_code >= 500
    assert committed(http, after, a="b").status_code == 200
    assert versions(http) == 1


def test_many_at_once_have_one_effect(make: Make) -> None:
    mock, http = make()
    http.post("/namespaces", json={"namespace": ["ns"]})
    once, found = key(), []

    def ask() -> None:
        with httpx.Client(transport=mock.httpx_transport(), base_url=http.base_url) as own:
            found.append(create(own, "t", once))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {answer.status_code for answer in found} == {200}
    assert len({answer.json()["metadata"]["table-uuid"] for answer in found}) == 1


def test_a_key_is_its_callers_own(make: Make) -> None:
    oauth2 = OAuth2Settings(clients=(Client("one", "secret"), Client("two", "secret")))
    mock = MockCatalog(seed=1, spec="1.11.0", root="memory://root", oauth2=oauth2)
    with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock/v1/wh") as http:
        one, two = ({"Authorization": f"Bearer {mock.access_token(n)}"} for n in ("one", "two"))
        http.get("http://mock/v1/config?warehouse=wh", headers=one)
        http.post("/namespaces", json={"namespace": ["ns"]}, headers=one)
        once = key()
        assert create(http, "t", once | one).status_code == 200
        assert create(http, "t", once | two).status_code == 409
    mock.stop()


def test_credentials_are_vended_afresh(make: Make, clock: VirtualClock) -> None:
    _, http = make(
        clock=clock,
        vending=VendingSettings(storage="s3", seconds=60),
        idempotency=IdempotencySettings("PT1H"),
    )
    http.post("/namespaces", json={"namespace": ["ns"]})
    once = key()
    first = create(http, "t", once | VENDED).json()
    clock.advance(120_000)
    second = create(http, "t", once | VENDED).json()
    assert first["metadata"] == second["metadata"]
    ends = [each["storage-credentials"][0]["config"] for each in (first, second)]
    assert len({each["s3.session-token-expires-at-ms"] for each in ends}) == 2
    assert "storage-credentials" not in create(http, "t", once).json()


def test_going_back_to_a_snapshot_forgets_what_was_answered_since(make: Make) -> None:
    mock, http = make()
    http.post("/namespaces", json={"namespace": ["ns"]})
    once = key()
    with mock.checkpoint():
        first = create(http, "t", once).json()
    second = create(http, "t", once).json()
    assert first["metadata"]["table-uuid"] != second["metadata"]["table-uuid"]


def test_the_next_server_at_a_root_knows_the_keys(tmp_path: Path) -> None:
    once, uuids = key(), set()
    for _ in range(3):
        mock = MockCatalog(spec="1.11.0", root=tmp_path, keep=True)
        with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock/v1/wh") as http:
            http.get("http://mock/v1/config?warehouse=wh")
            http.post("/namespaces", json={"namespace": ["ns"]})
            uuids.add(create(http, "t", once).json()["metadata"]["table-uuid"])
        mock.stop()
    assert len(uuids) == 1


def test_what_has_expired_is_not_kept_for_the_next_server(make: Make, tmp_path: Path) -> None:
    for hours in range(3):
        mock, http = make(root=tmp_path, keep=True, clock=VirtualClock(hours * 3_600_000))
        http.post("/namespaces", json={"namespace": [f"n{hours}"]}, headers=key())
        mock.stop()
        kept = (tmp_path / ".icecheck" / "state.jsonl").read_bytes()
        assert kept.count(b'"is":"answer"') == 1, f"after {hours} hours"


def test_what_is_remembered_is_bounded(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyed_answers, "ANSWERS_MAX", 3)
    mock, http = make()
    for number in range(9):
        http.post("/namespaces", json={"namespace": [f"n{number}"]}, headers=key())
    assert len(mock.state("wh").keyed.by_key) == 3
    monkeypatch.setattr(keyed_answers, "BODIES_BYTES_MAX", 1)
    http.post("/namespaces", json={"namespace": ["last"]}, headers=key())
    assert len(mock.state("wh").keyed.by_key) == 1


@pytest.mark.parametrize("lifetime", ["", "P", "PT", "P1W", "P1M", "30 minutes", "-PT1M", "PT0S"])
def test_a_lifetime_that_a_client_could_not_read_is_refused(lifetime: str) -> None:
    with pytest.raises(ValueError, match="key"):
        IdempotencySettings(lifetime)


@pytest.mark.parametrize(
    ("lifetime", "milliseconds"),
    [("PT30M", 1_800_000), ("P1D", 86_400_000), ("P1DT1H1M1S", 90_061_000), ("PT1.5S", 1_500)],
)
def test_a_lifetime_is_read(lifetime: str, milliseconds: int) -> None:
    assert IdempotencySettings(lifetime).milliseconds == milliseconds


def test_an_older_document_gives_keys_no_meaning(make: Make) -> None:
    _, http = make(spec="1.10.0")
    http.post("/namespaces", json={"namespace": ["ns"]})
    once = key()
    assert create(http, "t", once).status_code == 200
    assert create(http, "t", once).status_code == 409
    assert create(http, "u", {"Idempotency-Key": "x"}).status_code == 200
