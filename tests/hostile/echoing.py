"""A catalog that tells whatever it was told: a lying socket in front of the mock."""

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, quote

import httpx

from icecheck.mock_server import MockCatalog
from tests.kit.serving import Answer, Sent, passed_on, serving
from tests.mock.limits.spelling import written

# Where messages are cut: a secret begins a little before each of these.
_CUTS = (60, 80, 120, 160, 240, 400, 600, 1000, 4000)
_FREE_REQUESTS = 12
_PRESIGNED = (
    "https://bucket.test/key?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential={0}%2F20260101%2F"
    "r%2Fs3%2Faws4_request&X-Amz-Signature={1}"
)


@dataclass(slots=True)
class Echo:
    """What the catalog hears and tells.

    ``tokens`` are given to the clients of these ids, ``told`` to every client in the config,
    ``vended`` with every table. ``refusing`` answers the config with nothing but an error.
    """

    url: str = ""
    tokens: dict[str, str] = field(default_factory=dict)
    told: dict[str, str] = field(default_factory=dict)
    vended: dict[str, str] = field(default_factory=dict)
    signed: tuple[str, str] = ("", "")
    refusing: int = 0
    heard: list[str] = field(default_factory=list)
    echoed: set[str] = field(default_factory=set)
    requests: int = 0

    def hear(self, *values: str) -> None:
        """Remember what somebody sent, or was given, once."""
        for value in values:
            if len(value) >= 8 and value not in self.heard:
                self.heard.append(value)

    def secret(self) -> str:
        """Return what is told in this answer: each in its turn."""
        if not self.heard:
            return "nothing-was-heard"
        chosen = self.heard[self.requests % len(self.heard)]
        self.echoed.add(chosen)
        return chosen

    def message(self, secret: str) -> str:
        """Return a text with every spelling, and a secret wherever texts are cut."""
        text = ""
        spellings = list(written(secret))
        for number, cut in enumerate(_CUTS):
            before = 10 + (self.requests + number) % 14
            text = text.ljust(cut - before, ".")[: max(cut - before, len(text))]
            text += f" {secret} "
        return f"{text} {' | '.join(spellings)}"


@contextlib.contextmanager
def echoing(mock: MockCatalog, echo: Echo) -> Iterator[Echo]:
    """Serve the mock behind an echo; gives the echo with its URL."""
    lock = threading.Lock()
    behind = httpx.Client(transport=mock.httpx_transport())

    def answer(sent: Sent) -> Answer:
        with lock:
            return _answer(echo, behind, sent)

    with behind, serving(answer) as echo.url:
        yield echo


def _answer(echo: Echo, behind: httpx.Client, sent: Sent) -> Answer:
    path = sent.path.partition("?")[0]
    headers = dict(sent.headers)
    form = dict(parse_qsl(sent.body.decode("latin-1"))) if b"grant_type=" in sent.body else {}
    _listen(echo, headers, form)
    if path.endswith("/oauth/tokens"):
        return _given_token(echo, form)
    echo.requests += 1
    secret = echo.secret()
    if echo.refusing:
        # Of a redirect that is not followed, the address is told.
        elsewhere = {"Location": f"{_PRESIGNED.format(*echo.signed)}&token={quote(secret)}"}
        return _json(echo.refusing, _error(echo, secret, echo.refusing), elsewhere)
    kept = {"content-type": "application/json"}
    kept |= {k: v for k, v in headers.items() if k in {"if-none-match", "idempotency-key"}}
    kept["x-iceberg-access-delegation"] = headers.get("x-iceberg-access-delegation", "")
    status, said, content = passed_on(behind, replace(sent, headers=httpx.Headers(kept)))
    if status in {204, 304} or sent.method == "HEAD":
        return status, {**said, "X-Echo": secret}, b""
    return _altered(echo, secret, path, status, said, content)


def _listen(echo: Echo, headers: dict[str, str], form: dict[str, str]) -> None:
    for name in ("client_secret", "subject_token"):
        echo.hear(form.get(name, ""))
    for name, value in headers.items():
        if name.startswith("x-canary"):
            echo.hear(value)
    scheme, _, rest = headers.get("authorization", "").partition(" ")
    if scheme == "Bearer" and not any(word in rest for word in ("icecheck", "not-")):
        echo.hear(rest)
    if scheme.startswith("AWS4"):
        echo.hear(rest.partition("Credential=")[2].partition("/")[0])
        echo.hear(headers.get("x-amz-security-token", ""))


def _given_token(echo: Echo, form: dict[str, str]) -> Answer:
    token = echo.tokens.get(form.get("client_id", ""))
    if token is None:
        error = {"error": "invalid_client", "error_description": echo.message(echo.secret())}
        return _json(401, error)
    echo.hear(token)
    issued = "urn:ietf:params:oauth:token-type:access_token"
    answer = {"access_token": token, "token_type": "bearer", "issued_token_type": issued}
    return _json(200, {**answer, "expires_in": 3600})


def _altered(
    echo: Echo, secret: str, path: str, status: int, headers: dict[str, str], content: bytes
) -> Answer:
    """Tell the truth with more beside it; after a while every few answers are wrong as well."""
    try:
        body = json.loads(content)
    except ValueError:
        return status, headers, content
    if not isinstance(body, dict):
        return status, headers, content
    spellings = [each for each in written(secret) if each.isprintable() and each.isascii()]
    headers["X-Echo"] = spellings[echo.requests % len(spellings)]
    headers[f"X-{secret.encode().hex()}"] = "a name"
    if path.endswith("/v1/config"):
        echo.hear(*echo.told.values())
        body["overrides"] = {**body.get("overrides", {}), **echo.told}
    elif "metadata-location" in body or "storage-credentials" in body:
        echo.hear(*echo.vended.values(), *echo.signed)
        presigned = _PRESIGNED.format(*echo.signed)
        body["config"] = {**body.get("config", {}), **echo.vended, "odd.place": presigned}
    if status >= 400:
        body = _error(echo, secret, status)
    body["told"] = list(written(secret))
    body |= {each: {each: 1} for each in written(secret)}
    if path.endswith("/v1/config") or echo.requests < _FREE_REQUESTS:
        return _json(status, body, headers)
    return _wrong(echo, secret, status, headers, body)


def _wrong(
    echo: Echo, secret: str, status: int, headers: dict[str, str], body: dict[str, Any]
) -> Answer:
    """Answer wrongly in every few answers, each time in another way."""
    turn = echo.requests % 9
    if turn == 2:
        headers["content-type"] = "text/plain"
        return status, headers, echo.message(secret).encode("utf-8", "replace")
    if turn == 4:
        headers["content-type"] = "application/json"
        return status, headers, json.dumps(body).encode("utf-16")
    if turn == 5 and "metadata" in body:
        metadata = dict(body["metadata"])
        metadata |= {"table-uuid": f"{'u' * 140}{secret}", "location": echo.message(secret)}
        body["metadata"] = metadata
    if turn == 6:
        lists = {"namespaces", "identifiers", "namespace", "properties"} & body.keys()
        body |= {each: [f"{'n' * 50}{secret}", echo.message(secret)] for each in lists}
    if turn == 7:
        return _json(500, _error(echo, secret, 500), headers)
    return _json(status, body, headers)


def _error(echo: Echo, secret: str, status: int) -> dict[str, Any]:
    message = echo.message(secret)
    said = {"message": message, "type": f"No{secret}Exception", "stack": [message]}
    return {"error": {**said, "code": status}}


def _json(status: int, body: Any, headers: dict[str, str] | None = None) -> Answer:
    said = {**(headers or {}), "content-type": "application/json"}
    return status, said, json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
