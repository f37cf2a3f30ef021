"""Idempotency keys: how they are made, how their lifetimes are read, and what the ledger keeps."""

import itertools
import time
from collections.abc import Iterator
from dataclasses import replace
from uuid import RFC_4122, UUID

import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_table
from icecheck.client.opening import open_session
from icecheck.client.session import Session
from icecheck.client.table import Table
from icecheck.conformance.idempotency.lifetimes import is_duration, readable_seconds
from icecheck.conformance.idempotency.repeating import again, first, keyed, keyed_creation, of_table
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.core.context import Call, Outcome
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.keying import FaithfulKeys, around_keys
from icecheck.mock_server.protocol.replies import error_reply
from icecheck.mock_server.protocol.served_contract import KEY_HEADER
from icecheck.objects.idempotency_keys import fresh_key
from icecheck.ownership.ledger import Entry
from icecheck.replies.expect import NotOffered, Violation
from icecheck.targets.offer import Offer
from icecheck.targets.target import Target
from icecheck.wire.exchange import Exchange, Step
from icecheck.wire.retry import WAIT_SECONDS_MAX

TARGET = Target("http://mock.invalid", warehouse="wh")


@pytest.fixture
def mock() -> Iterator[MockCatalog]:
    with MockCatalog(seed=1, spec="1.11.0", root="memory://root") as started:
        yield started


@pytest.fixture
def waited() -> list[float]:
    """The waits of the session, in seconds: the mock's clock is moved instead."""
    return []


@pytest.fixture
def session(mock: MockCatalog, waited: list[float]) -> Iterator[Session]:
    def wait(seconds: float) -> None:
        waited.append(seconds)
        mock.clock.advance(round(seconds * 1000))

    transport = mock.httpx_transport()
    opened = open_session(TARGET, run_id="r1", spec="1.11.0", transport=transport, sleep=wait)
    yield opened
    opened.close()
    assert opened.residue == []


@pytest.fixture
def catalog(session: Session) -> Iterator[Catalog]:
    made = Catalog(session, "c")
    yield made
    made.undo()


@pytest.mark.parametrize(
    ("lifetime", "seconds"),
    [("PT30M", 1800), ("P1D", 86_400), ("P1DT1H1M1.5S", 90_061.5), ("pt5s", 5), ("PT0,5S", 0.5)],
)
def test_what_java_reads_is_a_duration(lifetime: str, seconds: float) -> None:
    assert is_duration(lifetime)
    assert readable_seconds(lifetime) == seconds


@pytest.mark.parametrize(
    "lifetime",
    [
        "P1W",
        "P1M",
        "P1Y2M10DT2H30M",
        "PT0.5H",
        "P0003-06-04T12:30:05",
        "P00030604T123005",
        "P0003155",
    ],
)
def test_other_durations_are_durations_all_the_same(lifetime: str) -> None:
    assert is_duration(lifetime)
    assert readable_seconds(lifetime) is None


@pytest.mark.parametrize(
    "lifetime",
    [
        "",
        "P",
        "PT",
        "P1DT",
        "30 minutes",
        "1800",
        "30M",
        "PT30",
        "PT30X",
        "P1WT",
        "PT1S1M",
        "-PT1M",
    ],
)
def test_what_is_no_duration(lifetime: str) -> None:
    assert not is_duration(lifetime)
    assert readable_seconds(lifetime) is None


def test_keys_are_versions_7_and_no_run_repeats_those_of_another(session: Session) -> None:
    keys = [fresh_key(each) for each in itertools.repeat(Catalog(session, "c"), 20)]
    again = [fresh_key(each) for each in itertools.repeat(Catalog(session, "c"), 20)]
    assert len({*keys, *again}) == 40  # although seed and names are the same
    for key in keys:
        assert UUID(key).version == 7
        assert UUID(key).variant == RFC_4122
        assert str(UUID(key)) == key


def test_the_time_of_a_key_is_the_catalogs(session: Session) -> None:
    answer = Exchange("c", 1, Step.DO, "getConfig", "GET", "http://h", (), None, 200)
    date = (("Date", "Sun, 06 Nov 2033 08:49:37 GMT"),)
    catalog = Catalog(session, "c")
    catalog.exchanges += [replace(answer, response_headers=date), answer]
    assert UUID(fresh_key(catalog)).int >> 80 == 2_014_879_777_000


def test_the_time_of_a_key_is_ours_where_the_catalog_tells_none(session: Session) -> None:
    assert all(each.header("date") is None for each in session.exchanges)
    before = time.time() * 1000 - 1
    assert before <= UUID(fresh_key(Catalog(session, "c"))).int >> 80 <= time.time() * 1000


