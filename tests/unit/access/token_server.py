"""A server that gives tokens, a catalog beside it that wants one, and a clock that stands."""

from collections.abc import Callable
from urllib.parse import parse_qs

import httpx

from icecheck.targets.target import SigV4

ENDPOINT = "http://h/v1/oauth/tokens"
KEYS = SigV4("eu-west-1", "glue", "AKIDEXAMPLE", "wJalrXUtnFEMI-K7MDENG", "temporary-1")


class Clock:
    seconds = 1_000.0

    def now(self) -> float:
        return self.seconds


class TokenServer:
    """Gives the tokens t1, t2 …; a catalog beside it lets in who shows one of ``accepted``."""

    def __init__(self, **told: object) -> None:
        self.told = told
        self.forms: list[dict[str, list[str]]] = []
        self.asked: list[httpx.Request] = []
        self.accepted: set[str] | None = None
        self.before_answer: Callable[[], object] = lambda: None

    def __call__(self, request: httpx.Request) -> httpx.Response:
        # A flow sends the same object again with other headers.
        headers, content = request.headers.copy(), request.content
        self.asked.append(
            httpx.Request(request.method, request.url, headers=headers, content=content)
        )
        if str(request.url) == ENDPOINT:
            self.forms.append(parse_qs(request.content.decode()))
            token = {"access_token": f"t{len(self.forms)}", "token_type": "bearer"}
            return httpx.Response(200, json=token | self.told)
        self.before_answer()
        said = request.headers.get("original-authorization", request.headers.get("authorization"))
        shown = (said or "").removeprefix("Bearer ")
        is_in = self.accepted is None or shown in self.accepted
        return httpx.Response(200 if is_in else 401, json={})

    @property
    def shown(self) -> list[str | None]:
        """The Authorization of each request for something else than a token."""
        return [r.headers.get("authorization") for r in self.asked if str(r.url) != ENDPOINT]
