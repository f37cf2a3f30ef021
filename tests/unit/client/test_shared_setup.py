"""What checks share: one namespace for their tables, and objects that stay as they were made."""

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_table, lent_namespace, shared_namespace, shared_table
from icecheck.client.opening import open_session
from icecheck.client.shared_setup import remove_shared
from icecheck.findings.verdict import Group, Outcome
from icecheck.judging.check import check as declare
from icecheck.judging.check import check_of
from icecheck.judging.judge import judge
from icecheck.mock_server import MockCatalog
from icecheck.objects.views import shared_view
from icecheck.replies.expect import Blocked, NotOffered
from icecheck.targets.target import Target
from tests.kit.contracts import CONTRACT

CONFIG = {"defaults": {}, "overrides": {}}
PARENT = ("theirs",)


@pytest.fixture
def mock():
    with MockCatalog(seed=1, warehouses=["wh"]) as running:
        yield running


def opened(mock, **target):
    return open_session(
        Target(mock.uri, warehouse="wh", **target),
        run_id="r1",
        transport=mock.httpx_transport(),
    )


def left_on(mock):
    return [namespace for namespace, _ in mock.state("wh").namespaces.after()]


def creations(session):
    asked = [e for e in session.exchanges if e.operation == "createNamespace"]
    return [e.request_body.decode() for e in asked if b"_home" in e.request_body]


@pytest.mark.parametrize("isolation", ["nested", "flat", "parent"])
def test_tables_of_different_checks_are_in_one_namespace(mock, isolation):
    if isolation == "parent":
        with httpx.Client(transport=mock.httpx_transport(), base_url="http://m/v1/wh") as theirs:
            theirs.post("/namespaces", json={"namespace": [*PARENT]}).raise_for_status()
        session = opened(mock, namespace=PARENT)
    else:
        session = opened(mock, isolation=isolation)
    tables = []
    for name in ("a", "b"):
        catalog = Catalog(session, name)
        tables.append(given_table(catalog))
        catalog.undo()
    assert tables[0].namespace == tables[1].namespace
    assert tables[0].namespace[:-1] == session.isolation.base
    assert tables[0].name != tables[1].name
    assert len(creations(session)) == 1
    session.close()
    assert left_on(mock) == ([PARENT] if isolation == "parent" else [])
    assert session.residue == []
    assert session.created == session.deleted


def test_every_worker_has_a_home_of_its_own(mock):
    homes = set()
    for worker in ("gw0", "gw1"):
        session = open_session(
            Target(mock.uri, warehouse="wh", isolation="flat"),
            run_id="r1",
            worker=worker,
            transport=mock.httpx_transport(),
        )
        homes.add(shared_namespace(Catalog(session, "c")))
        session.close()
    assert len(homes) == 2


def test_nothing_stays_that_one_thread_makes_while_another_removes_what_is_shared(mock):
    session = opened(mock, isolation="flat")

    def lend(number):
        lent_namespace(Catalog(session, f"c{number}"), f"kind-{number}")

    with ThreadPoolExecutor(4) as threads:
        lending = [threads.submit(lend, number) for number in range(300)]
        while not all(each.done() for each in lending):
            remove_shared(session)
    session.close()
    assert [each.result() for each in lending] == [None] * 300
    assert left_on(mock) == session.residue == []


def scripted(statuses):
    """A flat catalog that answers createNamespace with these statuses, one after the other."""
    coming = iter(statuses)

    def handler(request):
        if request.url.path == "/v1/config":
            return httpx.Response(200, json=CONFIG)
        if request.method == "POST" and request.url.path == "/v1/namespaces":
            return httpx.Response(next(coming), json={})
        return httpx.Response(200, json={}) if request.method == "GET" else httpx.Response(204)

    return open_session(
        Target("http://h", isolation="flat"), run_id="r1", transport=httpx.MockTransport(handler)
    )


def test_a_home_that_cannot_be_made_blocks_each_check_by_one_requirement_and_is_tried_again():
    session = scripted([400, 400, 200])
    for name in ("a", "b"):
        catalog = Catalog(session, name)
        with pytest.raises(Blocked) as caught:
            given_table(catalog)
        assert caught.value.by == "createNamespace.200"
        assert caught.value.exchange == 0
        assert [e.status for e in catalog.borrowed.setup] == [400]
    assert shared_namespace(Catalog(session, "c")) == ("icecheck_r1_home",)
    session.close()
    assert session.summary().residue == []


