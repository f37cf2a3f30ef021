"""Remote signing: a client without credentials has its requests signed, for its table only."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import httpx
import pytest

from icecheck.mock_server import MockCatalog, WarehouseDeclaration
from tests.mock.objects.asking import Answered, send
from tests.mock.objects.conftest import NOW_MS, SCHEMA, SECONDS, Stage, create, key_of

SIGNING = {"X-Iceberg-Access-Delegation": "remote-signing"}


class Signed:
    """A client of one table, as Iceberg's S3 signers are: it asks for a signature, then sends."""

    def __init__(self, stage: Stage, table: str, client: str = "all") -> None:
        self.stage = stage
        self.http = stage.http(client)
        answer = self.http.get(f"/namespaces/ns/tables/{table}", headers=SIGNING).json()
        assert "storage-credentials" not in answer
        self.config = answer["config"]
        self.address = f"{self.config['s3.signer.uri']}/{self.config['s3.signer.endpoint']}"

    def asked(self, method: str, target: str, **more: Any) -> httpx.Response:
        uri = f"{self.config['s3.endpoint']}{target}"
        body = {"method": method, "uri": uri, "region": "us-east-1", "headers": {}, **more}
        return self.http.post(self.address, json=body)

    def ask(self, method: str, target: str, content: bytes = b"", **more: Any) -> Answered:
        answer = self.asked(method, target, **more)
        assert answer.status_code == 200, answer.text
        found = answer.json()
        signed = {name: ", ".join(values) for name, values in found["headers"].items()}
        given = {name: ", ".join(values) for name, values in more.get("headers", {}).items()}
        to = urlsplit(found["uri"])
        target = f"{to.path}?{to.query}" if to.query else to.path
        return send(self.stage.root.endpoint, method, target, content, {**given, **signed})


@pytest.fixture
def own(stage: Stage) -> Signed:
    return Signed(stage, "own")


def test_a_client_that_asks_for_it_is_told_how_its_requests_are_signed(own: Signed) -> None:
    assert own.config["s3.remote-signing-enabled"] == "true"
    assert own.config["s3.path-style-access"] == "true"
    plain = own.address.partition("?")[0]
    assert plain == f"{own.stage.mock.uri}/v1/wh/namespaces/ns/tables/own/sign"
    assert not [name for name in own.config if "secret" in name or "access-key" in name]


def test_signed_requests_do_what_writers_need(own: Signed) -> None:
    key = own.stage.own
    target = f"/lake/{key}/signed%20file"
    assert own.ask("PUT", target, b"content").status == 200
    assert own.ask("GET", target, headers={"Range": ["bytes=0-2"]}).body == b"con"
    listed = own.ask("GET", f"/lake?list-type=2&prefix={quote(key, safe='')}%2Fsigned")
    assert b"signed file</Key>" in listed.body
    copied = {"x-amz-copy-source": [target]}
    assert own.ask("PUT", f"/lake/{key}/copy", headers=copied).status == 200
    body = f"<Delete><Object><Key>{key}/copy</Key></Object></Delete>"
    assert own.ask("POST", "/lake?delete=", body.encode(), body=body).status == 200
    assert own.ask("DELETE", target).status == 204
    assert own.ask("HEAD", target).status == 404


def test_answers_say_whether_they_may_be_kept(own: Signed) -> None:
    target = f"/lake/{own.stage.own}/x"
    for method, kept in (("GET", "private"), ("HEAD", "private"), ("PUT", "no-cache")):
        assert own.asked(method, target).headers["cache-control"] == kept


