"""Where a config tells clients to have requests signed, a run asks only below its own target."""

from collections.abc import Iterator

import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.session import Session
from icecheck.contract import load
from icecheck.judging.judge import judge
from icecheck.mock_server.core.context import Registries
from icecheck.mock_server.defects.kit.rewriting import alter_body
from icecheck.ownership.request_guard import ForeignRequest
from icecheck.proof.defective import ADDRESS, defective_session
from tests.kill.killing import checks_of

SPEC = "1.11.0"
BODY = {"region": "us-east-1", "uri": "https://s3.example.org/x", "method": "GET", "headers": {}}
OTHERS = "/v1/kill/namespaces/prod/tables/orders"


@pytest.fixture
def session() -> Iterator[Session]:
    with defective_session(spec=SPEC) as (_, session):
        yield session


@pytest.mark.parametrize(
    "path",
    [
        "/v1/aws/s3/sign",
        "/sign?for=a%20table",
        f"{OTHERS}/sign",
        "/v1/kill/namespaces/a%1Fb/tables/t/sign/v2",
    ],
)
def test_a_signer_may_be_anywhere_below_the_catalog(session: Session, path: str) -> None:
    assert Catalog(session, "some.check").call("signRequest", path=path, body=BODY).status >= 400


@pytest.mark.parametrize(
    "path",
    [
        OTHERS,
        f"{OTHERS}?sign",
        "/v1/kill/tables/rename",
        "/v1/kill/namespaces/prod/properties",
        "/v1/sign/../kill/tables/rename",
        "/v1/sign/%2e%2e/kill/tables/rename",
        "/v1/sign/%252e%252e/kill/tables/rename",
    ],
)
def test_no_other_operation_is_asked_to_sign(session: Session, path: str) -> None:
    with pytest.raises(ForeignRequest):
        Catalog(session, "some.check").call("signRequest", path=path, body=BODY)


@pytest.mark.parametrize("method", ["DELETE", "PUT"])
def test_no_other_method_is_sent_there(session: Session, method: str) -> None:
    with pytest.raises(ForeignRequest):
        Catalog(session, "some.check").call("signRequest", path=OTHERS, body=BODY, method=method)


@pytest.mark.parametrize(
    "told",
    [
        "https://elsewhere.example.org/sign",
        f"{ADDRESS}.example.org/v1/sign",
        f"{ADDRESS}:81/v1/sign",
        f"{ADDRESS}/../sign",
        "../admin",
        "//elsewhere.example.org/sign",
        "v1/kill/tables/rename",
        "?x",
        "\r\nHost: elsewhere",
        "v1/ü/sign",
    ],
)
def test_no_endpoint_of_a_config_leads_elsewhere_or_ends_a_check_in_an_error(told: str) -> None:
    def install(registries: Registries) -> None:
        config = {"signer.endpoint": told, "s3.signer.endpoint": told}
        alter_body(
            registries,
            "loadTable",
            lambda body: body | {"config": (body.get("config") or {}) | config},
        )

    checks = checks_of("test_remote_signing", contract=load(SPEC))
    with defective_session([install], spec=SPEC) as (_, session):
        verdicts = [judge(check, Catalog(session, check.id)) for check in checks]
        addresses = {each.url.partition("/v1/")[0] for each in session.exchanges}
    assert [v.check for v in verdicts if v.outcome == "error"] == []
    assert {each for each in addresses if not each.startswith(f"{ADDRESS}/")} == {ADDRESS}
