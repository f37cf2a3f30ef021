"""Removing what a check has made, from catalogs that refuse in their own words."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.client.cleaning import remove_again
from icecheck.client.given import given_namespace, given_table, shared_tables
from icecheck.client.opening import open_session
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_error, refuse_as, wrap
from icecheck.mock_server.protocol.problem import Problem
from icecheck.run.check_runner import open_runner
from icecheck.run.options import RunOptions
from icecheck.targets.target import Target
from tests.kill.killing import ADDRESS, TOKEN, WAREHOUSE
from tests.lawful.lawful import lawful_session


@pytest.mark.parametrize("status", [400, 409, 422])
def test_a_namespace_that_holds_something_unasked_is_emptied_first(status: int) -> None:
    def install(registries: Registries) -> None:
        def other(_refused: Problem, reply: Reply) -> Reply:
            body = reply.body.replace(b'"code":409', b'"code":%d' % status)
            return Reply(status, reply.headers, body)

        alter_error(registries, "dropNamespace", other)

    with lawful_session(install) as session:
        catalog = Catalog(session, "some.check")
        namespace = given_namespace(catalog)
        # No name of the run's, so no ledger knows it: a server that reads false as a name.
        catalog.create_table(namespace, bodies.create_table_body("false")).expect(200)
        catalog.undo()
    assert session.residue == []


@pytest.mark.parametrize("status", [403, 409, 410])
def test_what_was_entered_and_never_made_is_no_residue(status: int) -> None:
    """A catalog that refuses to drop anything still tells that there is nothing."""

    def install(registries: Registries) -> None:
        for operation_id in ("dropNamespace", "dropTable"):
            refuse_as(registries, operation_id, 404, status)

    with lawful_session(install) as session:
        catalog = Catalog(session, "some.check")
        namespace = catalog.new_namespace_name()
        catalog.ledger_namespace(namespace)
        catalog.ledger_table(namespace, catalog.new_name())
        catalog.undo()
    assert session.residue == []
    assert session.created == session.deleted


def test_what_is_said_to_be_gone_in_other_words_is_no_residue() -> None:
    def install(registries: Registries) -> None:
        for operation_id in ("dropNamespace", "loadNamespaceMetadata"):
            refuse_as(registries, operation_id, 404, 410)

    with lawful_session(install) as session:
        catalog = Catalog(session, "some.check")
        catalog.ledger_namespace(catalog.new_namespace_name())
        catalog.undo()
    assert session.residue == []


@pytest.mark.parametrize("status", [400, 409, 500])
def test_what_no_listing_names_is_no_residue(status: int) -> None:
    """A catalog without a word of its own for what is missing still lists what is there."""

    def install(registries: Registries) -> None:
        for kind in ("Namespace", "Table"):
            refuse_as(registries, f"drop{kind}", 404, status)
        for operation_id in ("loadNamespaceMetadata", "loadTable"):
            refuse_as(registries, operation_id, 404, status)

    with lawful_session(install) as session:
        catalog = Catalog(session, "some.check")
        namespace = given_namespace(catalog)
        catalog.ledger_namespace((*namespace, catalog.new_name()))
        catalog.ledger_table(namespace, catalog.new_name())
        catalog.ledger_namespace(catalog.new_namespace_name())
        catalog.undo()
    assert session.residue == []


def test_what_may_not_be_dropped_and_is_there_is_residue() -> None:
    def install(registries: Registries) -> None:
        def refused(*_: object) -> Outcome:
            raise Problem(403, "ForbiddenException", "No")

        registries.operations["dropTable"] = refused

    with lawful_session(install) as session:
        catalog = Catalog(session, "some.check")
        table = given_table(catalog)
        catalog.undo()
    assert any(table.name in left for left in session.residue)


def refusing_everything(registries: Registries, status: int) -> None:
    def refused(*_: object) -> Outcome:
        raise Problem(status, "UnsupportedOperationException", "No")

    for operation_id in registries.operations:
        if operation_id != "getConfig":
            registries.operations[operation_id] = refused


@pytest.mark.parametrize("status", [403, 405, 501])
def test_what_was_refused_is_no_residue_of_a_catalog_that_says_nothing(status: int) -> None:
    with lawful_session(lambda registries: refusing_everything(registries, status)) as session:
        catalog = Catalog(session, "some.check")
        namespace = catalog.new_namespace_name()
        catalog.ledger_namespace(namespace)
        catalog.create_namespace(catalog.new_namespace_name()).expect(status)
        catalog.undo()
    assert session.residue == []
    assert session.created == session.deleted


@pytest.mark.parametrize("tried", [False, True], ids=["by-an-engine", "and-by-us"])
def test_what_an_engine_may_have_made_is_residue_where_nothing_can_be_seen(tried: bool) -> None:
    """Only what the run asked for itself, and was refused, is known not to be there."""
    with lawful_session(lambda registries: refusing_everything(registries, 405)) as session:
        catalog = Catalog(session, "some.check")
        catalog.ledger_table(catalog.new_namespace_name(), catalog.new_name())
        if tried:
            catalog.create_namespace(catalog.new_namespace_name())
        catalog.undo()
    assert len(session.residue) == 1


def test_what_was_made_and_cannot_be_seen_any_more_is_residue() -> None:
    installed: list[Registries] = []
    with lawful_session(installed.append) as session:
        catalog = Catalog(session, "some.check")
        given_namespace(catalog)
        refusing_everything(installed[0], 405)
        catalog.undo()
    assert len(session.residue) >= 1


def test_what_was_refused_and_is_there_all_the_same_is_residue() -> None:
    installed: list[Registries] = []
    with lawful_session(installed.append) as session:
        operations = installed[0].operations
        create, load = operations["createNamespace"], operations["loadNamespaceMetadata"]

        def made_and_refused(*arguments: Any) -> Outcome:
            outcome = create(*arguments)
            return Outcome(outcome.state, Reply(403, outcome.reply.headers, b"{}"))

        refusing_everything(installed[0], 405)
        operations |= {"createNamespace": made_and_refused, "loadNamespaceMetadata": load}
        catalog = Catalog(session, "some.check")
        namespace = catalog.new_namespace_name()
        catalog.ledger_namespace(namespace)
        catalog.call("createNamespace", body={"namespace": [*namespace]}).expect(403)
        catalog.ledger_namespace(namespace)
        catalog.undo()
    assert any(left.startswith(f"namespace {'.'.join(namespace)} ") for left in session.residue)


@pytest.mark.parametrize("operation_id", ["dropNamespace", "dropTable"])
def test_what_still_loads_is_residue_although_its_drop_is_answered_404(operation_id: str) -> None:
    def install(registries: Registries) -> None:
        def not_found(_faithful: Faithful, _state: WarehouseState, _call: Call) -> Outcome:
            raise Problem(404, "NoSuchThingException", "There is nothing of this name")

        wrap(registries, operation_id, not_found)

    with lawful_session(install) as session:
        catalog = Catalog(session, "some.check")
        namespace = given_namespace(catalog)
        table = given_table(catalog, namespace)
        catalog.undo()
        kept = table.name if operation_id == "dropTable" else namespace[-1]
        assert any(kept in each for each in session.residue)


def test_what_goes_with_what_checks_shared_is_no_residue() -> None:
    """A registered table cannot be dropped while the table whose file it names is there."""
    refusals = iter([True, True])
    mock = MockCatalog(seed=1)

    def drop(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if call.name.endswith("_held") and next(refusals, False):
            raise Problem(500, "InternalServerError", "No")
        return faithful(state, call)

    wrap(mock.registries, "dropTable", drop)
    options = RunOptions(Target("http://mock.invalid"), run_id="held")
    runner = open_runner(options, transport=mock.httpx_transport())
    catalog = Catalog(runner.session, "some.check")
    shared = shared_tables(catalog)
    given_table(catalog, shared.path, hint="_held")
    catalog.undo()
    runner.end()
    assert next(refusals, None) is None
    assert runner.session.residue == []
    mock.stop()


def test_what_an_interrupt_keeps_from_being_removed_is_removed_at_the_end(tmp_path: Path) -> None:
    """Otherwise the ledger on disk, which names it, would go with the session."""
    interrupts = iter([True])
    mock = MockCatalog(seed=1)

    def drop(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if call.name.endswith("_held") and next(interrupts, False):
            raise KeyboardInterrupt
        return faithful(state, call)

    wrap(mock.registries, "dropTable", drop)
    ledger = tmp_path / "ledger.jsonl"
    options = RunOptions(Target("http://mock.invalid"), run_id="held", ledger=ledger)
    runner = open_runner(options, transport=mock.httpx_transport())
    catalog = Catalog(runner.session, "some.check")
    given_table(catalog, given_namespace(catalog), hint="_held")
    with pytest.raises(KeyboardInterrupt):
        catalog.undo()
    assert len(runner.session.residue) == 2
    runner.end()
    assert runner.session.residue == []
    assert not ledger.exists()
    mock.stop()


class LostDrops(httpx.BaseTransport):
    """Loses the answers to the next drops of namespaces, as many as it is told."""

    def __init__(self, way: httpx.BaseTransport) -> None:
        self._way, self.left = way, 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.method == "DELETE" and self.left:
            self.left -= 1
            raise httpx.ConnectTimeout("timed out", request=request)
        return self._way.handle_request(request)


@pytest.mark.parametrize("lost", [2, 4, 6])
def test_what_met_trouble_each_time_is_removed_once_more(lost: int) -> None:
    with MockCatalog(seed=1, token=TOKEN) as mock:
        way = LostDrops(mock.httpx_transport())
        target = Target(ADDRESS, warehouse=WAREHOUSE, token=TOKEN)
        session = open_session(target, run_id="kill", transport=way)
        session.connection._sleep = lambda _: None
        catalog = Catalog(session, "some.check")
        given_namespace(catalog)
        way.left = lost
        catalog.undo()
        assert len(session.residue) == 1
        remove_again(session)
        session.close()
        assert session.residue == []
        assert session.created == session.deleted


@pytest.mark.parametrize("lost", [2, 4])
def test_the_namespace_of_a_run_is_dropped_after_trouble(lost: int) -> None:
    with MockCatalog(seed=1, token=TOKEN) as mock:
        way = LostDrops(mock.httpx_transport())
        target = Target(ADDRESS, warehouse=WAREHOUSE, token=TOKEN)
        session = open_session(target, run_id="kill", transport=way)
        session.connection._sleep = lambda _: None
        way.left = lost
        session.close()
        assert session.residue == []
        assert way.left == 0
