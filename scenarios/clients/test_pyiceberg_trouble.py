"""Checks of PyIceberg in trouble: a commit whose answer is lost, and a token that has expired."""

from typing import TYPE_CHECKING

from icecheck.client.catalog import Catalog
from icecheck.findings.verdict import SkipKind
from icecheck.replies.expect import NotOffered
from icecheck.scenarios.clients.observing import (
    appended,
    created,
    expect,
    expect_rows,
    loaded,
    main_of,
    pyiceberg_check,
    rows,
    seen,
    snapshots_in,
)
from icecheck.wire.credentials import MADE_UP_TOKEN
from icecheck.witnesses.pyiceberg_client import PyIceberg, pyiceberg

if TYPE_CHECKING:
    from pyiceberg.table import Table

_NOT_GIVEN = SkipKind.MISSING_FIXTURE


@pyiceberg_check("lost-answer")
def test_lost_answer_to_a_commit(catalog: Catalog) -> None:
    """An append of PyIceberg whose answer is lost is there once, and is refused a second time."""
    with pyiceberg(catalog) as client:
        table = created(client)
        appended(client, table, 1)
        before = len(client.relay.carried)
        _append_in_vain(client, table)
        sent = client.relay.carried[before:]
        if not sent or sent[-1].operation_id != "updateTable":
            raise client.gap("sends no commit for an append")
        sent[-1].reply.expect(200, detail=f"{client.name}: append rows")
        with client.step("refresh a table"):
            table.refresh()
        main = main_of(seen(client, table, sent, "add-snapshot"))
        expect("main is what was sent", snapshots_in(sent[-1])[-1]["snapshot-id"], main, client)
        expect_rows(client, table, 1, 2)
        # A client that does not know what became of its commit sends it once more.
        namespace, name = table.name()[:-1], table.name()[-1]
        names = {"namespace": namespace, "table": name}
        catalog.call("updateTable", names, body=dict(sent[-1].body)).expect_refused()
        expect("main stays", main, main_of(loaded(client, table).metadata), client)


@pyiceberg_check("token-refresh")
def test_token_refresh(catalog: Catalog) -> None:
    """PyIceberg, told that its token is not valid any more, gets another one and goes on."""
    target = catalog.target
    if not target.credential:
        raise NotOffered("give --credential: a token alone cannot be renewed", _NOT_GIVEN)
    if not target.token_endpoint.startswith(f"{catalog.session.config_url}/"):
        raise NotOffered("tokens come from another server than the catalog", _NOT_GIVEN)
    with pyiceberg(catalog, credential=target.credential) as client:
        table = created(client)
        appended(client, table, 1)
        client.relay.spoil_next("loadTable", MADE_UP_TOKEN)
        before = len(client.relay.carried)
        with client.step("load a table with a token that has expired"):
            table = _loaded_anew(client, table, before)
        appended(client, table, 2)
        expect_rows(client, table, 1, 2)


def _loaded_anew(client: PyIceberg, table: "Table", before: int) -> "Table":
    """Load a table by a request whose token is not valid any more.

    PyIceberg asks for another token after 401 and 419 only.
    """
    try:
        return client.rest.load_table(table.name())
    finally:
        first = client.relay.carried[before].reply
        if first.ok:
            raise NotOffered("the catalog accepts a made-up token: there is none to renew")
        first.expect(401, 419, detail=f"{client.name}: a token that has expired")


def _append_in_vain(client: PyIceberg, table: "Table") -> None:
    """Append rows, and lose the answer to the commit."""
    from requests.exceptions import ConnectionError as ConnectionLost

    with client.step("append rows"), client.relay.losing("updateTable"):
        try:
            table.append(rows(2))
        except ConnectionLost:
            return
    raise client.gap("does not notice that an answer is lost")
