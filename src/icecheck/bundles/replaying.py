"""A transport that answers each request of a check with the answer that was recorded for it."""

import gzip
import re
import threading
from dataclasses import replace
from urllib.parse import parse_qsl

import httpx

from icecheck.bundles.recording import Recording, asked_by
from icecheck.wire.answers import UnusableAnswer
from icecheck.wire.exchange import Exchange, Step
from icecheck.wire.pool import DRAFTED
from icecheck.wire.redaction import Redactor

_PURE = re.compile(r"<redacted:(?:second:|reader:)?[0-9a-f]+>(?![0-9a-zA-Z])")
_SECRET_MEMBERS = frozenset({"client_secret", "subject_token", "actor_token"})


class Unrecorded(Exception):
    """A check sends a request that the recording does not hold, or does not hold so often."""


class ReplayTransport(httpx.BaseTransport):
    """Answers from a recording; a request without a recorded answer raises Unrecorded.

    A request that cleans up, and has no recorded answer, is told that nothing is there: what is
    left to remove may depend on the order in which a run's checks came. ``raced`` are the checks
    that have sent requests from several threads, ``derived`` those that showed credentials which
    they had made from a secret: the recording has no secrets.
    """

    def __init__(self, recording: Recording, redactor: Redactor, tokens: dict[str, str]) -> None:
        self.raced: set[str] = set()
        self.derived: set[str] = set()
        self._recording = recording
        self._redactor = redactor
        self._tokens = tokens
        self._thread = threading.get_ident()
        self._lock = threading.Lock()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Return the recorded answer to a request; raises what was recorded in its place."""
        drafted: Exchange = request.extensions[DRAFTED]
        if drafted.operation == "getToken" and not drafted.check:
            return self._token_for(request.read())
        with self._lock:
            if threading.get_ident() != self._thread:
                self.raced.add(drafted.check)
            if self._shows_derived_secret(request, drafted):
                self.derived.add(drafted.check)
            found = self._found(drafted)
        if found is None:
            if drafted.step is Step.UNDO:
                return httpx.Response(404)
            if _is_beside_checks(drafted):
                raise httpx.ConnectError("nothing was recorded")
            raise Unrecorded(f"{drafted.method} {drafted.url} has no recorded answer")
        return _answered(found)

    def _found(self, drafted: Exchange) -> Exchange | None:
        asked = asked_by(drafted)
        found = self._recording.take_exactly(asked)
        if found is None:
            hidden = asked_by(self._redactor.exchange(replace(drafted, request_headers=())))
            found = self._recording.take_in_substance(hidden)
        return found or self._recording.repeated(asked, beside_checks=_is_beside_checks(drafted))

    def _shows_derived_secret(self, request: httpx.Request, drafted: Exchange) -> bool:
        """Return whether a request shows something that a check has made from a secret."""
        shown = request.headers.get("authorization", "").partition(" ")[2]
        if drafted.operation == "getToken":
            form = parse_qsl((drafted.request_body or b"").decode("latin-1"))
            shown += "".join(value for name, value in form if name in _SECRET_MEMBERS)
        return "redacted" in _PURE.sub("", shown).lower()

    def _token_for(self, form: bytes) -> httpx.Response:
        """Return a token as a server gives it: requests for the run's own tokens are not kept."""
        secret = dict(parse_qsl(form.decode())).get("client_secret", "")
        others = {self._tokens["second"], self._tokens["reader"]}
        token = secret if secret in others else self._tokens["token"]
        return httpx.Response(200, json={"access_token": token, "token_type": "bearer"})


def _is_beside_checks(drafted: Exchange) -> bool:
    """Return whether a run asks by itself whether the catalog is still there.

    How often it does depends on how checks end, so a difference in one check would add others.
    """
    return not drafted.check or drafted.check.startswith("probe.witness")


def _answered(exchange: Exchange) -> httpx.Response:
    if exchange.status is None:
        raise _error_of(exchange.error or "TransportError: no answer")
    body = exchange.response_body
    headers = [(name.encode(), value.encode()) for name, value in exchange.response_headers]
    if body and "gzip" in (exchange.header("content-encoding") or ""):
        body = gzip.compress(body)  # it was recorded as it was read
    return httpx.Response(exchange.status, headers=headers, stream=httpx.ByteStream(body))


def _error_of(told: str) -> httpx.HTTPError:
    name, _, words = told.partition(": ")
    kind = UnusableAnswer if name == "UnusableAnswer" else getattr(httpx, name, None)
    if isinstance(kind, type) and issubclass(kind, httpx.HTTPError):
        return kind(words)
    return httpx.TransportError(words)
