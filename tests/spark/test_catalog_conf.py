"""A target as properties of Iceberg's REST client."""

from icecheck.spark import catalog_conf
from icecheck.targets.target import SigV4, Target

TIMEOUTS = {
    "rest.client.connection-timeout-ms": "30000",
    "rest.client.socket-timeout-ms": "30000",
}


def test_a_bare_url_sends_no_credentials() -> None:
    conf = catalog_conf(Target("http://127.0.0.1:8181/"))
    assert conf == {
        "type": "rest",
        "uri": "http://127.0.0.1:8181",
        "cache-enabled": "false",
        **TIMEOUTS,
    }


def test_a_token_a_prefix_and_headers_are_passed_on_as_given() -> None:
    target = Target(
        "https://example.org/api",
        warehouse="a b",
        prefix="my/prefix",
        token="abc",
        headers={"X-Iceberg-Access-Delegation": "vended-credentials"},
        timeout_seconds=2.5,
    )
    conf = catalog_conf(target)
    assert conf["warehouse"] == "a b"
    assert conf["prefix"] == "my/prefix"
    assert conf["token"] == "abc"
    assert conf["header.X-Iceberg-Access-Delegation"] == "vended-credentials"
    assert conf["rest.client.socket-timeout-ms"] == "2500"
    assert "credential" not in conf
    assert "scope" not in conf


def test_a_credential_comes_with_its_scope_and_token_endpoint() -> None:
    conf = catalog_conf(Target("http://c", credential="id:secret", scope="all"))
    assert conf["credential"] == "id:secret"
    assert conf["scope"] == "all"
    assert conf["oauth2-server-uri"] == "http://c/v1/oauth/tokens"
    assert "token" not in conf


def test_signing_is_asked_for_as_java_calls_it() -> None:
    conf = catalog_conf(Target("http://c", sigv4=SigV4("eu-west-1", "glue")))
    assert conf["rest.sigv4-enabled"] == "true"
    assert conf["rest.signing-region"] == "eu-west-1"
    assert conf["rest.signing-name"] == "glue"
    assert "rest.access-key-id" not in conf