def test_a_home_whose_answer_was_lost_is_used_and_removed():
    session = scripted([500, 409])
    with pytest.raises(Blocked):
        shared_namespace(Catalog(session, "a"))
    assert shared_namespace(Catalog(session, "b")) == ("icecheck_r1_home",)
    session.close()
    summary = session.summary()
    assert (summary.created, summary.deleted, summary.residue) == (1, 1, [])


def test_a_run_that_may_only_read_makes_no_home():
    session = open_session(
        Target("http://h", read_only=True),
        run_id="r1",
        transport=httpx.MockTransport(lambda _: httpx.Response(200, json=CONFIG)),
    )
    with pytest.raises(NotOffered):
        shared_namespace(Catalog(session, "a"))
    session.close()
    assert session.summary().requests == 1


def lent(session, name, use=None):
    """Let a check borrow the table, use it and give it back; returns which one it was."""
    catalog = Catalog(session, name)
    table = shared_table(catalog)
    if use is not None:
        use(catalog, table)
    catalog.undo()
    return table.name


def set_mark(catalog, table):
    update = {"action": "set-properties", "updates": {"mark": "1"}}
    catalog.update_table(table.namespace, table.name, [update]).expect(200)


def refused(catalog, table):
    catalog.update_table(table.namespace, table.name, [{"action": "icecheck-unknown"}]).expect(400)


def drop(catalog, table):
    catalog.drop_table(table.namespace, table.name).expect(204)


def rename(catalog, table):
    moved = (table.namespace, catalog.new_name())
    catalog.rename_table((table.namespace, table.name), moved).expect(204)


def test_checks_that_only_read_or_are_refused_have_one_table_after_another(mock):
    session = opened(mock)
    names = {lent(session, "a"), lent(session, "b", refused), lent(session, "c")}
    assert len(names) == 1
    session.close()
    assert left_on(mock) == []


@pytest.mark.parametrize("use", [set_mark, drop, rename])
def test_a_table_that_was_changed_is_lent_to_nobody_else(mock, use):
    session = opened(mock)
    first, second = lent(session, "a", use), lent(session, "b")
    assert first != second
    session.close()
    assert left_on(mock) == []
    assert session.residue == []


def test_a_check_that_fails_is_the_last_one_to_have_the_table(mock):
    def failing(catalog):
        """A refusal that is wrongly thought due."""
        table = shared_table(catalog)
        catalog.load_table(table.namespace, table.name).expect(404)

    declare("x.fails", proves="loadTable.404", group=Group.CHECKS)(failing)
    session = opened(mock)
    before = lent(session, "a")
    assert judge(check_of(failing, CONTRACT), Catalog(session, "x.fails")).outcome is Outcome.FAIL
    assert lent(session, "b") != before
    session.close()


def test_two_checks_at_once_have_a_table_each(mock):
    session = opened(mock)
    one, other = Catalog(session, "a"), Catalog(session, "b")
    tables = [shared_table(one), shared_table(other), shared_table(one)]
    assert tables[0] is tables[2]
    assert tables[0].name != tables[1].name
    one.undo()
    other.undo()
    session.close()
    assert left_on(mock) == []


def test_what_is_shared_has_a_name_that_the_order_of_checks_does_not_change(mock):
    def names(*asking):
        session = opened(mock)
        found = {ask(Catalog(session, "c")).name for ask in asking}
        session.close()
        return found

    table, view = shared_table, shared_view
    assert names(table, view) == names(view, table)


def test_evidence_begins_with_what_the_check_stands_on(mock):
    def failing(catalog):
        """A table that is wrongly thought missing."""
        table = given_table(catalog)
        catalog.load_table(table.namespace, table.name).expect(404)

    declare("x.stands", proves="loadTable.404", group=Group.CHECKS)(failing)
    session = opened(mock)
    verdict = judge(check_of(failing, CONTRACT), Catalog(session, "x.stands"))
    told = [(e.ordinal, e.operation) for e in verdict.evidence]
    assert told == [
        (0, "createNamespace"),
        (0, "createNamespace"),
        (1, "createTable"),
        (2, "loadTable"),
    ]
    session.close()
