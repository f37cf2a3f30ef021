"""Credentials for storage: for whom asks, in the shapes of S3, GCS and ADLS, while they last."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from icecheck.mock_server import MockCatalog, VendingSettings, WarehouseDeclaration
from icecheck.mock_server.core.clock import VirtualClock
from icecheck.mock_server.core.vending_settings import Storage
from tests.mock.security.serving import NOW_MS, SCHEMA, client_of

ASKING = {"X-Iceberg-Access-Delegation": "vended-credentials"}
HOUR_MS = 3_600_000
# Credentials are counted from the begin of the half hour: so long all loads get the same.
BEGIN_MS = NOW_MS // (HOUR_MS // 2) * (HOUR_MS // 2)

Serve = Callable[..., httpx.Client]


@pytest.fixture
def serve(clock: VirtualClock) -> Serve:
    """A client of a server that vends as these settings say; a namespace `ns` is there."""

    def served(
        storage: Storage | None = "s3", location: str = "s3://bucket/wh", **settings: Any
    ) -> httpx.Client:
        vending = None if storage is None else VendingSettings(storage=storage, **settings)
        mock = MockCatalog(
            seed=7,
            clock=clock,
            vending=vending,
            warehouses=[WarehouseDeclaration("wh", location=location)],
        )
        http = client_of(mock)
        assert http.post("/v1/wh/namespaces", json={"namespace": ["ns"]}).status_code == 200
        return http

    return served


def create(http: httpx.Client, name: str = "t", *, asking: bool = True, **more: Any) -> Any:
    body = {"name": name, "schema": SCHEMA, **more}
    headers = ASKING if asking else {}
    response = http.post("/v1/wh/namespaces/ns/tables", json=body, headers=headers)
    assert response.status_code == 200, response.text
    return response.json()


TABLE = "/v1/wh/namespaces/ns/tables/t"


def load(http: httpx.Client, **headers: str) -> httpx.Response:
    return http.get(TABLE, headers={**ASKING, **headers})


def access(answer: Any) -> Any:
    return {key: answer[key] for key in ("config", "storage-credentials") if key in answer}


# ------------------------------------------------------------------------------- shapes


def test_s3_credentials_are_as_javas_client_wants_them(serve: Serve) -> None:
    """Exactly one, for a prefix that starts with s3, with four members and a time in the future."""
    http = serve()
    answer = create(http)
    (credential,) = answer["storage-credentials"]
    assert credential["prefix"] == answer["metadata"]["location"]
    assert credential["prefix"].startswith("s3://bucket/wh/ns/t-")
    config = credential["config"]
    assert set(config) == {
        "s3.access-key-id",
        "s3.secret-access-key",
        "s3.session-token",
        "s3.session-token-expires-at-ms",
        "client.region",
    }
    assert all(isinstance(value, str) and value for value in config.values())
    assert int(config["s3.session-token-expires-at-ms"]) == BEGIN_MS + HOUR_MS
    assert answer["config"] == {
        **config,
        "client.refresh-credentials-endpoint": f"{TABLE}/credentials",
    }


def test_gcs_credentials_are_a_token_and_its_end(serve: Serve) -> None:
    answer = create(serve("gcs", "gs://bucket/wh"))
    (credential,) = answer["storage-credentials"]
    assert credential["prefix"].startswith("gs://bucket/wh/ns/t-")
    assert set(credential["config"]) == {"gcs.oauth2.token", "gcs.oauth2.token-expires-at"}
    assert answer["config"]["gcs.oauth2.refresh-credentials-endpoint"] == f"{TABLE}/credentials"


def test_adls_credentials_name_the_account_with_and_without_its_host(serve: Serve) -> None:
    host = "account.dfs.core.windows.net"
    answer = create(serve("adls", f"abfss://container@{host}/wh"))
    (credential,) = answer["storage-credentials"]
    config = credential["config"]
    assert set(config) == {
        f"adls.{kind}.{name}"
        for kind in ("sas-token", "sas-token-expires-at-ms")
        for name in (host, "account")
    }
    assert config[f"adls.sas-token.{host}"] == config["adls.sas-token.account"]
    assert answer["config"]["adls.refresh-credentials-endpoint"] == f"{TABLE}/credentials"


def test_a_storage_that_knows_its_keys_gets_them_vended(serve: Serve) -> None:
    given = {"s3.access-key-id": "minio", "s3.secret-access-key": "minio-secret"}
    http = serve(config=given, table_config={"s3.endpoint": "http://minio"}, region="eu-west-1")
    answer = create(http)
    assert given.items() <= answer["storage-credentials"][0]["config"].items()
    assert (given | {"s3.endpoint": "http://minio"}).items() <= answer["config"].items()
    assert answer["config"]["client.region"] == "eu-west-1"
    assert "s3.endpoint" not in answer["storage-credentials"][0]["config"]


# ------------------------------------------------------------------------ asking for it


def test_nobody_gets_what_was_not_asked_for(serve: Serve) -> None:
    http = serve()
    assert access(create(http, asking=False)) == {}
    assert access(http.get(TABLE).json()) == {}


@pytest.mark.parametrize(
    "asked",
    [
        "vended-credentials",
        "vended-credentials,remote-signing",
        " remote-signing , vended-credentials ",
        "mind-reading,vended-credentials,",
    ],
)
def test_the_list_may_have_members_that_nobody_knows(serve: Serve, asked: str) -> None:
    http = serve()
    create(http)
    answer = http.get(TABLE, headers={"X-Iceberg-Access-Delegation": asked}).json()
    assert set(access(answer)) == {"config", "storage-credentials"}


@pytest.mark.parametrize(
    "asked", ["", "remote-signing", "Vended-Credentials", "vended-credentials;q=1", "vended"]
)
def test_another_list_gets_nothing(serve: Serve, asked: str) -> None:
    """The members are the document's, spelt as it spells them (L1877)."""
    http = serve()
    create(http)
    answer = http.get(TABLE, headers={"X-Iceberg-Access-Delegation": asked})
    assert answer.status_code == 200
    assert access(answer.json()) == {}


