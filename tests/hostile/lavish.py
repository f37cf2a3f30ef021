"""The canary catalog: it is lawful, and tells every secret that it has, wherever it may.

A socket or a transport stands in front of the mock. What it adds is allowed to every catalog:
settings for clients, headers, cookies, and the words of errors. Every secret has the same letters
in its middle, so that one search finds whichever was told, in whatever spelling.
"""

import base64
import json
import random
import string
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

import httpx

from icecheck.mock_server import Client, MockCatalog, OAuth2Settings, Permissions, VendingSettings
from tests.kit.serving import Answer, Sent, passed_on
from tests.mock.limits.spelling import written

CORE = "Qz7Kx9Vw3"
"""What every secret of letters has in its middle."""
HEX_CORE = "9f3a7c51e8d2"
"""What every signature in hex has in its middle."""
_LETTERS = string.ascii_letters + string.digits
_CONFIG = "config"
_QUOTED_MAX = 12
"""The number of the last secrets that a caller was given, of which its errors tell one."""


def canary(name: str, marks: str = "+/") -> str:
    """A secret of this name, as random as real ones, and the same in every run."""
    drawn = random.Random(f"lavish {name}")  # noqa: S311 - the same in every run
    head, tail = ("".join(drawn.choices(_LETTERS, k=9)) for _ in range(2))
    return f"{head}{CORE}{marks}{tail}"


def signature(name: str) -> str:
    drawn = random.Random(f"lavish {name}")  # noqa: S311 - the same in every run
    head, tail = ("".join(drawn.choices("0123456789abcdef", k=26)) for _ in range(2))
    return f"{head}{HEX_CORE}{tail}"


def web_token(name: str) -> str:
    """A JSON Web Token: its parts are base64, and one of them holds the secret."""
    parts = [{"alg": "RS256", "typ": "JWT"}, {"sub": canary(name, "-"), "iss": "lavish"}]
    coded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode() for part in parts]
    return ".".join([*(each.rstrip("=") for each in coded), canary(f"{name} signature", "-_")])


def presigned(name: str) -> dict[str, str]:
    """Kind of storage -> a URL of an object that gives access to it by itself."""
    scope = f"{canary(f'{name} key', 'A')}/20260101/eu-west-1/s3/aws4_request"
    signed = {"X-Amz-Algorithm": "AWS4-HMAC-SHA256", "X-Amz-Credential": scope}
    signed |= {"X-Amz-Security-Token": canary(f"{name} session"), "X-Amz-Expires": "900"}
    old = {"AWSAccessKeyId": canary(f"{name} old key", "A"), "Expires": "1767229202"}
    google = {"X-Goog-Algorithm": "GOOG4-RSA-SHA256", "X-Goog-SignedHeaders": "host"}
    google |= {"X-Goog-Credential": f"{canary(f'{name} account', 'a')}/20260101/auto/storage"}
    return {
        "s3": f"https://b.test/k?{urlencode(signed)}&X-Amz-Signature={signature(name)}",
        "s3-v2": f"https://b.test/k?{urlencode(old)}&Signature={quote(canary(f'{name} v2'), '')}",
        "gcs": f"https://g.test/k?{urlencode(google)}&X-Goog-Signature={signature(f'{name} g')}",
        "adls": f"https://a.test/k?{sas(name)}",
    }


def sas(name: str) -> str:
    """The query with which Azure gives access."""
    query = {"sv": "2026-02-06", "sr": "c", "sp": "rl", "se": "2026-12-31T00:00:00Z"}
    return f"{urlencode(query)}&sig={quote(canary(f'{name} sas') + '=', safe='')}"


