"""Whatever a server answers, a run ends with verdicts and a report, never by an error of ours."""

import json
import random
import sys
from dataclasses import replace
from typing import Any

import httpx
import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.opening import open_session
from icecheck.findings.verdict import Outcome
from icecheck.run.output import write_report
from icecheck.targets.target import Principal, Target, UsageError
from icecheck.wire.connection import Connection, TargetUnusable, Wire
from icecheck.wire.exchange import Exchange, Step
from icecheck.wire.json_text import read_json
from icecheck.wire.redaction import Redactor
from icecheck.wire.retry import WAIT_SECONDS_MAX, next_wait, trouble_of
from icecheck.wire.unreachable import Unreachable
from tests.hostile.failing_catalogs.chaos import FEW, new_mock, run_through
from tests.hostile.lying_socket import Talk, answering, honest, lying_socket, where
from tests.kit.contracts import CONTRACT
from tests.kit.shares import some

HALF_PAIR = "\ud800"
NO_JSON = {
    "deep-lists": b"[" * 100_000,
    "deep-and-closed": b"[" * 5000 + b"]" * 5000,
    "deeper-than-programs-go": b'{"a":' * 201 + b"1" + b"}" * 201,
    "half-a-pair": b'{"a": "\\ud800"}',
    "half-a-pair-in-a-name": b'{"\\udfff": 1}',
    "half-a-pair-in-utf-8": b'"\xed\xa0\x80"',
    "no-utf-8": b'"\xff"',
    "utf-16-cut": b'\xff\xfe"',
    "nothing": b"",
    "cut": b'{"a": 1',
    "nul": b'{"a": 1}\0',
    "html": b"<html></html>",
}
STRANGE_JSON = {
    "null": b"null",
    "list": b"[]",
    "number": b"-0",
    "text": b'""',
    "nul-in-text": b'{"defaults": {"prefix": "a\\u0000b"}, "overrides": {}}',
    "deep": b'{"a":' * 190 + b"1" + b"}" * 190,
    "wide": b"[" + b"[]," * 5000 + b"[]]",
    "digits": b'{"error": {"message": "m", "type": "t", "code": ' + b"9" * 300 + b"}}",
    "error-of-lists": b'{"error": {"message": {}, "type": [], "code": "x"}}',
    "error-null": b'{"error": null}',
}


@pytest.mark.parametrize("name", NO_JSON)
def test_what_no_client_can_hold_is_no_json(name: str) -> None:
    with pytest.raises(ValueError):
        read_json(NO_JSON[name])


@pytest.mark.parametrize("name", STRANGE_JSON)
def test_what_is_only_strange_is_read(name: str) -> None:
    assert read_json(STRANGE_JSON[name]) == json.loads(STRANGE_JSON[name])


ODD_NUMBERS = {
    b'{"defaults": NaN}': {"defaults": 0.0},
    b"[-Infinity]": [-sys.float_info.max],
    b'{"a": 1e400}': {"a": sys.float_info.max},
    b"-" + b"1" * 5000: -sys.float_info.max,
}


@pytest.mark.parametrize("text", ODD_NUMBERS)
def test_a_number_that_is_no_double_is_read_as_one(text: bytes) -> None:
    assert read_json(text, not_a_number=0.0) == ODD_NUMBERS[text]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_json_is_read_in_each_of_its_encodings(encoding: str) -> None:
    assert read_json('{"a": "é😀"}'.encode(encoding)) == {"a": "é😀"}


def test_brackets_in_text_are_no_levels() -> None:
    assert read_json(json.dumps(["[" * 300, '\\"{' * 300]).encode()) == ["[" * 300, '\\"{' * 300]


def test_half_of_a_pair_can_be_redacted() -> None:
    """It may stand in what a catalog vends, or in what a report quotes of an answer."""
    redactor = Redactor()
    redactor.add(f"secret{HALF_PAIR}")
    assert HALF_PAIR not in redactor.value("token", f"secret{HALF_PAIR}")
    assert HALF_PAIR not in redactor.text(f"it said secret{HALF_PAIR}")


# ---- when to ask again


DATES = [
    "Fri, 31 Dec 9999 23:59:59 -9999",
    "Fri, 31 Dec 9999 23:59:59 +2359",
    "Sat, 01 Jan 0001 00:00:00 +2359",
    "Fri, 31 Dec 99999999999999999999 23:59:59 GMT",
    "Fri, 99 Foo 2026 99:99:99 GMT",
    f"Fri, 31 Dec 2026 23:59:59 +{'9' * 30}",
    f"Fri, {'9' * 5000} Dec 2026 23:59:59 GMT",
    "1 Jan", ",", "Fri,", "::", "0 0 0 0:0:0 0", "é", "\0", "Fri, 31 Dec -1 0:0:0 GMT",
]  # fmt: skip
NUMBERS = ["-1", "-inf", "inf", "nan", "-nan", "1e400", "-1e400", "1" + "0" * 30, "1" * 5000, "0x1"]