def test_nothing_of_another_table_is_signed(own: Signed) -> None:
    own_key, other = own.stage.own, own.stage.other
    deletion = f"<Delete><Object><Key>{other}/x</Key></Object></Delete>"
    asked: list[tuple[str, str, dict[str, Any]]] = [
        ("GET", f"/lake/{other}/x", {}),
        ("PUT", f"/lake/{other}/x", {}),
        ("DELETE", f"/lake/{other}/x", {}),
        ("PUT", f"/lake/{own_key}/x", {"headers": {"X-Amz-Copy-Source": [f"/lake/{other}/x"]}}),
        ("GET", f"/lake?prefix={quote(other, safe='')}%2F", {}),
        ("GET", "/lake", {}),
        ("GET", "/", {}),
        ("PUT", "/lake?acl=", {}),
        ("POST", "/lake?delete=", {"body": deletion}),
        ("POST", "/lake?delete=", {}),
        ("GET", f"/lake/{own_key}/x", {"uri": f"http://127.0.0.1:1/lake/{own_key}/x"}),
        ("GET", f"/lake/{own_key}/x", {"uri": f"https://lake.s3.amazonaws.com/{own_key}/x"}),
    ]  # fmt: skip
    for method, target, more in asked:
        answer = own.asked(method, target, **more)
        assert (answer.status_code, answer.json()["error"]["type"]) == (403, "ForbiddenException")
    dots = own.asked("GET", f"/lake/{own_key}/../other/x")
    assert dots.status_code == 400
    assert Signed(own.stage, "other").asked("GET", f"/lake/{other}/x").status_code == 200


def test_what_is_sent_is_judged_again(own: Signed) -> None:
    """A body that is another one than the signer was shown is judged when it comes."""
    theirs = f"<Delete><Object><Key>{own.stage.other}/x</Key></Object></Delete>".encode()
    shown = f"<Delete><Object><Key>{own.stage.own}/x</Key></Object></Delete>"
    assert own.ask("POST", "/lake?delete=", theirs, body=shown).status == 403
    target = f"/lake/{own.stage.own}/x"
    headers = own.asked("PUT", target).json()["headers"]
    signed = {name: values[0] for name, values in headers.items()}
    copied = {**signed, "x-amz-copy-source": f"/lake/{own.stage.other}/x"}
    for method, sent_to, sent in (
        ("PUT", f"/lake/{own.stage.other}/x", signed),
        ("DELETE", target, signed),
        ("PUT", target, copied),
    ):
        assert send(own.stage.root.endpoint, method, sent_to, b"", sent).status == 403


def test_whoever_may_only_read_has_only_reading_signed(stage: Stage) -> None:
    reader = Signed(stage, "own", "reader")
    target = f"/lake/{stage.own}/x"
    assert reader.asked("GET", target).status_code == 200
    for method in ("PUT", "DELETE"):
        assert reader.asked(method, target).status_code == 403


def test_whoever_is_unknown_gets_no_signature(own: Signed) -> None:
    answer = httpx.post(own.address, json={})
    assert answer.status_code == 401


def test_what_was_granted_ends_and_the_table_is_asked_then(stage: Stage) -> None:
    """So a client that holds a table for long has its requests signed for as long as it is there.

    What it was granted once is not more than it may now.
    """
    with stage.http() as http:
        key = key_of(create(http, "held").json()["metadata"]["location"])
        held, target = Signed(stage, "held"), f"/lake/{key}/x"
        reader = stage.http("reader")
        body = {"method": "PUT", "region": "r", "headers": {}}
        body["uri"] = f"{held.config['s3.endpoint']}{target}"
        assert held.asked("PUT", target).status_code == 200
        assert reader.post(held.address, json=body).status_code == 403
        stage.clock.advance(SECONDS * 1000)
        assert held.asked("PUT", target).status_code == 200
        stage.clock.time_ms = NOW_MS
        http.delete("/namespaces/ns/tables/held").raise_for_status()
        assert held.asked("DELETE", target).status_code == 200
        stage.clock.advance(SECONDS * 1000)
        assert held.asked("DELETE", target).status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        "", "{", "[]", "{}", '{"method": "GET"}', '{"method": "GET", "method": "PUT"}',
        '{"method":"GET","uri":"http://[","region":"r","headers":{}}',
        '{"method":"GET","uri":"x","region":"r","headers":{"a":"b"}}',
    ],
)  # fmt: skip
def test_a_malformed_request_is_400(own: Signed, body: str) -> None:
    answer = own.http.post(own.address, content=body)
    assert answer.status_code == 400, answer.text


def test_an_unknown_table_is_404(own: Signed) -> None:
    body = {"method": "GET", "uri": "http://x/", "region": "r", "headers": {}}
    answer = own.http.post("/namespaces/ns/tables/nothing/sign", json=body)
    assert (answer.status_code, answer.json()["error"]["type"]) == (404, "NoSuchTableException")


