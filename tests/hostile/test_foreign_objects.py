"""Objects that a run has not made survive it, whatever the catalog's config says."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace, given_table
from icecheck.client.opening import open_session
from icecheck.client.session import Session
from icecheck.findings.verdict import Group, Run
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.defects import defects
from icecheck.ownership.request_guard import ForeignRequest
from icecheck.run.options import RunOptions
from icecheck.run.runner import run_checks
from icecheck.targets.target import Target
from icecheck.wire.connection import TargetUnusable, Wire
from icecheck.wire.exchange import Step
from tests.kit.shares import some

ADDRESS = "http://catalog.test"
SCHEMA = {"type": "struct", "schema-id": 0, "fields": []}
SOME = ("createNamespace.*", "createTable.*", "dropTable.*", "createView.*", "listTables.*")
READING = {"GET", "HEAD"}


@dataclass
class Lying(httpx.BaseTransport):
    """The mock, whose config says something else, and whose namespaces are not left alone."""

    mock: MockCatalog
    overrides: Mapping[str, Any] = field(default_factory=dict)
    intrudes_after: int | None = None
    made: int = 0
    heard: list[httpx.Request] = field(default_factory=list)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.heard.append(request)
        inner = self.mock.httpx_transport()
        answer = inner.handle_request(request)
        answer.read()
        if request.url.path == "/v1/config":
            config = json.loads(answer.content)
            config["overrides"] |= self.overrides
            return httpx.Response(200, json=config)
        if (request.method, request.url.path) == ("POST", "/v1/wh/namespaces"):
            self.made += answer.is_success
            due = self.intrudes_after is not None and self.intrudes_after < self.made
            if answer.is_success and due:
                self._intrude("\x1f".join(json.loads(request.content)["namespace"]))
        return answer

    def _intrude(self, namespace: str) -> None:
        """Somebody else makes a table in a namespace of the run."""
        make_table(self.mock, namespace, "foreign_table")

    @property
    def changed(self) -> list[httpx.Request]:
        """The requests that were to change something."""
        return [request for request in self.heard if request.method not in READING]


def make_table(mock: MockCatalog, namespace: str, name: str) -> None:
    with httpx.Client(transport=mock.httpx_transport(), base_url=ADDRESS) as http:
        path = httpx.URL(f"{ADDRESS}/v1/wh/namespaces/{namespace.replace(chr(31), '%1F')}/tables")
        http.post(path, json={"name": name, "schema": SCHEMA}).raise_for_status()


def tables_on(mock: MockCatalog) -> set[tuple[str, ...]]:
    found = mock.state("wh").namespaces.after()
    return {(*path, name) for path, entry in found for name, _ in entry.tables.after()}


@pytest.fixture
def mock() -> Iterator[MockCatalog]:
    catalog = MockCatalog(seed=1, warehouses=["wh"])
    with httpx.Client(transport=catalog.httpx_transport(), base_url=f"{ADDRESS}/v1/wh") as theirs:
        theirs.post("/namespaces", json={"namespace": ["prod"]}).raise_for_status()
    for name in ("orders", "customers"):
        make_table(catalog, "prod", name)
    yield catalog
    catalog.stop()


def run_on(lying: Lying, **target: Any) -> Run:
    described = Target(ADDRESS, warehouse="wh", **target)
    options = RunOptions(described, run_id="r1", groups=(Group.CHECKS,), globs=SOME)
    return run_checks(options, transport=lying)


# ------------------------------------------------------------------- what a config announces

HOSTILE = {
    "a prefix that ends in a query": {"prefix": "wh/namespaces/prod/tables/orders?x="},
    "a prefix that ends in a fragment": {"prefix": "wh/namespaces/prod/tables/orders#"},
    "a prefix that climbs": {"prefix": "x/../wh"},
    "a prefix that climbs, encoded": {"prefix": "x/%2E%2E/wh"},
    "a prefix that climbs, half encoded": {"prefix": "x/.%2e/wh"},
    "a prefix that climbs, encoded twice": {"prefix": "x/%252E%252E/wh"},
    "a prefix that climbs by parameters": {"prefix": "x/..;a=b/wh"},
    "a prefix that climbs by backslashes": {"prefix": "x\\..\\wh"},
    "a prefix with an encoded slash that climbs": {"prefix": "x%2F..%2Fwh"},
    "a prefix with an empty segment": {"prefix": "//elsewhere.test/wh"},
    "a prefix that ends in a slash": {"prefix": "wh/"},
    "a prefix with a line's end": {"prefix": "wh%0d%0aX-Evil: 1"},
    "a prefix with a control character": {"prefix": "wh\x01"},
    "a separator that climbs": {"namespace-separator": "/../"},
    "a separator that climbs, encoded": {"namespace-separator": "%2F%2E%2E%2F"},
    "a separator that ends the path": {"namespace-separator": "%1F?x="},
    "a separator that is two segments": {"namespace-separator": "%1F/tables/orders"},
    "a separator with a line's end": {"namespace-separator": "%0A"},
    "a uri that climbs": {"uri": f"{ADDRESS}/x/%2E%2E"},
    "a uri with a query": {"uri": f"{ADDRESS}/v1/wh/namespaces/prod/tables/orders?x="},
    "a uri on another host": {"uri": "http://elsewhere.test"},
    "a uri on another port": {"uri": f"{ADDRESS}:8181"},
    "another method": {"header.X-HTTP-Method-Override": "DELETE"},
    "another host": {"header.Host": "elsewhere.test"},
    "another path": {"header.X-Original-URL": "/v1/wh/namespaces/prod/tables/orders"},
}


@pytest.mark.parametrize("isolation", ["nested", "flat"])
@pytest.mark.parametrize("overrides", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_config_that_leads_elsewhere_is_not_followed(
    mock: MockCatalog, overrides: dict[str, Any], isolation: str
) -> None:
    lying, before = Lying(mock, overrides), tables_on(mock)
    with pytest.raises(TargetUnusable) as refused:
        run_on(lying, isolation=isolation)
    assert lying.changed == []
    assert tables_on(mock) == before
    assert len(str(refused.value).splitlines()) == 1


LAWFUL = {
    "slashes": "catalogs/wh",
    "an encoded slash": "a%2Fb",
    "an encoded colon": "arn%3Aaws%3As3tables%3Aus-east-1%3A1%3Abucket%2Fwh",
    "dots in a word": "v1.2/..wh..",
}


@pytest.mark.parametrize("prefix", LAWFUL.values(), ids=LAWFUL.keys())
def test_a_lawful_prefix_is_followed(prefix: str) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.raw_path.decode())
        return httpx.Response(200, json={"defaults": {}, "overrides": {"prefix": prefix}})

    target = Target(ADDRESS, isolation="flat")
    session = open_session(target, run_id="r1", transport=httpx.MockTransport(answer))
    Catalog(session, "c").list_namespaces()
    session.close()
    assert f"/v1/{prefix}/namespaces" in asked


SEPARATORS = {
    "%1F": "%1F",
    "%1f": "%1f",
    "\x1f": "%1F",
    "%2E": "%2E",
    ".": ".",
    "%2F": "%2F",
    "/": "%2F",
    "::": "::",
    "$": "$",
    "|": "%7C",
}


@pytest.mark.parametrize(("separator", "spelled"), SEPARATORS.items(), ids=ascii)
def test_a_lawful_separator_is_followed(mock: MockCatalog, separator: str, spelled: str) -> None:
    lying = Lying(mock, {"namespace-separator": separator})
    session = open_session(Target(ADDRESS, warehouse="wh"), run_id="r1", transport=lying)
    session.close()
    asked = [request.url.raw_path.decode() for request in lying.changed]
    assert f"/v1/wh/namespaces/icecheck_r1{spelled}icecheck_r1_probe" in asked


@pytest.mark.parametrize("host", ["elsewhere.test", "ELSEWHERE.test:80"])
def test_a_host_that_the_user_named_is_gone_to(mock: MockCatalog, host: str) -> None:
    lying = Lying(mock, {"uri": "http://elsewhere.test"})
    run = run_on(lying, allow_hosts=(host,))
    assert run.exit_code == 0
    assert {request.url.host for request in lying.heard[2:]} == {"elsewhere.test"}


def test_a_credential_does_not_go_to_another_host_than_the_targets(mock: MockCatalog) -> None:
    lying = Lying(mock, {"oauth2-server-uri": "http://elsewhere.test/token"})
    with pytest.raises(TargetUnusable, match="--allow-host"):
        run_on(lying, credential="id:secret")
    assert {request.url.host for request in lying.heard} == {"catalog.test"}


# ------------------------------------------------------------------ what is about to be sent


@pytest.fixture
def session(mock: MockCatalog) -> Iterator[Session]:
    transport = Lying(mock)
    opened = open_session(Target(ADDRESS, warehouse="wh"), run_id="r1", transport=transport)
    transport.heard.clear()
    yield opened
    assert transport.changed == []
    opened.close()


OWN = ("icecheck_r1",)
PROD = ("prod",)
COMMIT = {"requirements": [], "updates": []}


def _identifier(namespace: tuple[str, ...], name: str) -> dict[str, Any]:
    return {"namespace": [*namespace], "name": name}


FOREIGN: dict[str, Callable[[Catalog], Any]] = {
    "drop a namespace": lambda c: c.drop_namespace(PROD),
    "drop a namespace in an own one": lambda c: c.drop_namespace((*OWN, "theirs")),
    "change properties": lambda c: c.update_properties(PROD, updates={"a": "1"}),
    "make a namespace": lambda c: c.create_namespace(("stray",)),
    "make a namespace in a foreign one": lambda c: c.create_namespace((*PROD, c.new_name())),
    "make a table": lambda c: c.create_table(PROD, {"name": c.new_name(), "schema": SCHEMA}),
    "drop a table": lambda c: c.drop_table(PROD, "orders"),
    "drop a table in an own namespace": lambda c: c.drop_table(OWN, "orders"),
    "purge a table": lambda c: c.drop_table(PROD, "orders", [("purgeRequested", "true")]),
    "commit": lambda c: c.update_table(PROD, "orders", []),
    "commit to another in the body": lambda c: c.call(
        "updateTable",
        {"namespace": OWN, "table": c.new_name()},
        body=COMMIT | {"identifier": _identifier(PROD, "orders")},
    ),
    "commit to many": lambda c: c.commit_transaction(
        [COMMIT | {"identifier": _identifier(PROD, "orders")}]
    ),
    "rename from": lambda c: c.rename_table((PROD, "orders"), (OWN, c.new_name())),
    "rename to": lambda c: c.rename_table((OWN, c.new_name()), (PROD, c.new_name())),
    "register": lambda c: c.register_table(PROD, c.new_name(), "file:/x"),
    "report metrics": lambda c: c.report_metrics(PROD, "orders", {}),
    "drop a view": lambda c: c.call("dropView", {"namespace": PROD, "view": "recent"}),
    "replace a view": lambda c: c.call(
        "replaceView", {"namespace": PROD, "view": "v"}, body=COMMIT
    ),
    "rename a view": lambda c: c.call(
        "renameView",
        body={"source": _identifier(PROD, "v"), "destination": _identifier(PROD, "w")},
    ),
    "cancel a plan": lambda c: c.call(
        "cancelPlanning", {"namespace": PROD, "table": "orders", "plan-id": "1"}
    ),
    "a path of another operation": lambda c: c.call(
        "dropNamespace", path="/v1/wh/namespaces/prod/tables/orders"
    ),
    "a path that is none": lambda c: c.call("dropNamespace", path="/v1/wh/namespaces/icecheck_r1/"),
    "no name at all": lambda c: c.call("dropNamespace", path="/v1/wh/namespaces/"),
    "another prefix": lambda c: c.call("dropNamespace", path="/v1/other/namespaces/icecheck_r1"),
    "outside the protocol": lambda c: c.call("createNamespace", path="/admin", body={}),
    "a plan at another path": lambda c: c.call(
        "planTableScan", path="/v1/wh/namespaces/prod/tables/orders", body={}
    ),
    "another run's": lambda c: c.drop_namespace(("icecheck_r12",)),
}


@pytest.mark.parametrize("ask", FOREIGN.values(), ids=FOREIGN.keys())
def test_a_request_for_what_is_not_the_runs_own_is_not_sent(
    session: Session, ask: Callable[[Catalog], Any]
) -> None:
    with pytest.raises(ForeignRequest):
        ask(Catalog(session, "some.check"))


# --------------------------------------------------------- what others put into a namespace


@pytest.mark.parametrize("isolation", some(["nested", "flat", "parent"], 3))
@pytest.mark.parametrize("cascades", [False, True], ids=["keeps", "cascades"])
def test_what_others_put_into_a_namespace_of_the_run_stays(
    mock: MockCatalog, isolation: str, cascades: bool
) -> None:
    if cascades:
        drop_with_all_that_is_in_it(mock)
    # The first namespaces are those with which a run finds out whether it can work here.
    lying, before = Lying(mock, intrudes_after=4), tables_on(mock)
    parent = ("prod",) if isolation == "parent" else ()
    run = run_on(lying, isolation=isolation, namespace=parent)
    left = tables_on(mock) - before
    assert left
    assert {path[-1] for path in left} == {"foreign_table"}
    assert tables_on(mock) >= before
    made = [r for r in lying.heard if (r.method, r.url.path) == ("POST", "/v1/wh/namespaces")]
    told = run.facts["safety"]["residue"]
    assert len([words for words in told if "foreign_table" in words or "a table" in words]) == len(
        left
    )
    assert len(made) >= len(left)


def drop_with_all_that_is_in_it(mock: MockCatalog) -> None:
    """Let the mock drop a namespace that holds something, as some catalogs do."""
    defects()["namespace-drop-cascades"].install(mock.registries)


class Folding(httpx.BaseTransport):
    """The mock as a catalog that folds names: whatever is asked in any case, lists are in upper."""

    def __init__(self, mock: MockCatalog) -> None:
        self.inner = mock.httpx_transport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        raw = request.url.raw_path.decode()
        path = re.sub("ICECHECK_[A-Z0-9_]+", lambda found: found[0].lower(), raw)
        asked = httpx.Request(
            request.method,
            request.url.copy_with(raw_path=path.encode()),
            headers=request.headers,
            content=request.content,
        )
        answer = self.inner.handle_request(asked)
        body = answer.read()
        if request.method == "GET" and path.partition("?")[0].endswith(("/tables", "/namespaces")):
            body = re.sub(b"icecheck_[a-z0-9_]+", lambda found: found[0].upper(), body)
        kept = {k: v for k, v in answer.headers.items() if k != "content-length"}
        return httpx.Response(answer.status_code, headers=kept, content=body)


def test_what_a_catalog_lists_in_another_case_is_the_runs_own(mock: MockCatalog) -> None:
    target = Target(ADDRESS, warehouse="wh")
    session = open_session(target, run_id="r1", transport=Folding(mock))
    catalog, forgetful = Catalog(session, "a"), Catalog(session, "b")
    namespace = given_namespace(catalog)
    given_table(forgetful, namespace)  # its ledger is lost
    catalog.undo()
    session.close()
    assert session.residue == []
    assert {path[0] for path in tables_on(mock)} == {"prod"}


@pytest.mark.parametrize("method", ["POST", "DELETE", "PUT", "PATCH"])
def test_a_request_that_no_operation_describes_is_not_sent(session: Session, method: str) -> None:
    url = f"{ADDRESS}/v1/wh/namespaces/icecheck_r1"
    wire = Wire("", 1, Step.DO, None, method, url, {}, None)
    with pytest.raises(ForeignRequest):
        session.connection.send(wire, session.record)


def test_an_address_for_reading_may_be_anywhere_on_the_catalogs_host(mock: MockCatalog) -> None:
    lying = Lying(mock)
    session = open_session(Target(ADDRESS, warehouse="wh"), run_id="r1", transport=lying)
    assert Catalog(session, "c").call("loadCredentials", path="/fresh").status == 404
    session.close()