def test_a_server_that_vends_nothing_answers_as_if_nobody_had_asked(serve: Serve) -> None:
    http = serve(None, "gs://bucket/wh")
    assert access(create(http)) == {}
    assert load(http).content == http.get(TABLE).content
    assert http.get(f"{TABLE}/credentials").json() == {"storage-credentials": []}


def test_remote_signing_is_offered_where_it_is_served(serve: Serve) -> None:
    http = serve(signer_uri="http://signer")
    create(http)
    only = http.get(TABLE, headers={"X-Iceberg-Access-Delegation": "remote-signing"}).json()
    assert access(only) == {
        "config": {
            "client.region": "us-east-1",
            "s3.remote-signing-enabled": "true",
            "s3.signer.uri": "http://signer",
        }
    }
    both = {"X-Iceberg-Access-Delegation": "remote-signing,vended-credentials"}
    answer = http.get(TABLE, headers=both).json()
    assert "s3.remote-signing-enabled" not in answer["config"]
    assert len(answer["storage-credentials"]) == 1


def test_a_staged_table_comes_with_credentials(serve: Serve) -> None:
    answer = create(serve(), "staged table", **{"stage-create": True})
    assert "metadata-location" not in answer
    assert answer["storage-credentials"][0]["prefix"] == answer["metadata"]["location"]
    endpoint = answer["config"]["client.refresh-credentials-endpoint"]
    assert endpoint == "/v1/wh/namespaces/ns/tables/staged%20table/credentials"


def test_a_registered_table_comes_with_credentials(serve: Serve) -> None:
    http = serve()
    body = {"name": "r", "metadata-location": create(http)["metadata-location"]}
    answer = http.post("/v1/wh/namespaces/ns/register", json=body, headers=ASKING).json()
    assert answer["storage-credentials"][0]["prefix"] == answer["metadata"]["location"]
    endpoint = answer["config"]["client.refresh-credentials-endpoint"]
    assert endpoint == "/v1/wh/namespaces/ns/tables/r/credentials"
    assert http.get(endpoint).status_code == 200


def test_a_commit_is_answered_without(serve: Serve) -> None:
    """CommitTableResponse has no member for them (document L3512)."""
    http = serve()
    create(http)
    update = {"action": "set-properties", "updates": {"k": "v"}}
    body = {"requirements": [], "updates": [update]}
    response = http.post(TABLE, json=body, headers=ASKING)
    assert response.status_code == 200
    assert set(response.json()) == {"metadata-location", "metadata"}