@pytest.mark.parametrize("text", [*DATES, *NUMBERS])
@pytest.mark.parametrize("status", [429, 503])
def test_an_absurd_time_to_wait_is_no_wait_beyond_the_limit(text: str, status: int) -> None:
    headers = [(b"Retry-After", text.encode())]
    answers = iter([httpx.Response(status, headers=headers)] * 30)
    slept: list[float] = []
    connection = Connection(
        Target("http://h"),
        CONTRACT,
        httpx.MockTransport(lambda _: next(answers)),
        sleep=slept.append,
    )
    wire = Wire("c", 1, Step.DO, "getConfig", "GET", "http://h/v1/config", {}, None)
    with pytest.raises(Unreachable):
        connection.send(wire, lambda _: None)
    assert all(0 <= seconds <= WAIT_SECONDS_MAX for seconds in slept)
    assert sum(slept) <= WAIT_SECONDS_MAX


def test_no_text_at_all_is_an_obstacle_to_waiting() -> None:
    """Dates of parts at and beyond their limits, and such parts in any order."""
    drawn = random.Random(13)  # noqa: S311 - no secret
    numbers = ["0", "31", "2359", "9999", "-1", "10e99", "999999999999"]
    zones = ["GMT", "+2359", "-2359", "+999999999999", "-9999", "é", ""]
    parts = [*numbers, *zones, "Fri,", " ", "Dec", ":", "("]
    asked = Exchange("c", 1, Step.DO, "getConfig", "GET", "http://h", (), None, status=429)
    for _ in range(20_000):
        day, year, hour = drawn.choices(numbers, k=3)
        date = f"Fri, {day} Dec {year} {hour}:59:59 {drawn.choice(zones)}"
        text = drawn.choice([date, "".join(drawn.choices(parts, k=drawn.randint(0, 9)))])
        trouble = trouble_of(replace(asked, response_headers=(("Retry-After", text),)))
        wait = None if trouble is None else next_wait(trouble, "GET", 1, 0.0)
        assert wait is None or 0 <= wait <= WAIT_SECONDS_MAX


# ---- the first answers


TEXTS = [
    "http://h:99999/x", "http://h:0", "http://[::1", f"http://{HALF_PAIR}/", "ftp://x", "%", "%zz",
    f"http://{'a' * 300}/", "http://ex\0ample", "http://a b/", "https://.x/", "http://h/é?q", "..",
    HALF_PAIR, "a\r\nX: y", "\0", "é", "",
]  # fmt: skip
VALUES: list[Any] = [
    *TEXTS, None, True, 0, -1, 10**30, 10**300, 1.5, [], {}, [[]], {"a": {}}, [HALF_PAIR],
    "x" * 5000,
]  # fmt: skip
KEYS = [
    "prefix", "uri", "token", "oauth2-server-uri", "namespace-separator", "header.", "header.X-A",
    "header.Authorization", "header.Host", "header.Content-Length", "header.Transfer-Encoding",
]  # fmt: skip


def drawn_config(drawn: random.Random) -> Any:
    config: dict[str, Any] = {}
    for part in ("defaults", "overrides"):
        keys = drawn.sample(KEYS, drawn.randint(0, 4))
        told = {key: drawn.choice(VALUES) for key in keys}
        config[part] = told if drawn.random() < 0.9 else drawn.choice(VALUES)
    claimed = [drawn.choice([*VALUES, "GET /v1/{prefix}/namespaces"]) for _ in range(5)]
    config["endpoints"] = claimed if drawn.random() < 0.5 else drawn.choice(VALUES)
    if drawn.random() < 0.3:
        del config[drawn.choice(list(config))]
    return config


def spoken_with(handler: Any, **options: Any) -> None:
    """Open a session and say a few things; it may only end in words for the user."""
    try:
        session = open_session(
            Target("http://h", **options), run_id="r", transport=httpx.MockTransport(handler)
        )
    except (TargetUnusable, UsageError):
        return
    catalog = Catalog(session, "c")
    try:
        catalog.list_namespaces(("a",))
        catalog.load_table(("a", "b"), "t")
    except Unreachable:
        pass
    finally:
        session.close()


def test_no_config_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    for seed in range(1500):
        drawn = random.Random(seed)  # noqa: S311
        body = json.dumps(drawn_config(drawn)).encode()

        def handler(request: httpx.Request, body: bytes = body) -> httpx.Response:
            if request.url.path.endswith("/config"):
                return httpx.Response(200, content=body)
            return httpx.Response(404, json={})

        spoken_with(handler, isolation=drawn.choice(["flat", "nested", "auto"]))


TOKENS = ["é", HALF_PAIR, "a\nb", "\0", "", None, 1, "x" * 100_000, "a b", [], "ok"]
LIFETIMES = ["1", "-1", "9" * 400, "1e308", "-1e308", "1e400", "NaN", "null", '"x"', "true", "{}"]


