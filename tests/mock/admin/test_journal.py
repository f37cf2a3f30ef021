"""The journal: what was asked and answered, without secrets, and no more than there is room for."""

import json
import threading
from pathlib import Path

import httpx
import pytest

from icecheck.mock_server import Client, MockCatalog, OAuth2Settings, VendingSettings
from icecheck.mock_server.core import journal as journals
from icecheck.mock_server.core.journal_files import entry_document, entry_words
from icecheck.mock_server.core.redaction import redacted_body, redacted_headers, redacted_query
from tests.mock.admin.conftest import COMMIT, SCHEMA, TABLE


def test_an_entry_has_what_was_asked_and_answered(mock: MockCatalog, http: httpx.Client) -> None:
    http.post(TABLE, json=COMMIT, headers={"x-own": "1", "user-agent": "Trino/480"})
    (entry,) = mock.journal.find("updateTable", table="db.t")
    assert json.loads(entry.request_body or "") == COMMIT
    assert dict(entry.request_headers or ())["x-own"] == "1"
    assert json.loads(entry.response_body or "")["metadata"]["properties"]["turn"] == "1"
    assert (entry.client, entry.status, entry.answered, entry.fault) == ("Trino/480", 200, True, "")
    document = entry_document(entry)
    assert json.loads(json.dumps(document))["request"]["body"] == entry.request_body
    assert "updateTable wh db.t" in entry_words(entry)


def test_requests_are_found_by_everything_that_they_have(
    mock: MockCatalog, http: httpx.Client, admin: httpx.Client
) -> None:
    http.get(TABLE)
    http.get("/v1/wh/namespaces/db/tables/missing")
    http.head(TABLE)
    first = mock.journal.find()[0].sequence
    for criteria, count in (
        ({}, 3), ({"operation": "loadTable"}, 2), ({"status": 404}, 1), ({"table": "db.t"}, 2),
        ({"table": "t"}, 2), ({"namespace": "db"}, 3), ({"warehouse": "other"}, 0),
        ({"method": "HEAD"}, 1), ({"name": "missing"}, 1), ({"since": first}, 2),
        ({"principal": ""}, 3), ({"fault": "f-1"}, 0),
    ):  # fmt: skip
        assert mock.journal.count(**criteria) == count, criteria
        assert admin.get("/requests", params=criteria).json()["count"] == count, criteria
    assert mock.journal.count(namespace=("db",)) == 3
    (newest,) = admin.get("/requests", params={"limit": 1}).json()["requests"]
    assert newest["operation"] == "tableExists"
    assert admin.get("/requests", params={"limit": -1}).status_code == 400
    assert admin.get("/requests", params={"status": "many"}).status_code == 400
    assert admin.get("/requests", params={"oops": 1}).status_code == 400
    shown = admin.get(f"/requests/{newest['sequence']}").json()
    assert shown["request"]["headers"]
    assert admin.get("/requests/0").status_code == 404
    assert admin.delete("/requests").status_code == 204
    assert mock.journal.count() == 0


def test_waiting_ends_as_soon_as_the_requests_are_there(
    mock: MockCatalog, http: httpx.Client, admin: httpx.Client
) -> None:
    later = threading.Timer(0.05, lambda: [http.get(TABLE) for _ in range(3)])
    later.start()
    assert len(mock.journal.wait_for("loadTable", count=3, timeout=10)) == 3
    later.join()
    with pytest.raises(TimeoutError, match=r"0 of 1 requests came.*loadTable"):
        mock.journal.wait_for("dropTable", timeout=0.01)
    wanted = {"matching": {"operation": "loadTable"}, "count": 3, "timeout_ms": 10}
    assert admin.post("/requests/wait", json=wanted).json()["count"] == 3
    assert admin.post("/requests/wait", json={**wanted, "count": 4}).status_code == 408
    for wrong in ({"count": 0}, {"timeout_ms": 10**9}, {"matching": {"oops": 1}}):
        assert admin.post("/requests/wait", json=wrong).status_code == 400


def test_a_sequence_is_as_expected_or_says_how_not(
    mock: MockCatalog, http: httpx.Client, admin: httpx.Client
) -> None:
    http.get("/v1/config?warehouse=wh")
    http.get(TABLE)
    http.post(TABLE, json=COMMIT)
    mock.journal.assert_sequence(["loadTable", "updateTable"], ignore=["getConfig"])
    with pytest.raises(AssertionError, match="there were getConfig, loadTable, updateTable"):
        mock.journal.assert_sequence(["updateTable"])
    asked = {"operations": ["loadTable", "updateTable"], "ignore": ["getConfig"]}
    assert admin.post("/requests/sequence", json=asked).json()["holds"] is True
    asked["operations"] = ["updateTable"]
    compared = admin.post("/requests/sequence", json=asked).json()
    assert compared == {"holds": False, "operations": ["loadTable", "updateTable"]}