@dataclass(slots=True)
class Lavish:
    """A catalog that tells secrets; if it is ``wrong``, it does so where nothing is allowed to.

    ``secrets`` are those that it has told or was told, ``quoted`` those in its errors.
    """

    mock: MockCatalog
    wrong: bool = False
    url: str = ""
    secrets: set[str] = field(default_factory=set)
    quoted: set[str] = field(default_factory=set)
    _issued: dict[str, str] = field(default_factory=dict)
    _caller: str = ""
    _told_to: dict[str, list[str]] = field(default_factory=dict)
    _errors: int = 0
    _wrongs: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def answer(self) -> Callable[[Sent], Answer]:
        """A function that answers requests, one after the other."""
        behind = httpx.Client(transport=self.mock.httpx_transport())

        def answer(sent: Sent) -> Answer:
            with self._lock:
                return self._answer(behind, sent)

        return answer

    def transport(self) -> httpx.BaseTransport:
        """A transport that needs no socket."""
        answer = self.answer

        def handle(request: httpx.Request) -> httpx.Response:
            path = request.url.raw_path.decode()
            status, headers, body = answer(
                Sent(request.method, path, request.headers, request.read())
            )
            return httpx.Response(status, headers=headers, content=body)

        return httpx.MockTransport(handle)

    def _answer(self, behind: httpx.Client, sent: Sent) -> Answer:
        headers = dict(sent.headers)
        shown = self._caller = headers.get("authorization", "").partition(" ")[2]
        if real := self._issued.get(shown):
            headers["authorization"] = f"Bearer {real}"
        form = dict(parse_qsl(sent.body.decode("latin-1"))) if b"grant_type=" in sent.body else {}
        if form.get("subject_token") in self._issued:
            changed = form | {"subject_token": self._issued[form["subject_token"]]}
            sent = replace(sent, body=urlencode(changed).encode())
        heard = [shown, *(form.get(name, "") for name in ("client_secret", "subject_token"))]
        status, said, content = passed_on(behind, replace(sent, headers=headers))
        said |= self._more_headers(sent, status)
        if not content or sent.method == "HEAD" or not _is_json(said):
            return status, said, content
        body = json.loads(content)
        if "access_token" in body:
            body = self._with_tokens(body)
        elif "overrides" in body:
            body = {**body, "overrides": {**body["overrides"], **self._told("told")}}
        elif status >= 400:
            body = self._told_error(body, [each for each in heard if CORE in each])
        else:
            body = self._vending(body)
            body = self._mistaken(body) if self.wrong else body
        return status, said, json.dumps(body).encode()

    def _more_headers(self, sent: Sent, status: int) -> dict[str, str]:
        """Headers that tell a secret each, as proxies and frameworks add them."""
        session = canary(f"cookie {sent.path}")
        url = presigned("header")["s3"]
        self.secrets.add(session)
        more = {
            "Set-Cookie": f"SESSION={quote(session)}; Path=/; HttpOnly",
            "X-Upstream-Authorization": sent.headers.get("authorization", "none"),
            "X-Amz-Security-Token": canary("header session"),
            "Link": f"<{url}>; rel=alternate",
        }
        if status == 401:
            words = quote(sent.headers.get("authorization", "none"))
            more["WWW-Authenticate"] = f'Bearer error="invalid_token", error_description="{words}"'
        return more

    def _with_tokens(self, body: dict[str, Any]) -> dict[str, Any]:
        count = len(self._issued)
        token = web_token(f"token {count}") if count % 2 else canary(f"token {count}", "-._")
        self._issued[token] = body["access_token"]
        others = {"refresh_token": canary(f"refresh {count}"), "id_token": web_token(f"id {count}")}
        self.secrets |= {token, *others.values()}
        return {**body, **others, "access_token": token}

    def _told(self, name: str, only: tuple[str, ...] = ("",)) -> dict[str, str]:
        """Settings for the clients of one table, or of all: for every storage, and odd ones."""
        urls = presigned(name)
        told = {
            "s3.access-key-id": canary(f"{name} id", "A"),
            "s3.secret-access-key": canary(f"{name} key"),
            "s3.session-token": canary(f"{name} token"),
            "s3.signer.uri": urls["s3"],
            "s3.signer.endpoint": f"v1/sign?token={quote(canary(f'{name} signer'))}",
            "gcs.oauth2.token": f"ya29.{canary(f'{name} gcs', '-_')}",
            "gcs.service.url": urls["gcs"],
            "adls.sas-token.acme": sas(name),
            "adls.connection-string.acme": (
                f"DefaultEndpointsProtocol=https;AccountName=acme;"
                f"AccountKey={canary(f'{name} account')}==;EndpointSuffix=core.test"
            ),
            "adls.auth.shared-key.account.key": canary(f"{name} shared"),
            "acme.old.url": urls["s3-v2"],
            "acme.basic": f"acme:{canary(f'{name} password')}",
            "client.region": "eu-west-1",
        }
        told = {key: value for key, value in told.items() if key.startswith(only)}
        self.secrets |= {value for value in told.values() if CORE in value or HEX_CORE in value}
        heard = self._told_to.setdefault(self._caller, [])
        heard += [value for value in told.values() if CORE in value]
        del heard[:-_QUOTED_MAX]
        return told

    def _vending(self, body: dict[str, Any]) -> dict[str, Any]:
        """Add what clients of a table are given; it is the same in all answers about the table."""
        if "current-schema-id" in body.get("metadata", {}):
            told = self._told(str(body["metadata"]["table-uuid"]))
            body = {**body, _CONFIG: {**body.get(_CONFIG, {}), **told}}
        for each in body.get("storage-credentials") or ():
            each[_CONFIG] |= self._told(each["prefix"], only=("gcs.", "adls."))
        return body

    def _mistaken(self, body: dict[str, Any]) -> dict[str, Any]:
        """Tell secrets in members that checks compare, and in settings that are no texts."""
        heard = self._told_to.get(self._caller, [""])
        told, url = heard[self._wrongs % len(heard)], presigned("wrong")
        self._wrongs += 1
        if "metadata" in body and self._wrongs % 3 == 0:
            named = {"table-uuid": told, "location": url["s3"], "last-column-id": told}
            return {**body, "metadata": {**body["metadata"], **named}}
        if "storage-credentials" in body:
            wrong = [{"prefix": url["gcs"], "config": told}, told]
            return {**body, "storage-credentials": [*body["storage-credentials"], *wrong]}
        if _CONFIG in body:
            wrong = {"client.region": {told: [told]}, "acme": told}
            return {**body, _CONFIG: {**body[_CONFIG], **wrong}}
        lists = {"namespaces", "identifiers", "namespace", "properties"} & body.keys()
        return {**body, **{name: [told, url["adls"]] for name in lists}}

    def _told_error(self, body: dict[str, Any], heard: list[str]) -> dict[str, Any]:
        """Quote in an error what was shown, and one of the last things that were vended."""
        told = [*heard, *self._told_to.get(self._caller, [])[self._errors % _QUOTED_MAX :][:1]]
        told += [presigned("error")[kind] for kind in ("s3", "s3-v2", "gcs", "adls")]
        self._errors += 1
        self.quoted |= {*told}
        self.secrets |= {*told}
        words = " | ".join(self._spelled(secret) for secret in told)
        if "error_description" in body or isinstance(body.get("error"), str):
            return {**body, "error_description": words}
        if not isinstance(body.get("error"), dict):
            return {**body, "message": words}
        return {**body, "error": {**body["error"], "message": words, "stack": [words, *told]}}

    def _spelled(self, secret: str) -> str:
        """A secret in some spellings, in other ones each time, and at last cut off."""
        every = list(written(secret))
        turn = self._errors % 9
        return " , ".join([*every[turn::9], f'"{secret[: 12 + self._errors % 9]}…"'])


def lavish_mock(**options: Any) -> MockCatalog:
    """The mock behind: two principals besides the run's own, vended keys, and remote signing."""
    clients = (
        Client("first", canary("first client")),
        Client("second", canary("second client"), permissions=Permissions.nothing()),
        Client("reader", canary("reader client"), permissions=Permissions(read_only=True)),
    )
    return MockCatalog(
        seed=1,
        oauth2=OAuth2Settings(clients=clients, token_seconds=86_400),
        vending=VendingSettings(storage="s3"),
        warehouses=["wh"],
        **options,
    )


def _is_json(headers: dict[str, str]) -> bool:
    return headers.get("content-type", "").partition(";")[0] == "application/json"
