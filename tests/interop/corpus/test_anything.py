"""Whatever is sent, the server answers in words of the protocol, and what it took can be read."""

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from icecheck.mock_server.operations.served import default_registries
from tests.interop.corpus.case import NEGATIVE, POSITIVE, CorpusCase
from tests.interop.corpus.generated import corpus_of
from tests.interop.corpus.judging import FORM, flaws_of, wrong_with
from tests.interop.corpus.stocked_server import (
    EMPTY_NAMESPACE,
    NAMESPACE,
    TABLE,
    VIEW,
    StockedServer,
    new_stocked_server,
)
from tests.kit.contracts import CONTRACT
from tests.kit.shares import some

SERVED = [
    id_ for id_ in CONTRACT.operations if id_ in default_registries(CONTRACT.version).operations
]
READING_JSON = [
    id_ for id_ in SERVED if CONTRACT.operations[id_].request_media_type == "application/json"
]
PLENTY = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

NUMBERS = st.one_of(
    st.integers(),
    st.sampled_from([0, -1, 1, 2**31, 2**31 - 1, 2**63, 2**63 - 1, -(2**63), 2**64, 10**30]),
    st.floats(allow_nan=False, allow_infinity=False),
)  # fmt: skip
# Lone surrogates cannot be sent as UTF-8; escaped they are in the tests of malformed bodies.
TEXT = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.sampled_from(
        ["", "\0", "\x1f", "/", "..", "%", "x" * 10_000, "long", "struct", "decimal(999,1)",
         "fixed[0]", "bucket[0]", "truncate[99999999999]", "memory://corpus", "file:///", "s3://"]
    ),
)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(TEXT, below, max_size=3),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> StockedServer:
    return new_stocked_server(Path(tmp_path_factory.mktemp("corpus")))


def request_like(operation_id: str, **changes: Any) -> CorpusCase:
    """A request of an operation that is only judged by its answer."""
    operation = CONTRACT.operations[operation_id]
    made: dict[str, Any] = {
        "operation_id": operation_id,
        "mode": NEGATIVE,
        "description": "",
        "part": "",
        "location": "",
        "method": operation.method,
        "target": "",
        "headers": {},
        "body": None,
    }
    return CorpusCase(**{**made, **changes})


@pytest.mark.parametrize("operation_id", some(READING_JSON, 6))
def test_a_changed_request_is_answered_and_what_is_taken_can_be_read(
    stocked: StockedServer, operation_id: str
) -> None:
    started = templates(operation_id, stocked)

    @PLENTY
    @given(st.data())
    def check(data: st.DataObject) -> None:
        case = data.draw(st.sampled_from(started))
        body = json.loads(case.body or b"")
        for _ in range(data.draw(st.integers(1, 3))):
            body = changed(body, data.draw)
        changed_case = request_like(
            operation_id,
            target=case.target,
            headers={"content-type": "application/json"},
            body=json.dumps(body, ensure_ascii=False).encode(),
        )
        with stocked.mock.checkpoint():
            reply = stocked.send(changed_case)
            assert wrong_with(changed_case, reply) == ()
            if reply.status < 300:
                expect_readable(stocked)

    check()


@cache
def templates(operation_id: str, stocked: StockedServer) -> list[CorpusCase]:
    """Valid requests of an operation that the server takes, or nearly."""
    made = (each for each in corpus_of(operation_id, stocked.facts) if each.mode == POSITIVE)
    usual = [each for each in made if not flaws_of(each)]
    taken = [each for each in usual if stocked.answer(each).status < 300]
    return taken or usual