def test_nothing_that_is_shown_has_a_secret() -> None:
    oauth2 = OAuth2Settings(clients=(Client("spark", "s3cret-of-spark"),))
    vending = VendingSettings(storage="s3")
    with (
        MockCatalog(oauth2=oauth2, vending=vending, warehouses=["wh"]) as mock,
        httpx.Client(base_url=mock.uri, trust_env=False) as http,
    ):
        form = {"grant_type": "client_credentials", "client_id": "spark",
                "client_secret": "s3cret-of-spark", "scope": "catalog"}  # fmt: skip
        token = http.post("/v1/oauth/tokens", data=form).json()["access_token"]
        exchange = {
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
            "subject_token": token,
            "subject_token_type": "urn:ietf:params:oauth:token-type:access_token",
            "scope": "catalog",
        }
        basic = httpx.BasicAuth("spark", "s3cret-of-spark")
        fresh = http.post("/v1/oauth/tokens", data=exchange, auth=basic).json()["access_token"]
        http.headers["authorization"] = f"Bearer {fresh}"
        http.post("/v1/wh/namespaces", json={"namespace": ["db"]}).raise_for_status()
        http.get("/v1/config", params={"token": fresh, "X-Amz-Signature": "abcdef0123"})
        delegated = {"x-iceberg-access-delegation": "vended-credentials"}
        body = {"name": "t", "schema": SCHEMA}
        http.post("/v1/wh/namespaces/db/tables", json=body).raise_for_status()
        loaded = http.get(TABLE, headers=delegated).json()
        (vended,) = loaded["storage-credentials"]
        secrets = [fresh, token, "s3cret-of-spark", "abcdef0123"]
        secrets += [vended["config"][name] for name in ("s3.secret-access-key", "s3.session-token")]
        uri = f"{mock.uri}/_mock/v1"
        for path in ("requests?content=true", "requests.har", "requests.jsonl"):
            shown = httpx.get(f"{uri}/{path}", trust_env=False).text
            assert "grant_type" in shown
            assert [secret for secret in secrets if secret in shown] == []
    assert loaded["metadata"]["table-uuid"] in shown, "what is no secret stays"


SECRET = "S3CRET"


@pytest.mark.parametrize(
    "body",
    [
        {"token": SECRET}, {"config": {"token": SECRET}}, {"gcs.oauth2.token": SECRET},
        {"password": 12345, "secret": [SECRET], "credential": {"v": SECRET}},
        {"headers": {"Authorization": [f"AWS4 {SECRET}"]}}, {"aws_access_key_id": SECRET},
        {"private_key": SECRET}, {"adls.connection-string.acc": f"AccountKey={SECRET}"},
        {"adls.sas-token.acc": SECRET}, {"s3.session-token": SECRET},
        {"uri": f"https://b/x?X-Amz-Signature={SECRET}&a=1"}, {"uri": f"https://me:{SECRET}@b/x"},
        [{"a": [{"client_secret": SECRET}]}],
    ],
    ids=str,
)  # fmt: skip
def test_a_secret_is_hidden_wherever_it_stands(body: object) -> None:
    shown = redacted_body(json.dumps(body).encode(), "application/json")
    assert SECRET not in shown
    assert "12345" not in shown
    assert json.loads(shown)


@pytest.mark.parametrize(
    "shown",
    [
        redacted_query(f"token={SECRET}&a=1"),
        redacted_query(f"sig={SECRET}"),
        redacted_query(f"next=http%3A%2F%2Fa%2F%3Faccess_token%3D{SECRET}"),
        redacted_body(f"token={SECRET}".encode(), "application/x-www-form-urlencoded"),
        redacted_body(f"client_assertion={SECRET}".encode(), "application/x-www-form-urlencoded"),
        redacted_body(f'{{"client_secret":"{SECRET}'.encode(), "application/json"),
        redacted_body(json.dumps({"client_secret": SECRET}).encode("utf-16"), "application/json"),
        redacted_body(f'{{"token":"{SECRET}","token":null}}'.encode(), "application/json"),
        str(redacted_headers([("referer", f"http://a/?access_token={SECRET}")])),
        str(redacted_headers([("x-api-key", SECRET), ("authorization", f"Basic {SECRET}")])),
    ],
)
def test_a_secret_is_hidden_outside_of_json_too(shown: str) -> None:
    assert SECRET not in shown
    assert "\x00" not in shown