def test_it_is_no_operation_of_the_served_document(own: Signed) -> None:
    """It is neither announced nor there where no warehouse is in the object store."""
    config = httpx.get(f"{own.stage.mock.uri}/v1/config?warehouse=wh", headers=own.http.headers)
    assert "/sign" not in json.dumps(config.json())
    assert own.stage.mock.journal.count("signRequest") >= 0
    with MockCatalog() as mock:
        answer = httpx.post(f"{mock.uri}/v1/namespaces/ns/tables/t/sign", json={})
        assert (answer.status_code, answer.json()["error"]["type"]) == (404, "NotFoundException")


def test_files_of_a_staged_table_are_signed_before_it_exists(stage: Stage) -> None:
    """Spark's CREATE TABLE AS SELECT writes first, and creates then."""
    with stage.http() as http:
        body = {"name": "staged", "schema": SCHEMA, "stage-create": True}
        answer = http.post("/namespaces/ns/tables", json=body, headers=SIGNING).json()
        config, key = answer["config"], key_of(answer["metadata"]["location"])
        address = f"{config['s3.signer.uri']}/{config['s3.signer.endpoint']}"

        def asked(key: str, at: str = address) -> int:
            uri = f"{config['s3.endpoint']}/lake/{key}/data/x"
            request = {"method": "PUT", "uri": uri, "region": "us-east-1", "headers": {}}
            return http.post(at, json=request).status_code

        assert asked(key) == 200
        assert asked(stage.own) == 403
        plain, _, token = address.partition("?")
        assert asked(key, plain) == 404
        for forged in (token[:-1], f"{token}0", "grant-token=x", "grant-token="):
            assert asked(key, f"{plain}?{forged}") == 403
        stage.clock.advance(SECONDS * 1000)
        assert asked(key) == 404


def test_the_journal_shows_nothing_that_signs(own: Signed, tmp_path: Path) -> None:
    target = f"/lake/{own.stage.own}/x"
    answer = own.asked("GET", target).json()
    vended = own.stage.vended("own")
    own.stage.mock.journal.save(tmp_path / "run.jsonl")
    told = (tmp_path / "run.jsonl").read_text()
    assert target in told
    token = own.address.partition("=")[2]
    secrets = [token, unquote(token), vended["s3.secret-access-key"], vended["s3.session-token"]]
    secrets += [value for values in answer["headers"].values() for value in values]
    secrets.remove("UNSIGNED-PAYLOAD")
    secrets.remove(answer["headers"]["x-amz-date"][0])
    assert len(secrets) == 6
    assert [secret for secret in secrets if secret in told] == []


def test_a_server_of_1_11_names_its_signer_by_the_documents_names_too() -> None:
    warehouses = [WarehouseDeclaration("wh", location="s3://lake/wh"), "beside"]
    with MockCatalog(spec="1.11.0", warehouses=warehouses) as mock:
        http = httpx.Client(base_url=f"{mock.uri}/v1/wh")
        http.post("/namespaces", json={"namespace": ["ns"]}).raise_for_status()
        key = key_of(create(http, "t").json()["metadata"]["location"])
        config = http.get("/namespaces/ns/tables/t", headers=SIGNING).json()["config"]
        for name in ("uri", "endpoint"):
            assert config[f"signer.{name}"] == config[f"s3.signer.{name}"]
        listed = {
            name: json.dumps(httpx.get(f"{mock.uri}/v1/config?warehouse={name}").json())
            for name in ("wh", "beside")
        }
        assert ["/sign" in each for each in listed.values()] == [True, False]
        uri = f"{config['s3.endpoint']}/lake/{key}/x"
        body = {"method": "GET", "uri": uri, "region": "us-east-1", "headers": {}}
        at = f"{config['signer.uri']}/{config['signer.endpoint']}"
        assert http.post(at, json={**body, "provider": "s3"}).status_code == 200
        assert http.post(at, json={**body, "provider": "gcs"}).status_code == 400
        assert mock.journal.count("signRequest", status=200) == 1
        http.close()
