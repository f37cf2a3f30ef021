"""What somebody else has made is there after a run against a catalog that lies in any way."""

import contextlib
import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from icecheck.findings.verdict import Group
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.defects.kit.rewriting import refuse_as
from icecheck.run.options import RunOptions
from icecheck.run.runner import run_checks
from icecheck.targets.target import Target
from icecheck.wire.connection import TargetUnusable
from tests.hostile import lying_socket as lies
from tests.hostile.lying_socket import Lie, Talk, lying_socket
from tests.kit.lost_creation import LostOnce

SCHEMA = {"type": "struct", "schema-id": 0, "fields": []}
# Both kinds of objects are made and dropped: a config that leads elsewhere harms by the latter.
FEW = (
    "createNamespace.already-*", "createTable.succeeds", "dropNamespace.*", "dropTable.*",
    "listTables.all",
)  # fmt: skip
TIMEOUT_SECONDS = 0.5

Json = dict[str, Any]


@pytest.fixture
def mock() -> Iterator[MockCatalog]:
    catalog = MockCatalog(seed=1, warehouses=["wh"])
    with httpx.Client(transport=catalog.httpx_transport(), base_url="http://m/v1/wh") as theirs:
        theirs.post("/namespaces", json={"namespace": ["prod"]}).raise_for_status()
        for name in ("orders", "customers"):
            body = {"name": name, "schema": SCHEMA}
            theirs.post("/namespaces/prod/tables", json=body).raise_for_status()
    yield catalog
    catalog.stop()


def foreign_in(mock: MockCatalog) -> set[str]:
    """The tables of somebody else that are there."""
    entry = mock.state("wh").namespaces.get(("prod",))
    return set() if entry is None else {name for name, _ in entry.tables.after()}


def altered(
    mock: MockCatalog, chosen: Callable[[Talk], bool], alter: Callable[[Json], Json]
) -> Lie:
    """Answer as the mock does, but for what ``alter`` makes of the JSON of some answers."""
    behind = httpx.Client(transport=mock.httpx_transport())

    def lie(talk: Talk) -> None:
        kept = {k: v for k, v in talk.headers.items() if k not in {"host", "content-length"}}
        url = f"http://m{talk.path}"
        reply = behind.request(talk.method, url, headers=kept, content=talk.body)
        body = reply.content
        if reply.is_success and body:
            body = json.dumps(alter(json.loads(body))).encode()
        lies.answering(reply.status_code, body)(talk)

    return lies.where(chosen, lie, lies.honest(mock))


def is_delete(talk: Talk) -> bool:
    return talk.method == "DELETE"


def is_creation(talk: Talk) -> bool:
    return talk.method == "POST" and talk.path.partition("?")[0].endswith(
        ("/tables", "/namespaces")
    )


def is_list_of_tables(talk: Talk) -> bool:
    return talk.method == "GET" and talk.path.partition("?")[0].endswith("/tables")


def is_load(talk: Talk) -> bool:
    return talk.method == "GET" and "/tables/" in talk.path


def with_orders(body: Json) -> Json:
    """A list that also names a table of somebody else, where it is and as if it were here."""
    listed = body.get("identifiers", [])
    here = listed[0]["namespace"] if listed else ["prod"]
    return {
        "identifiers": [*listed, *({"namespace": at, "name": "orders"} for at in (["prod"], here))]
    }


def done_and_lost(mock: MockCatalog) -> Lie:
    """Do what is asked and close the connection without an answer."""
    behind = httpx.Client(transport=mock.httpx_transport())

    def lie(talk: Talk) -> None:
        behind.request(talk.method, f"http://m{talk.path}", content=talk.body)
        raise ConnectionAbortedError

    return lie


def redirected(status: int) -> Lie:
    return lies.answering(status, b"", "Location: /v1/wh/namespaces/prod/tables/orders\r\n")


def over(make: Callable[[MockCatalog], Lie], chosen: Callable[[Talk], bool]) -> Any:
    return lambda mock: lies.where(chosen, make(mock), lies.honest(mock))