# ----------------------------------------------------------------------------- prefixes


def test_every_configured_prefix_has_a_credential_of_its_own(serve: Serve) -> None:
    prefixes = ("s3://bucket/", "s3://bucket/wh/ns", "s3://elsewhere/")
    answer = create(serve(prefixes=prefixes))
    credentials = answer["storage-credentials"]
    assert tuple(each["prefix"] for each in credentials) == prefixes
    assert len({each["config"]["s3.secret-access-key"] for each in credentials}) == 3
    # Clients that look at `config` alone find the most specific one there.
    longest = credentials[1]["config"]["s3.secret-access-key"]
    assert answer["config"]["s3.secret-access-key"] == longest


def test_a_table_that_no_configured_prefix_covers_gets_one_more(serve: Serve) -> None:
    answer = create(serve(prefixes=("s3://other/",)), location="s3://bucket/mine")
    prefixes = [each["prefix"] for each in answer["storage-credentials"]]
    assert prefixes == ["s3://other/", "s3://bucket/mine"]


@pytest.mark.parametrize(
    ("data_path", "prefix"),
    [
        ("s3://bucket/wh/mine/data", "s3://bucket/wh/mine"),
        ("s3://bucket/data", "s3://bucket"),
        ("s3://bucket/wh/mine2", "s3://bucket/wh"),
        ("s3://elsewhere/data", "s3://"),
        ("gs://elsewhere/data", "s3://bucket/wh/mine"),
    ],
)
def test_one_credential_also_covers_other_places_of_the_table(
    serve: Serve, data_path: str, prefix: str
) -> None:
    answer = create(
        serve(), location="s3://bucket/wh/mine", properties={"write.data.path": data_path}
    )
    assert [each["prefix"] for each in answer["storage-credentials"]] == [prefix]


def test_a_table_on_another_storage_comes_without_credentials(serve: Serve) -> None:
    answer = create(serve(), location="gs://bucket/mine")
    assert access(answer) == {}


def test_local_files_come_with_credentials_that_do_no_harm(serve: Serve) -> None:
    answer = create(serve(location="memory://root"))
    assert answer["storage-credentials"][0]["prefix"] == answer["metadata"]["location"]


def test_a_warehouse_may_vend_otherwise_than_its_server(clock: VirtualClock) -> None:
    own = WarehouseDeclaration(
        "own", location="gs://bucket", vending=VendingSettings(storage="gcs")
    )
    other = WarehouseDeclaration("other", location="s3://bucket")
    settings = VendingSettings(storage="s3")
    mock = MockCatalog(clock=clock, vending=settings, warehouses=[own, other])
    with client_of(mock) as http:
        for name, key in (("own", "gcs.oauth2.token"), ("other", "s3.session-token")):
            http.post(f"/v1/{name}/namespaces", json={"namespace": ["ns"]})
            body = {"name": "t", "schema": SCHEMA}
            tables = f"/v1/{name}/namespaces/ns/tables"
            answer = http.post(tables, json=body, headers=ASKING).json()
            assert key in answer["storage-credentials"][0]["config"]


# ------------------------------------------------------------------------------ refresh


def test_loading_credentials_gives_them_for_their_whole_time(
    serve: Serve, clock: VirtualClock
) -> None:
    http = serve()
    created = create(http)
    seen = set()
    for _ in range(3):
        response = http.get(f"{TABLE}/credentials")
        assert (response.status_code, response.headers["cache-control"]) == (200, "no-store")
        (credential,) = response.json()["storage-credentials"]
        assert credential["prefix"] == created["metadata"]["location"]
        config = credential["config"]
        assert int(config["s3.session-token-expires-at-ms"]) == clock.time_ms + HOUR_MS
        seen.add(config["s3.session-token"])
        clock.advance(1)
    assert len(seen) == 3


@pytest.mark.parametrize("path", ["none", "v", "t/x"])
def test_credentials_of_what_is_no_table_are_404(serve: Serve, path: str) -> None:
    http = serve()
    create(http)
    response = http.get(f"/v1/wh/namespaces/ns/tables/{path}/credentials")
    assert response.status_code == 404
    missing = http.get("/v1/wh/namespaces/nowhere/tables/t/credentials")
    error = missing.json()["error"]
    assert (missing.status_code, error["type"], error["code"]) == (404, "NoSuchTableException", 404)