def test_what_is_no_secret_stays() -> None:
    body = {
        "next-page-token": "p1", "token_type": "bearer", "issued_token_type": "urn:x",
        "storage-credentials": [{"prefix": "s3://b", "config": {"s3.region": "eu"}}],
        "encryption-keys": [{"key-id": "k"}], "properties": {"owner": "me"}, "expires_in": 5,
    }  # fmt: skip
    text = json.dumps(body)
    assert json.loads(redacted_body(text.encode(), "application/json")) == body
    assert redacted_query("pageToken=x&page-token=y&snapshots=all") == (
        "pageToken=x&page-token=y&snapshots=all"
    )


def test_requests_that_were_refused_have_their_operation() -> None:
    mock = MockCatalog(token="secret", root="memory://root")
    with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock") as http:
        assert http.get("/v1/namespaces").status_code == 401
        assert http.get("/v1/%FF/namespaces").status_code == 401
    assert mock.journal.count("listNamespaces", status=401) == 1
    assert mock.journal.count(status=401) == 2


def test_waiting_counts_anew_after_everything_was_forgotten(
    mock: MockCatalog, http: httpx.Client
) -> None:
    http.get(TABLE)

    def later() -> None:
        mock.journal.clear()
        for _ in range(2):
            http.get(TABLE)

    timer = threading.Timer(0.05, later)
    timer.start()
    assert len(mock.journal.wait_for("loadTable", count=2, timeout=10)) == 2
    timer.join()


def test_a_listener_that_fails_is_no_error_of_the_request(
    mock: MockCatalog, http: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    def failing(_entry: object) -> None:
        raise KeyError("mine")

    mock.journal.listen(failing)
    assert http.get(TABLE).status_code == 200
    assert "a listener of the journal failed" in caplog.text


def test_long_names_do_not_fill_the_memory() -> None:
    mock = MockCatalog(root="memory://root")
    mock.faults.add("server-error", operation="getConfig", times=0)
    with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock") as http:
        for _ in range(3):
            http.get("/v1/config", params={"warehouse": "w" * 60_000})
    assert {len(entry.warehouse) for entry in mock.journal.find()} == {512}


def test_long_paths_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journals, "TEXT_CHARACTERS_MAX", 40_000)
    mock = MockCatalog(root="memory://root")
    with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock") as http:
        for _ in range(20):
            http.get(f"/v1/namespaces/{'n' * 2000}/tables/{'t' * 1000}")
    kept = [entry.sequence for entry in mock.journal.find()]
    assert kept == [*range(15, 21)]  # each has its path, and its names once more
    mock.journal.clear()
    assert mock.journal.find() == ()


def test_memory_has_the_newest_contents_and_all_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journals, "CONTENT_BYTES_MAX", 200_000)
    mock = MockCatalog(root="memory://root")
    with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock") as http:
        for number in range(60):
            http.post("/v1/namespaces", json={"namespace": [f"n{number}"], "pad": "x" * 10_000})
        kept = [entry.request_body is not None for entry in mock.journal.find("createNamespace")]
        assert len(kept) == 60
        assert kept == sorted(kept)
        assert 10 < sum(kept) < 20
        (document,) = [entry_document(mock.journal.find()[0])]
        assert (document["request"], document["response"], document["client"]) == (None, None, None)


def test_files_of_requests_can_be_read(
    mock: MockCatalog, http: httpx.Client, admin: httpx.Client, tmp_path: Path
) -> None:
    http.get(TABLE, params={"snapshots": "refs"})
    http.post(TABLE, json=COMMIT)
    with mock.fault("answer-lost"), pytest.raises(httpx.TransportError):
        http.post(TABLE, json=COMMIT)
    mock.journal.save(tmp_path / "run.har")
    mock.journal.save(tmp_path / "run.jsonl")
    saved = json.loads((tmp_path / "run.har").read_text())
    assert saved == admin.get("/requests.har").json()
    entries = saved["log"]["entries"]
    assert [each["response"]["status"] for each in entries] == [200, 200, 0]
    assert entries[0]["request"]["url"] == f"{mock.uri}{TABLE}?snapshots=refs"
    assert entries[0]["request"]["queryString"] == [{"name": "snapshots", "value": "refs"}]
    lines = (tmp_path / "run.jsonl").read_text().splitlines()
    assert [json.loads(line)["operation"] for line in lines] == [
        "loadTable", "updateTable", "updateTable",
    ]  # fmt: skip
    with pytest.raises(ValueError, match=r"\.har, \.jsonl"):
        mock.journal.save(tmp_path / "run.txt")


def test_a_listener_hears_of_each_request(mock: MockCatalog, http: httpx.Client) -> None:
    heard: list[str] = []
    mock.journal.listen(lambda entry: heard.append(entry.operation))
    http.get(TABLE)
    assert heard == ["loadTable"]