MODES: dict[str, Callable[[MockCatalog], Lie]] = {
    "an honest catalog": lies.honest,
    "a config that leads to another table": lambda mock: altered(
        mock,
        lambda talk: "/v1/config" in talk.path,
        lambda body: body | {"overrides": {"prefix": "wh/namespaces/prod/tables/orders?x="}},
    ),
    "drops that are answered by a redirection": over(lambda _: redirected(307), is_delete),
    "creations that are answered by a redirection": over(lambda _: redirected(308), is_creation),
    "drops whose answer drips": over(lambda _: lies.drip_headers, is_delete),
    "drops whose answer is lost": over(done_and_lost, is_delete),
    "creations whose answer is lost": over(done_and_lost, is_creation),
    "loads that are bombs": over(lambda _: lies.bomb("gzip", 300), is_load),
    "lists that name what is not the run's": lambda mock: altered(
        mock, is_list_of_tables, with_orders
    ),
    "creations that answer with another name": lambda mock: altered(
        mock, is_creation, lambda body: body | {"name": "orders", "namespace": ["prod"]}
    ),
    "everything is answered with success": over(
        lambda _: lies.answering(200, b"{}"), lambda talk: "/v1/config" not in talk.path
    ),
}


# These wait for time-outs, again and again; elsewhere than in "nested" for longer.
SLOW = {"drops whose answer drips", "drops whose answer is lost", "loads that are bombs"}
ISOLATIONS = ("nested", "flat", "parent")
ELSEWHERE = pytest.mark.complete("each mode in each isolation; the usual command has one of each")


def _tier(mode: str, isolation: str) -> Any:
    if mode in SLOW:
        return pytest.mark.hostile if isolation != "nested" else ELSEWHERE
    usual = ISOLATIONS[[*MODES].index(mode) % len(ISOLATIONS)]
    return () if isolation == usual else ELSEWHERE


CASES = [
    pytest.param(mode, isolation, marks=_tier(mode, isolation))
    for mode in MODES
    for isolation in ISOLATIONS
]


@pytest.mark.parametrize(("mode", "isolation"), CASES)
def test_what_somebody_else_has_made_survives(mock: MockCatalog, mode: str, isolation: str) -> None:
    before = foreign_in(mock)
    assert before == {"orders", "customers"}
    with lying_socket(MODES[mode](mock)) as url:
        target = Target(
            url,
            warehouse="wh",
            isolation=isolation,
            namespace=("prod",) if isolation == "parent" else (),
            timeout_seconds=TIMEOUT_SECONDS,
        )
        options = RunOptions(target, run_id="r1", groups=(Group.CHECKS,), globs=FEW)
        lies_always = mode != "an honest catalog"
        with contextlib.suppress(TargetUnusable) if lies_always else contextlib.nullcontext():
            run_checks(options)
    assert foreign_in(mock) >= before


@pytest.mark.parametrize("status", [500, 502, 504])
def test_a_namespace_of_the_name_that_a_run_would_take_survives_its_start(status: int) -> None:
    """The creation of what exists ends as a server error, after which it may have been made."""
    mock = MockCatalog(seed=1)
    refuse_as(mock.registries, "createNamespace", 409, status, "InternalServerError")
    mock.pyiceberg("wh", in_process=True).create_namespace("sales_ab12cd")
    target = Target("http://mock.invalid", warehouse="wh", name_pattern="sales_{run}")
    run = run_checks(
        RunOptions(target, run_id="ab12cd", globs=("createTable.succeeds",)),
        transport=mock.httpx_transport(),
    )
    left = {namespace for namespace, _ in mock.state("wh").namespaces.after()}
    mock.stop()
    assert ("sales_ab12cd",) in left
    assert any("sales_ab12cd" in line for line in run.facts["safety"]["touched_foreign"])


@pytest.mark.parametrize("throttles", [True, False])
@pytest.mark.parametrize("theirs", [True, False])
def test_a_namespace_after_a_lost_answer_is_the_runs_own_only_if_it_shows_that(
    theirs: bool, throttles: bool
) -> None:
    mock = MockCatalog(seed=1)
    if theirs:
        mock.pyiceberg("wh", in_process=True).create_namespace("sales_ab12cd")
    target = Target("http://mock.invalid", warehouse="wh", name_pattern="sales_{run}")
    options = RunOptions(target, run_id="ab12cd", globs=("createTable.succeeds",))
    way = LostOnce(mock.httpx_transport(), applied=not (theirs or throttles), throttles=throttles)
    if theirs:
        with pytest.raises(TargetUnusable, match="exists already"):
            run_checks(options, transport=way)
    else:
        assert run_checks(options, transport=way).exit_code == 0
    left = {namespace for namespace, _ in mock.state("wh").namespaces.after()}
    mock.stop()
    assert left == ({("sales_ab12cd",)} if theirs else set())
