"""Sessions and the client: isolation by probe, names, the ledger, and leaving nothing behind."""

import json
import re

import httpx
import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace, given_table
from icecheck.client.opening import open_session
from icecheck.mock_server import MockCatalog
from icecheck.ownership.request_guard import ForeignRequest
from icecheck.replies.expect import Blocked, NotOffered
from icecheck.targets.target import Target, UsageError

CONFIG = {"defaults": {}, "overrides": {}}


@pytest.fixture(scope="module")
def mock():
    with MockCatalog(seed=1) as running:
        yield running


def opened(mock, warehouse, **target):
    return open_session(
        Target(mock.uri, warehouse=warehouse, **target),
        run_id="r1",
        transport=mock.httpx_transport(),
    )


def scripted(answer):
    """A catalog that answers every request by a function of method and path."""

    def handler(request):
        if request.url.path == "/v1/config":
            return httpx.Response(200, json=CONFIG)
        status, body = answer(request.method, request.url.path)
        return httpx.Response(status, json=body)

    return httpx.MockTransport(handler)


def test_a_catalog_with_nested_namespaces_is_worked_in_under_one_root(mock):
    session = opened(mock, "nested")
    assert session.isolation.mode == "nested"
    assert session.isolation.base == ("icecheck_r1",)
    session.close()
    assert session.summary().residue == []


def test_a_catalog_without_nested_namespaces_is_worked_in_flat():
    def answer(method, path):
        if method == "POST":
            return (400, {}) if "probe" in path else (200, {"namespace": ["icecheck_r1"]})
        return (204, None) if method == "DELETE" else (404, {})

    def handler(request):
        if request.url.path == "/v1/config":
            return httpx.Response(200, json=CONFIG)
        levels = json.loads(request.content)["namespace"] if request.content else []
        if len(levels) > 1:
            return httpx.Response(400, json={})
        status, body = answer(request.method, request.url.path)
        return httpx.Response(status, json=body)

    session = open_session(Target("http://h"), run_id="r1", transport=httpx.MockTransport(handler))
    assert session.isolation.mode == "flat"
    assert session.capabilities["nested-namespaces"] is False
    session.close()
    assert session.summary().residue == []


@pytest.mark.parametrize("status", [201, 202, 500])
@pytest.mark.parametrize("nests", [True, False])
def test_a_root_that_was_made_with_another_status_is_removed_again(status, nests):
    """Which status says that it was made is for a check to judge: the object is there."""
    there, owned = set(), {}

    def answer(method, path):
        if method == "DELETE":
            name = path.removeprefix("/v1/namespaces/")
            gone = name in there and not any(n.startswith(f"{name}\x1f") for n in there)
            there.difference_update({name} if gone else ())
            return (204, None) if gone else (409 if name in there else 404, {})
        name = path.removeprefix("/v1/namespaces/")
        if method == "GET" and name in there:
            return 200, {"namespace": name.split("\x1f"), "properties": owned}
        return 404, {}

    def handler(request):
        if request.method != "POST" or not request.url.path.endswith("/namespaces"):
            return scripted(answer).handle_request(request)
        body = json.loads(request.content)
        levels = body["namespace"]
        if len(levels) > 1 and not nests:
            return httpx.Response(400, json={})
        there.add("\x1f".join(levels))
        owned.update(body.get("properties", {}))
        return httpx.Response(status, json={"namespace": levels})

    session = open_session(
        Target("http://made.test"), run_id="r1", transport=httpx.MockTransport(handler)
    )
    assert session.isolation.mode == ("nested" if nests and status < 300 else "flat")
    session.close()
    assert there == set()
    assert session.summary().residue == []


def make_foreign(mock, warehouse, name):
    """Make a namespace that is not the run's."""
    with httpx.Client(transport=mock.httpx_transport(), base_url=mock.uri) as http:
        body = {"namespace": [name]}
        http.post(f"/v1/{warehouse}/namespaces", json=body).raise_for_status()


def test_a_parent_that_the_user_gave_is_worked_under_and_left_alone(mock):
    httpx.Client(transport=mock.httpx_transport()).get(f"{mock.uri}/v1/config?warehouse=parent")
    make_foreign(mock, "parent", "theirs")
    session = opened(mock, "parent", namespace=("theirs",))
    namespace = given_namespace(Catalog(session, "c"))
    assert namespace[0] == "theirs"
    session.close()
    again = opened(mock, "parent", isolation="flat")
    assert Catalog(again, "x").load_namespace_metadata(("theirs",)).status == 200


@pytest.mark.parametrize("run_id", ["", "UPPER", "with space", "x" * 17, "a_b"])
def test_a_run_id_that_is_no_plain_token_is_refused(run_id):
    with pytest.raises(UsageError, match="run id"):
        open_session(Target("http://h"), run_id=run_id, transport=scripted(lambda *_: (404, {})))


def test_names_depend_on_the_run_and_the_check_and_on_nothing_else(mock):
    session = opened(mock, "names")
    one, again, other = (Catalog(session, c) for c in ("a", "a", "b"))
    assert [one.new_name(), one.new_name()] == [again.new_name(), again.new_name()]
    assert one.new_name() != other.new_name()
    assert re.fullmatch(r"icecheck_r1_[0-9a-f]{6}_1_2", other.new_name())
    session.close()


