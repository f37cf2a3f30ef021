"""Bodies that are no JSON, hardly JSON, or JSON that nobody can mean: a clear 400, and no trace."""

import codecs
import gc
import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.operations.served import default_registries
from icecheck.mock_server.protocol.request_bodies import BODY_VALUES_MAX
from tests.kit.contracts import CONTRACT
from tests.kit.ordinary_requests import ordinary_requests

REQUESTS = ordinary_requests()
GOOD: dict[str, Any] = {id_: sent.body for id_, sent in REQUESTS.items() if sent.body is not None}
"""A body for every operation that reads JSON; nothing in one is wrong."""

Spoil = Callable[[bytes], bytes]


def with_member(text: bytes) -> Spoil:
    """Add a member that no operation knows: it is skipped, and still has to be JSON."""
    return lambda good: good[:-1] + b', "later": ' + text + b"}"


def inside_a_string(text: bytes) -> Spoil:
    return with_member(b'"' + text + b'"')


SPOILT: dict[str, Spoil] = {
    "empty": lambda _: b"",
    "blank": lambda _: b" \r\n\t",
    "a byte order mark": lambda good: codecs.BOM_UTF8 + good,
    "utf-16": lambda good: good.decode().encode("utf-16"),
    "utf-32": lambda good: good.decode().encode("utf-32-le"),
    "latin-1": inside_a_string(b"\xe9"),
    "an overlong slash": inside_a_string(b"\xc0\xaf"),
    "an encoded surrogate": inside_a_string(b"\xed\xa0\x80"),
    "beyond unicode": inside_a_string(b"\xf4\x90\x80\x80"),
    "cut utf-8": inside_a_string(b"\xe2\x82"),
    "a raw NUL": inside_a_string(b"\x00"),
    "a raw newline": inside_a_string(b"\n"),
    "a lone surrogate": inside_a_string(rb"\ud800"),
    "surrogates in the wrong order": inside_a_string(rb"\udc00\ud800"),
    "an unknown escape": inside_a_string(rb"\x41"),
    "half an escape": inside_a_string(rb"\u12"),
    "NaN": with_member(b"NaN"),
    "Infinity": with_member(b"Infinity"),
    "-Infinity": with_member(b"-Infinity"),
    "a plus sign": with_member(b"+1"),
    "a leading zero": with_member(b"01"),
    "a bare point": with_member(b"1."),
    "hexadecimal": with_member(b"0x1"),
    "an exponent beyond floats": with_member(b"1e400"),
    "a number of many digits": with_member(b"1" * 5000),
    "single quotes": lambda good: good.replace(b'"', b"'"),
    "a comment": lambda good: b"/* x */" + good,
    "a trailing comma": lambda good: good[:-1] + b",}",
    "a missing comma": lambda good: good[:-1] + b' "x": 1}',
    "cut in the middle": lambda good: good[: len(good) // 2],
    "cut at the end": lambda good: good[:-1],
    "followed by more": lambda good: good + b"]",
    "twice": lambda good: good + good,
    "brackets without end": lambda _: b"[" * 100_000,
    "braces without end": lambda _: b'{"a":' * 100_000,
    "a deep array": with_member(b"[" * 100_000 + b"]" * 100_000),
    "a deep object": with_member(b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    "an array": lambda good: b"[" + good + b"]",
    "a string of it": lambda good: json.dumps(good.decode()).encode(),
    "null": lambda _: b"null",
    "a number": lambda _: b"7",
    "a form": lambda _: b"name=new&namespace=ns",
    "gzip's first bytes": lambda good: b"\x1f\x8b\x08\x00" + good,
    "a member twice": lambda good: good[:-1] + b"," + good[1:],
    "an unknown member twice": with_member(b'1, "later": 1'),
    "a member twice, escaped": with_member(rb'1, "l\u0061ter": 1'),
    "a member twice, far below": with_member(b'[{"a": [{"x": 1, "y": 2, "x": 3}]}]'),
    "a member twice, spaced": with_member(b'{"x"\t:1, "x"\r\n :1}'),
    "a member twice, and text that looks like one": with_member(rb'{"x":1, "x":"\u0022:"}'),
    "a member twice, the first with such text": with_member(rb'{"x":"\":", "x":1}'),
    "a member twice, and a text with an escaped colon": with_member(rb'{"x":1, "x":"\u003A"}'),
    "an empty member twice": with_member(b'{"":1, "":1}'),
}


@pytest.fixture(scope="module")
def mock() -> MockCatalog:
    return MockCatalog(seed=7, clock=1_700_000_000_000, root="memory://root")


@pytest.fixture(scope="module")
def http(mock: MockCatalog) -> Iterator[httpx.Client]:
    with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock") as client:
        client.get("/v1/config?warehouse=wh")
        for path, body in (
            ("namespaces", {"namespace": ["ns"]}),
            ("namespaces/ns/tables", {**GOOD["createTable"], "name": "t"}),
            ("namespaces/ns/views", {**GOOD["createView"], "name": "v"}),
        ):
            assert client.post(f"/v1/wh/{path}", json=body).status_code == 200
        yield client


def test_every_operation_that_reads_json_is_here() -> None:
    reading = {
        id_
        for id_, operation in CONTRACT.operations.items()
        if operation.request_media_type == "application/json"
    }
    assert set(GOOD) == reading & set(default_registries(CONTRACT.version).operations)


@pytest.mark.parametrize("operation_id", GOOD)
def test_a_good_body_is_understood(
    mock: MockCatalog, http: httpx.Client, operation_id: str
) -> None:
    with mock.checkpoint():
        understood = http.post(
            REQUESTS[operation_id].target("wh/"), json=GOOD[operation_id]
        ).status_code
    expected = {"registerTable": 400, "fetchScanTasks": 404}
    assert understood in {expected.get(operation_id, 200), expected.get(operation_id, 204)}


@pytest.mark.parametrize("operation_id", GOOD)
@pytest.mark.parametrize("spoilt", SPOILT)
def test_a_bad_body_is_400_and_leaves_no_trace(
    mock: MockCatalog, http: httpx.Client, operation_id: str, spoilt: str
) -> None:
    before = mock.snapshot().states
    body = SPOILT[spoilt](json.dumps(GOOD[operation_id]).encode())
    refused = http.post(REQUESTS[operation_id].target("wh/"), content=body)
    error = refused.json()["error"]
    assert (refused.status_code, error["code"], error["type"]) == (400, 400, "BadRequestException")
    assert len(refused.content) < 1000
    after = mock.snapshot().states
    assert all(after[name] is state for name, state in before.items())


@pytest.mark.parametrize(
    "later",
    [b"9007199254740993", b"1" * 30, b"1e300", b"[[[[1]]]]", b'{"a": 1, "b": {"a": 1}}',
     rb'"\ud83d\ude00"', rb'"\":\":"', rb'"\u0022:"', b'{"a" : {"a" : 1}}', b'"a\\u0000b"'],
)  # fmt: skip
def test_what_is_json_may_be_in_a_member_of_a_later_version(
    mock: MockCatalog, http: httpx.Client, later: bytes
) -> None:
    body = with_member(later)(json.dumps(GOOD["createNamespace"]).encode())
    with mock.checkpoint():
        assert http.post("/v1/wh/namespaces", content=body).status_code == 200


@pytest.fixture
def no_collection() -> Iterator[None]:
    """Keep what other tests have left from being removed where no more calls are possible."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collection")
@pytest.mark.parametrize("depth", [50, 200, 400, 900, 1000, 1100, 2000, 10_000])
@pytest.mark.parametrize("text", ["1", '" "'])
def test_at_no_depth_is_a_body_more_than_the_server_can_take(
    mock: MockCatalog, http: httpx.Client, depth: int, text: str
) -> None:
    deep = b'{"a":[' * depth + text.encode() + b"]}" * depth
    for operation_id, good in GOOD.items():
        with mock.checkpoint():
            body = with_member(deep)(json.dumps(good).encode())
            assert http.post(REQUESTS[operation_id].target("wh/"), content=body).status_code < 500
            inside = json.dumps({**good, "filter": "deep", "properties": "deep"}).encode()
            body = inside.replace(b'"deep"', deep)
            assert http.post(REQUESTS[operation_id].target("wh/"), content=body).status_code < 500


def test_a_body_of_very_many_values_is_400_before_it_fills_the_memory(http: httpx.Client) -> None:
    body = b'{"namespace":["a"],"later":[' + b"[]," * BODY_VALUES_MAX + b"1]}"
    refused = http.post("/v1/wh/namespaces", content=body)
    assert refused.status_code == 400
    assert refused.json()["error"]["message"] == "Malformed request: more than 1000000 values"


def test_a_long_text_with_commas_is_not_very_many_values(
    mock: MockCatalog, http: httpx.Client
) -> None:
    body = {"namespace": ["a"], "properties": {"k": "a, " * 300_000}}
    with mock.checkpoint():
        assert http.post("/v1/wh/namespaces", json=body).status_code == 200