def held_for(seconds: float, mock: MockCatalog, told_seconds: float | None = None) -> None:
    """Hold the key of each creation for a while after its answer, and say for how long."""
    begun: dict[str, int] = {}

    def around(faithful: FaithfulKeys, state: WarehouseState, call: Call) -> Outcome:
        key, now = call.request.headers[KEY_HEADER], faithful.context.clock.now_ms()
        held = faithful.held(state, call) is not None
        if held and now < begun[key] + seconds * 1000:
            told = (409, "CommitFailedException", "This is being done")
            asked = (("retry-after", str(int(told_seconds or seconds))),)
            return Outcome(state, error_reply(*told, asked))
        begun.setdefault(key, now)
        return faithful(state, call)

    around_keys(mock.registries, "createTable", around)


def test_a_request_waits_for_as_long_as_it_is_asked_to(
    mock: MockCatalog, catalog: Catalog, waited: list[float]
) -> None:
    held_for(30, mock)
    table = given_table(catalog)
    creation = keyed_creation(catalog, table.namespace, catalog.new_name())
    created = first(catalog, creation)
    assert again(catalog, creation, created).status == 200
    assert waited == [30.0]


def test_what_asks_for_more_than_a_request_waits_is_not_judged(
    mock: MockCatalog, catalog: Catalog, waited: list[float]
) -> None:
    held_for(3600, mock)
    table = given_table(catalog)
    creation = keyed_creation(catalog, table.namespace, catalog.new_name())
    created = first(catalog, creation)
    with pytest.raises(NotOffered):
        again(catalog, creation, created)
    assert waited == []


def test_a_request_that_is_told_to_come_again_for_ever_is_judged(
    mock: MockCatalog, catalog: Catalog, waited: list[float]
) -> None:
    held_for(3600, mock, told_seconds=1)
    table = given_table(catalog)
    creation = keyed_creation(catalog, table.namespace, catalog.new_name())
    created = first(catalog, creation)
    with pytest.raises(Violation):
        again(catalog, creation, created)
    assert WAIT_SECONDS_MAX <= sum(waited) < WAIT_SECONDS_MAX + 10
    assert len(waited) < 20


@pytest.mark.parametrize(
    "date", ["Mon, 01 Jan 2025 00:00:00 -99999999999999999999",
             "tomorrow", "", "Mon, 32 Jan 2025 00:00:00 GMT"],
)  # fmt: skip
def test_a_date_that_is_none_tells_no_time(session: Session, date: str) -> None:
    answer = Exchange("c", 1, Step.DO, "getConfig", "GET", "http://h", (), None, 200)
    catalog = Catalog(session, "c")
    catalog.exchanges.append(replace(answer, response_headers=(("Date", date),)))
    assert abs((UUID(fresh_key(catalog)).int >> 80) - time.time() * 1000) < 60_000


@pytest.mark.parametrize("lifetime", [None, "", 1800, False, {}])
def test_what_is_no_lifetime_announces_none(lifetime: object) -> None:
    config = {"defaults": {}, "overrides": {}, "idempotency-key-lifetime": lifetime}
    assert Offer.read(config, TARGET).idempotency_key_lifetime is None


def entry_of(table: Table) -> Entry:
    return Entry("table", table.namespace, table.name)


def test_a_drop_that_comes_again_takes_nothing_out_of_the_ledger(catalog: Catalog) -> None:
    table = given_table(catalog)
    drop = keyed(catalog, "dropTable", of_table(table))
    assert drop.send(catalog).status == 204
    assert entry_of(table) not in catalog.ledger
    remade = keyed_creation(catalog, table.namespace, table.name)
    assert remade.send(catalog).ok
    assert drop.send(catalog).status == 204
    assert entry_of(table) in catalog.ledger


def test_a_refusal_that_comes_again_leaves_what_it_may_have_made_in_the_ledger(
    catalog: Catalog,
) -> None:
    table = given_table(catalog)
    creation = keyed_creation(catalog, table.namespace, table.name)
    assert creation.send(catalog).status == 409
    assert catalog.drop_table(table.namespace, table.name).ok
    assert creation.send(catalog).status == 409
    assert entry_of(table) in catalog.ledger


def test_a_lost_answer_is_no_answer_and_its_object_is_removed(catalog: Catalog) -> None:
    table = given_table(catalog)
    asked = keyed_creation(catalog, table.namespace, catalog.new_name()).asked
    catalog.sender.lose_answer(
        asked.operation_id, asked.names, body=asked.body, headers=asked.headers
    )
    lost = catalog.exchanges[-1]
    assert lost.status is None
    assert str(lost.error).startswith("AnswerUnread")
    assert len([*catalog.ledger]) == 2


def test_a_request_with_a_key_has_the_same_bytes_each_time(catalog: Catalog) -> None:
    table = given_table(catalog)
    creation = keyed_creation(catalog, table.namespace, catalog.new_name())
    for _ in range(2):
        creation.send(catalog)
    first, second = catalog.exchanges[-2:]
    assert first.request_body == second.request_body
    assert creation.asked.headers.items() <= dict(first.request_headers).items()
    assert first.request_headers == second.request_headers
