"""What the relay lets a client send, and what the client gets to know."""

from collections.abc import Iterator

import pytest
from requests import Session
from requests.exceptions import ConnectionError as ConnectionLost

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace
from icecheck.ownership.request_guard import ForeignRequest
from icecheck.proof.defective import defective_session
from icecheck.replies.expect import NotOffered
from icecheck.targets.target import Namespace
from icecheck.witnesses.relay import Relay

URL = "http://mock.invalid/v1/kill/namespaces"


@pytest.fixture
def catalog() -> Iterator[Catalog]:
    with defective_session() as (_, session):
        made = Catalog(session, "pyiceberg.create-append")
        yield made
        made.undo()


def mounted(relay: Relay) -> Session:
    session = Session()
    session.mount("http://", relay)
    return session


def spelled(namespace: Namespace) -> str:
    return "%1F".join(namespace)


def test_a_request_is_sent_with_the_clients_headers_and_the_runs_credentials(
    catalog: Catalog,
) -> None:
    session = mounted(Relay(catalog))
    headers = {"User-Agent": "Theirs/1", "Authorization": "Bearer None", "X-Of-Theirs": "1"}
    assert session.get(URL, headers=headers).status_code == 200
    sent = dict(catalog.exchanges[-1].request_headers)
    assert (sent["User-Agent"], sent["X-Of-Theirs"]) == ("Theirs/1", "1")
    assert sent["Authorization"].startswith("Bearer ey")


def test_what_is_not_the_runs_own_is_not_changed(catalog: Catalog) -> None:
    session = mounted(Relay(catalog))
    with pytest.raises(ForeignRequest):
        session.delete(f"{URL}/theirs")
    with pytest.raises(ForeignRequest):
        session.post(URL, json={"namespace": ["theirs"]})
    assert catalog.exchanges == []


@pytest.mark.parametrize("url", ["http://elsewhere.invalid/v1/kill/namespaces", f"{URL}/a/b/c"])
def test_what_is_no_request_of_the_document_to_this_catalog_is_not_sent(
    catalog: Catalog, url: str
) -> None:
    with pytest.raises(NotOffered):
        mounted(Relay(catalog)).get(url)
    assert catalog.exchanges == []


def test_what_a_client_makes_is_in_the_ledger_and_removed(catalog: Catalog) -> None:
    namespace = catalog.new_namespace_name()
    made = mounted(Relay(catalog)).post(URL, json={"namespace": [*namespace], "properties": {}})
    assert made.status_code == 200
    assert [entry.namespace for entry in catalog.ledger] == [namespace]
    catalog.undo()
    assert catalog.load_namespace_metadata(namespace).status == 404


def test_a_lost_answer_is_one_that_the_catalog_has_given(catalog: Catalog) -> None:
    relay = Relay(catalog)
    namespace = given_namespace(catalog)
    with relay.losing("dropNamespace"), pytest.raises(ConnectionLost):
        mounted(relay).delete(f"{URL}/{spelled(namespace)}")
    assert (relay.carried[-1].lost, relay.carried[-1].reply.status) == (True, 204)
    assert catalog.load_namespace_metadata(namespace).status == 404


def test_a_redirect_is_not_followed(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    connection = catalog.session.connection
    send = connection.send

    def moved(wire, record):  # type: ignore[no-untyped-def]
        return replace(send(wire, record), status=307, response_headers=(("location", URL),))

    monkeypatch.setattr(connection, "send", moved)
    assert mounted(Relay(catalog)).get(URL).status_code == 307
    assert len(catalog.exchanges) == 1