@pytest.mark.parametrize("whose", ["first", "second"])
@pytest.mark.parametrize("token", TOKENS, ids=repr)
def test_no_token_is_an_error_of_ours(
    token: Any, whose: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    for lifetime in LIFETIMES:
        body = f'{{"access_token": {json.dumps(token)}, "expires_in": {lifetime}}}'.encode()

        def handler(request: httpx.Request, body: bytes = body) -> httpx.Response:
            if b"client_secret" in request.content:
                return httpx.Response(200, content=body)
            return httpx.Response(200, json={"defaults": {}, "overrides": {}})

        given = {"credential": "me:hush"}
        who = given if whose == "first" else {"second": Principal(**given)}
        spoken_with(handler, isolation="flat", **who)


# ---- a whole run


def altered(value: Any, drawn: random.Random) -> Any:
    """A JSON value with some members left out, and some replaced by anything."""
    if drawn.random() < 0.1:
        return drawn.choice(VALUES)
    if isinstance(value, dict):
        return {k: altered(v, drawn) for k, v in value.items() if drawn.random() > 0.05}
    return [altered(each, drawn) for each in value] if isinstance(value, list) else value


STATUSES = [201, 204, 299, 304, 399, 400, 401, 404, 409, 419, 422, 500, 501, 600, 999]
HEADERS = [
    (b"content-type", b"\xff"), (b"content-type", b"application/json; charset=nonsense"),
    (b"etag", b'\xff\xfe"'), (b"location", b"\xff://["), (b"retry-after", b"1e400"),
    (b"set-cookie", b"a=\xff; expires=Fri, 99 Foo 9999999 99:99:99; max-age=" + b"9" * 5000),
]  # fmt: skip


class Distorting(httpx.BaseTransport):
    """Alters answers of the mock, after those with which a session begins."""

    def __init__(self, inner: httpx.BaseTransport, seed: int) -> None:
        self.inner, self.asked = inner, 0
        self.drawn = random.Random(seed)  # noqa: S311

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        reply = self.inner.handle_request(request)
        body, status = reply.read(), reply.status_code
        headers = [(k, v) for k, v in reply.headers.raw if k.lower() != b"content-length"]
        self.asked += 1
        chance = self.drawn.random()
        if self.asked < 12:
            chance = 1.0
        if chance < 0.05:
            body = self.drawn.choice([*NO_JSON.values(), *STRANGE_JSON.values()])
        elif chance < 0.3 and body:
            body = json.dumps(altered(json.loads(body), self.drawn)).encode()
        elif chance < 0.35:
            status = self.drawn.choice(STATUSES)
        elif chance < 0.4:
            headers.append(self.drawn.choice(HEADERS))
        return httpx.Response(status, headers=headers, stream=httpx.ByteStream(body))


@pytest.mark.parametrize("seed", some(range(3), 3))
def test_no_answer_makes_a_run_fail_by_itself(
    seed: int, monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    globs = (*FEW, "loadTable.*", "listNamespaces.*", "renameTable.*", "*View.*", "error.*")
    door = Distorting(new_mock().httpx_transport(), seed)
    try:
        run = run_through(door, monkeypatch, globs=globs)
    except TargetUnusable as unusable:
        pytest.fail(f"choose another seed: {unusable}")
    errors = [(v.check, v.summary) for v in run.verdicts if v.outcome is Outcome.ERROR]
    assert errors == []
    assert run.exit_code in {1, 4, 6}
    assert {v.outcome for v in run.verdicts} > {Outcome.FAIL, Outcome.PASS}
    write_report(run, tmp_path)


@pytest.mark.parametrize("name", ["half-a-pair", "half-a-pair-in-a-name", "deep-and-closed", "nul"])
def test_nonsense_over_a_socket_is_the_catalogs_fault(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    mock = new_mock()
    monkeypatch.setattr("tests.hostile.failing_catalogs.chaos.ADDRESS", "")

    def lists(talk: Talk) -> bool:
        return talk.method == "GET" and talk.path.endswith("/tables")

    lie = where(lists, answering(200, NO_JSON[name]), honest(mock))
    with lying_socket(lie) as url:
        monkeypatch.setattr("tests.hostile.failing_catalogs.chaos.ADDRESS", url)
        run = run_through(None, monkeypatch, globs=("listTables.all",))
    outcomes = {v.outcome for v in run.verdicts}
    assert Outcome.FAIL in outcomes
    assert Outcome.ERROR not in outcomes
    write_report(run, tmp_path)
    mock.stop()


def test_headers_of_any_bytes_can_be_written_down(tmp_path) -> None:
    head = "".join(f"X-{n}: {chr(n)}\r\n" for n in range(128, 256)) + "X-Empty:\r\n"
    recorded: list[Exchange] = []
    with lying_socket(answering(200, b"{}", head)) as url:
        connection = Connection(Target(url), CONTRACT)
        wire = Wire("c", 1, Step.DO, "getConfig", "GET", f"{url}/v1/config", {}, None)
        connection.send(wire, recorded.append)
        connection.close()
    from icecheck.reports.exchanges import ExchangeLog, read_exchanges

    log = ExchangeLog(tmp_path / "log")
    log.write(recorded[0])
    log.close()
    [read] = read_exchanges(tmp_path / "log")
    assert read.response_headers == recorded[0].response_headers