def changed(value: Any, draw: Callable[[Any], Any]) -> Any:
    """A value with something else at one place, or with a member more or less."""
    match value:
        case dict() if value and draw(st.integers(0, 5)):
            name = draw(st.sampled_from(sorted(value)))
            match draw(st.sampled_from(["below", "below", "below", "without", "renamed"])):
                case "below":
                    return {**value, name: changed(value[name], draw)}
                case "without":
                    return {key: each for key, each in value.items() if key != name}
                case _:
                    return {**value, draw(TEXT): value[name]}
        case list() if value and draw(st.integers(0, 5)):
            index = draw(st.integers(0, len(value) - 1))
            if draw(st.booleans()):
                return [*value, value[index]]
            return [*value[:index], changed(value[index], draw), *value[index + 1 :]]
    return draw(VALUES)


def expect_readable(stocked: StockedServer) -> None:
    """What the server holds now can be listed and loaded, and is what the contract says."""
    for operation_id, target in readings(stocked):
        case = request_like(operation_id, target=target)
        reply = stocked.send(case)
        assert wrong_with(case, reply) == ()
        assert reply.status in {200, 404}


def readings(stocked: StockedServer) -> Iterator[tuple[str, str]]:
    yield "listNamespaces", "/v1/wh/namespaces"
    for namespace in (NAMESPACE, EMPTY_NAMESPACE, "new"):
        yield "loadNamespaceMetadata", f"/v1/wh/namespaces/{namespace}"
    yield "listTables", f"/v1/wh/namespaces/{NAMESPACE}/tables"
    yield "listViews", f"/v1/wh/namespaces/{NAMESPACE}/views"
    for name in (TABLE, "created", "registered", "renamed"):
        yield "loadTable", f"/v1/wh/namespaces/{NAMESPACE}/tables/{name}"
        yield "loadTable", f"/v1/wh/namespaces/{NAMESPACE}/tables/{name}?snapshots=refs"
    for name in (VIEW, f"{VIEW}_2", "renamed"):
        yield "loadView", f"/v1/wh/namespaces/{NAMESPACE}/views/{name}"


@pytest.mark.parametrize("operation_id", SERVED)
@PLENTY
@given(
    body=st.binary(max_size=200),
    media=st.sampled_from(["application/json", FORM, "", "text/plain", "*/*"]),
)
def test_any_bytes_are_answered(
    stocked: StockedServer, operation_id: str, body: bytes, media: str
) -> None:
    path = CONTRACT.operations[operation_id].path
    target = path.format(**stocked.facts.path_parameters(operation_id))
    case = request_like(operation_id, target=target, body=body, headers={"content-type": media})
    assert wrong_with(case, stocked.answer(case)) == ()


SEGMENTS = st.text(st.characters(max_codepoint=255), max_size=12) | st.sampled_from(
    ["v1", "wh", "namespaces", "tables", "views", "config", "rename", "register", "plan", "tasks",
     "metrics", "properties", "credentials", "oauth", "tokens", "transactions", "commit", "",
     ".", "..", "%1F", "%2F", "%00", "%", "+", NAMESPACE, TABLE, VIEW]
)  # fmt: skip


@settings(PLENTY, max_examples=600)
@given(
    method=st.sampled_from(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "\xff"]),
    segments=st.lists(SEGMENTS, max_size=8),
    query=st.text(st.characters(max_codepoint=255), max_size=30),
    headers=st.dictionaries(
        st.sampled_from(["if-none-match", "x-iceberg-access-delegation", "content-type", "x"]),
        st.text(st.characters(max_codepoint=255), max_size=20),
    ),
    body=st.sampled_from([b"", b"{}", b"[]", b"\xff"]),
)
def test_any_path_and_query_is_answered(
    stocked: StockedServer,
    method: str,
    segments: list[str],
    query: str,
    headers: dict[str, str],
    body: bytes,
) -> None:
    target = "/" + "/".join(["v1", *segments]) + "?" + query
    case = request_like("getConfig", method=method, target=target, headers=headers, body=body)
    reply = stocked.answer(case)
    assert reply.status < 500
    if reply.status >= 400 and method != "HEAD":
        error = json.loads(reply.body)["error"]
        assert isinstance(error, str) or error["code"] == reply.status
