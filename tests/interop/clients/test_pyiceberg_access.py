"""How PyIceberg is let in, as far as tests/mock/security does not say it already."""

import pytest
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.schema import Schema
from pyiceberg.table import Table

from icecheck.mock_server import Client, MockCatalog, OAuth2Settings, VendingSettings

OAUTH2 = OAuth2Settings(clients=(Client("me", "s3cret"),))


def test_a_token_is_fetched_where_the_client_is_told() -> None:
    mock = MockCatalog(root="memory://root", oauth2=OAUTH2)
    catalog = mock.pyiceberg("wh", in_process=True)
    assert catalog.auth_url == catalog.properties["oauth2-server-uri"]
    assert catalog.auth_url == catalog.url("oauth/tokens", prefixed=False)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_client_that_is_not_told_finds_the_token_endpoint() -> None:
    with MockCatalog(root="memory://root", oauth2=OAUTH2) as mock:
        catalog = RestCatalog("bare", uri=mock.uri, warehouse="wh", credential="me:s3cret")
        assert catalog.auth_url == f"{mock.uri}/v1/oauth/tokens"
        assert catalog.list_namespaces() == []
        catalog.close()


def test_the_newer_way_to_get_a_token_works_too() -> None:
    with MockCatalog(root="memory://root", oauth2=OAUTH2) as mock:
        how = {
            "type": "oauth2",
            "oauth2": {
                "client_id": "me",
                "client_secret": "s3cret",
                "token_url": f"{mock.uri}/v1/oauth/tokens",
                "scope": "catalog",
            },
        }
        settings = {"uri": mock.uri, "warehouse": "wh", "auth": how}
        catalog = RestCatalog("new", **settings)
        assert catalog.list_namespaces() == []
        assert mock.journal.count("getToken", status=200) >= 1
        catalog.close()


def test_where_nothing_is_vended_there_are_no_credentials(
    catalog: RestCatalog, table: Table
) -> None:
    assert catalog.load_credentials("ns.t", table.location()) == {}
    with pytest.raises(NoSuchTableError):
        catalog.load_credentials("ns.no", table.location())


@pytest.mark.parametrize(
    ("storage", "key"),
    [("s3", "s3.access-key-id"), ("gcs", "gcs.oauth2.token"), ("adls", "adls.sas-token.icecheck")],
)
def test_credentials_of_every_shape_are_understood(storage: str, key: str, schema: Schema) -> None:
    settings = VendingSettings(storage=storage)  # type: ignore[arg-type]
    mock = MockCatalog(root="memory://root", vending=settings)
    files = {"py-io-impl": "pyiceberg.io.pyarrow.PyArrowFileIO"}
    catalog = mock.pyiceberg("wh", in_process=True, **files)
    catalog.create_namespace("ns")
    catalog.create_table("ns.t", schema)
    table = catalog.load_table("ns.t")
    found = catalog.load_credentials("ns.t", table.location())
    assert any(name.startswith(key) for name in found)
    assert found.keys() <= table.io.properties.keys()
    assert catalog.load_credentials("ns.t", "s3://elsewhere/t") == {}
