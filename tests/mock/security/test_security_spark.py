"""Spark with a credential, and Java's own code for tokens and credentials against the server."""

from typing import Any

import pytest

from icecheck.mock_server import (
    MockCatalog,
    OAuth2Settings,
    VendingSettings,
    WarehouseDeclaration,
)
from icecheck.mock_server.core.clock import SystemClock, VirtualClock
from icecheck.spark import SparkWorkbench
from tests.mock.security.serving import CLIENTS, SCHEMA, claims, client_of

pytestmark = pytest.mark.spark

HOUR_MS = 3_600_000


@pytest.fixture
def iceberg(workbench: SparkWorkbench) -> Any:
    return workbench._spark.sparkContext._jvm.org.apache.iceberg


@pytest.fixture
def clock() -> VirtualClock:
    """A clock that begins two hours ago: Java looks at the time itself."""
    return VirtualClock(SystemClock().now_ms() - 2 * HOUR_MS)


def test_spark_works_with_a_credential(workbench: SparkWorkbench) -> None:
    with MockCatalog(oauth2=OAuth2Settings(clients=CLIENTS)) as mock:
        prefix = "spark.sql.catalog.secured"
        conf = {
            key.removeprefix(f"{prefix}."): value
            for key, value in mock.spark_conf("secured", "wh").items()
            if key.startswith(f"{prefix}.")
        }
        assert conf["credential"] == "root:root-secret"
        session = workbench.catalog_session("secured", conf)
        session.sql("CREATE NAMESPACE secured.db")
        session.sql("CREATE TABLE secured.db.t (id INT) USING iceberg")
        session.sql("INSERT INTO secured.db.t VALUES (1), (2)")
        assert session.sql("SELECT count(*) FROM secured.db.t").collect()[0][0] == 2
        assert mock.journal.count("getToken", status=200) == 1
        assert mock.journal.count(status=401) == 0
        mock.revoke_tokens()
        with pytest.raises(Exception, match="NotAuthorizedException"):
            session.sql("SHOW NAMESPACES IN secured").collect()


def session_of(iceberg: Any, client: Any, mock: MockCatalog, token: str) -> Any:
    """Java's session for a token and the credential that it came from."""
    config = (
        iceberg.rest.auth.AuthConfig.builder()
        .token(token)
        .tokenType("urn:ietf:params:oauth:token-type:access_token")
        .credential("root:root-secret")
        .scope("catalog")
        .oauth2ServerUri(f"{mock.uri}/v1/oauth/tokens")
        .build()
    )
    headers = iceberg.rest.auth.OAuth2Util.authHeaders(token)
    return iceberg.rest.auth.OAuth2Util.AuthSession(headers, config)


@pytest.mark.parametrize("expired", [False, True])
def test_java_renews_its_token(iceberg: Any, clock: VirtualClock, expired: bool) -> None:
    """Before its end with the token itself, after it with the credential beside it."""
    with MockCatalog(clock=clock, oauth2=OAuth2Settings(clients=CLIENTS)) as mock:
        if not expired:
            clock.advance(HOUR_MS + HOUR_MS // 2)
        token = mock.access_token("root")
        clock.advance(HOUR_MS + HOUR_MS // 2 if expired else HOUR_MS // 2)
        client = (
            iceberg.rest.HTTPClient.builder({})
            .uri(mock.uri)
            .withAuthSession(iceberg.rest.auth.AuthSession.EMPTY)
            .build()
        )
        session = session_of(iceberg, client, mock, token)
        assert session.refresh(client) is not None
        renewed = session.token()
        assert renewed != token
        assert claims(renewed)["exp"] > claims(token)["exp"]
        assert [entry.status for entry in mock.journal.find("getToken")] == [200]


def test_java_reads_the_credentials(iceberg: Any) -> None:
    warehouses = [WarehouseDeclaration("wh", location="s3://bucket/wh")]
    mock = MockCatalog(vending=VendingSettings(storage="s3"), warehouses=warehouses)
    headers = {"X-Iceberg-Access-Delegation": "vended-credentials"}
    with client_of(mock, **headers) as http:
        http.post("/v1/wh/namespaces", json={"namespace": ["ns"]})
        body = {"name": "t", "schema": SCHEMA}
        created = http.post("/v1/wh/namespaces/ns/tables", json=body).text
        refreshed = http.get("/v1/wh/namespaces/ns/tables/t/credentials").text
    responses = iceberg.rest.responses
    table = responses.LoadTableResponseParser.fromJson(created)
    (vended,) = table.credentials()
    (renewed,) = responses.LoadCredentialsResponseParser.fromJson(refreshed).credentials()
    for credential in (vended, renewed):
        assert credential.prefix().startswith("s3://bucket/wh/ns/t-")
        assert dict(credential.config())["s3.session-token-expires-at-ms"].isdigit()
    assert dict(table.config())["client.refresh-credentials-endpoint"].endswith("/t/credentials")