def test_a_server_that_hides_the_refresh_does_not_point_at_it() -> None:
    settings = VendingSettings(storage="s3")
    mock = MockCatalog(vending=settings, hidden=("loadCredentials",), root="memory://root")
    with client_of(mock) as http:
        http.post("/v1/namespaces", json={"namespace": ["ns"]})
        tables, body = "/v1/namespaces/ns/tables", {"name": "t", "schema": SCHEMA}
        answer = http.post(tables, json=body, headers=ASKING).json()
        assert answer["storage-credentials"]
        assert not [key for key in answer["config"] if "refresh" in key]
        assert http.get(f"{tables}/t/credentials").status_code == 404


# -------------------------------------------------------------------------- entity tags


def test_an_answer_with_credentials_is_a_representation_of_its_own(serve: Serve) -> None:
    http = serve(signer_uri="http://signer")
    created = http.post(
        "/v1/wh/namespaces/ns/tables", json={"name": "t", "schema": SCHEMA}, headers=ASKING
    )
    signing = {"X-Iceberg-Access-Delegation": "remote-signing"}
    answers = [
        http.get(TABLE, params={"snapshots": snapshots}, headers=headers)
        for snapshots in ("all", "refs")
        for headers in ({}, ASKING, signing)
    ]
    tags = {answer.headers["etag"] for answer in answers}
    assert len(tags) == 6
    assert created.headers["etag"] == answers[1].headers["etag"]
    assert created.content == answers[1].content


def test_the_same_tag_means_the_same_bytes_for_half_of_their_life(
    serve: Serve, clock: VirtualClock
) -> None:
    http = serve()
    create(http)
    first = load(http)
    clock.advance(BEGIN_MS + HOUR_MS // 2 - 1 - clock.time_ms)
    again = load(http)
    assert (again.headers["etag"], again.content) == (first.headers["etag"], first.content)
    current = load(http, **{"If-None-Match": first.headers["etag"]})
    assert (current.status_code, current.content) == (304, b"")
    assert current.headers["etag"] == first.headers["etag"]
    clock.advance(1)
    renewed = load(http, **{"If-None-Match": first.headers["etag"]})
    assert renewed.status_code == 200
    ends = renewed.json()["config"]["s3.session-token-expires-at-ms"]
    assert int(ends) == BEGIN_MS + HOUR_MS // 2 + HOUR_MS
    assert renewed.json()["metadata"] == first.json()["metadata"]


def test_a_tag_without_credentials_is_no_reason_to_withhold_them(serve: Serve) -> None:
    http = serve()
    create(http)
    plain = http.get(TABLE)
    assert load(http, **{"If-None-Match": plain.headers["etag"]}).status_code == 200
    vended = load(http).headers["etag"]
    bare = http.get(TABLE, headers={"If-None-Match": vended})
    assert (bare.status_code, access(bare.json())) == (200, {})


# ------------------------------------------------------------------------------ secrecy


def test_no_secret_is_shown_or_remembered(clock: VirtualClock) -> None:
    settings = VendingSettings(storage="s3", config={"s3.secret-access-key": "minio-secret"})
    assert "minio-secret" not in repr(settings)
    declaration = WarehouseDeclaration("wh", vending=settings)
    assert "minio-secret" not in repr(declaration)
    mock = MockCatalog(clock=clock, root="memory://root", warehouses=[declaration])
    with client_of(mock) as http:
        http.post("/v1/wh/namespaces", json={"namespace": ["ns"]})
        create(http)
        assert load(http).json()["config"]["s3.secret-access-key"] == "minio-secret"
    for text in (repr(mock.journal.find()), repr(mock.state("wh")), repr(mock.snapshot())):
        assert "minio-secret" not in text


@pytest.mark.parametrize(
    "settings",
    [
        {"storage": "hdfs"},
        {"storage": "s3", "seconds": 1},
        {"storage": "s3", "prefixes": ("",)},
        {"storage": "gcs", "signer_uri": "http://signer"},
    ],
)
def test_settings_that_no_client_could_use_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        VendingSettings(**settings)