def test_names_come_by_threes_that_are_alike_and_none_comes_twice(mock):
    session = opened(mock, "alike")
    catalog = Catalog(session, "a")
    names = [catalog.new_name() for _ in range(30)]
    for first, second, third in zip(names[::3], names[1::3], names[2::3], strict=True):
        assert second.startswith(f"{first}_")
        assert third.startswith(f"{first}_")
    assert names[1][:-1] == names[2][:-1]
    assert len({*names}) == 30
    session.close()


def test_undo_removes_what_was_made_and_nothing_else(mock):
    session = opened(mock, "undo", isolation="flat")
    make_foreign(mock, "undo", "icecheck_foreign")
    catalog = Catalog(session, "c")
    table = given_table(catalog, given_namespace(catalog))
    moved = (table.namespace, catalog.new_name())
    catalog.rename_table((table.namespace, table.name), moved).expect(204)
    catalog.undo()
    listed = Catalog(session, "d").list_namespaces().json()["namespaces"]
    assert listed == [["icecheck_foreign"]]
    assert session.residue == []
    assert session.created == session.deleted == 3


def test_a_table_that_nobody_ledgered_in_an_own_namespace_is_swept(mock):
    session = opened(mock, "sweep")
    catalog = Catalog(session, "c")
    namespace = given_namespace(catalog)
    stranger = Catalog(session, "stranger")
    given_table(stranger, namespace)
    catalog.undo()
    assert session.residue == []


def test_what_cannot_be_removed_is_residue(mock):
    session = opened(mock, "residue")
    catalog = Catalog(session, "c")
    namespace = given_namespace(catalog)
    child = (*namespace, "not_ours")
    Catalog(session, "other").create_namespace(child)
    catalog.undo()
    assert session.residue == [f"namespace {'.'.join(namespace)}"]


def test_an_object_outside_the_run_is_noted_and_not_asked_for(mock):
    session = opened(mock, "foreign")
    catalog = Catalog(session, "c")
    with pytest.raises(ForeignRequest):
        catalog.create_namespace(("somebody_elses",))
    catalog.undo()
    assert session.foreign == ["namespace somebody_elses"]
    assert Catalog(session, "d").load_namespace_metadata(("somebody_elses",)).status == 404


def test_a_failed_arrange_step_blocks_and_names_the_requirement():
    def answer(method, path):
        if method == "POST" and path.endswith("/tables"):
            return 500, {"error": {"message": "x", "type": "y", "code": 500}}
        return 200, {"namespace": []}

    session = open_session(
        Target("http://h", isolation="flat"), run_id="r1", transport=scripted(answer)
    )
    with pytest.raises(Blocked) as caught:
        given_table(Catalog(session, "c"))
    assert caught.value.by == "createTable.200"


def test_an_arrange_step_that_is_not_offered_is_no_failure():
    session = open_session(
        Target("http://h", isolation="flat"),
        run_id="r1",
        transport=scripted(lambda *_: (406, {})),
    )
    with pytest.raises(NotOffered):
        given_namespace(Catalog(session, "c"))


def test_a_prefix_is_used_verbatim_and_a_separator_as_announced():
    seen = []

    def handler(request):
        seen.append(request.url.raw_path.decode())
        if request.url.path == "/v1/config":
            overrides = {"prefix": "ws/a%7Cb", "namespace-separator": "%2E"}
            return httpx.Response(200, json={"defaults": {}, "overrides": overrides})
        return httpx.Response(404, json={})

    session = open_session(
        Target("http://h/", isolation="flat"), run_id="r1", transport=httpx.MockTransport(handler)
    )
    catalog = Catalog(session, "c")
    catalog.load_table(("a b", "c/d"), "t%+é")
    catalog.list_namespaces(parent=("a", "b"))
    assert seen[1] == "/v1/ws/a%7Cb/namespaces/a%20b%2Ec%2Fd/tables/t%25%2B%C3%A9"
    assert seen[2] == "/v1/ws/a%7Cb/namespaces?parent=a.b"


def test_dot_segments_are_not_normalised_away():
    seen = []

    def handler(request):
        seen.append(request.url.raw_path.decode())
        return httpx.Response(200, json=CONFIG)

    session = open_session(
        Target("http://h", isolation="flat"), run_id="r1", transport=httpx.MockTransport(handler)
    )
    Catalog(session, "c").load_table(("..",), ".")
    assert seen[-1] == "/v1/namespaces/%2E%2E/tables/%2E"


def test_secrets_never_reach_the_record(mock):
    with MockCatalog(seed=2, token="tok-canary-1") as secured:
        session = open_session(
            Target(secured.uri, warehouse="w", token="tok-canary-1"),
            run_id="r1",
            transport=secured.httpx_transport(),
        )
        given_namespace(Catalog(session, "c"))
        assert session.exchanges
        assert "tok-canary-1" not in repr(session.exchanges)
        session.close()


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"url": "http://name:hush@catalog.test"}, "holds a user"),
        ({"url": "http://catalog.test/?key=hush"}, "part before /v1"),
        ({"url": "http://catalog.test", "token": "hush\n"}, "the token cannot be sent"),
        (
            {"url": "http://catalog.test", "oauth2_server_uri": "http://name:hush@a.test"},
            "holds a user",
        ),
    ],
)
def test_a_target_that_no_request_can_reach_safely_is_misuse_and_not_repeated(facts, words):
    # The command line and the pytest plugin both make their target here.
    with pytest.raises(UsageError, match=words) as misuse:
        Target(**facts)
    assert "hush" not in str(misuse.value)
