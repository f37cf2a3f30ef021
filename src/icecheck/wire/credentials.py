"""Authentication of requests: as the run's own principal, the second one, or a check's choice."""

import time
from collections.abc import Callable, Iterable, Mapping

import httpx

from icecheck.contract import Contract
from icecheck.targets.target import Principal, Target
from icecheck.wire.auth import BearerAuth, ClientCredentials
from icecheck.wire.redaction import Redactor
from icecheck.wire.signing import RELOCATED, SignedAuth, Signer

_SHOWING = frozenset({"authorization", RELOCATED.lower()})
MADE_UP_TOKEN = "5d41402abc4b2a76b9719d911017c592"  # noqa: S105 - nobody has given it
"""What a caller shows who has no valid token; a catalog does not know the suite by it."""


class Credentials:
    """The credentials that the user gave, as httpx auth flows; the redactor is told every secret.

    ``own``, ``second`` and ``reader`` are the tokens of the run, of the second principal and of the
    one who may only read.
    """

    def __init__(
        self,
        target: Target,
        contract: Contract,
        redactor: Redactor,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.own = BearerAuth(target.token, now=now)
        self.second = BearerAuth((target.second or Principal()).token, now=now)
        self.reader = BearerAuth((target.reader or Principal()).token, now=now)
        self._signer = None if target.sigv4 is None else Signer(target.sigv4)
        self._before_config = contract.before_config
        self._redactor = redactor
        self.follow(target)

    def follow(self, target: Target) -> None:
        """Fetch tokens from the endpoint of this target from now on."""
        self.own.source = _source(target, target.credential)
        self.second.source = _source(target, (target.second or Principal()).credential)
        self.reader.source = _source(target, (target.reader or Principal()).credential)
        names = {name.lower() for name in target.headers}
        self._stands_in_headers = "authorization" in names
        self.hide()

    def hide(self) -> None:
        """Tell the redactor the tokens and keys that requests are sent with at this moment."""
        self._redactor.add(self.own.token or "")
        self._redactor.add(self.second.token or "", whose="second")
        self._redactor.add(self.reader.token or "", whose="reader")
        if self._signer is not None:
            self._redactor.add(*self._signer.secrets)

    def flow(self, operation: str | None, headers: Mapping[str, str]) -> httpx.Auth:
        """Return the flow that a request is sent through, given the headers of its check.

        With an Authorization of its own the request gets no token but is signed. With an empty one
        it is anonymous and is not signed either; requests for a token are not signed.
        """
        named = _named_sender(headers)
        flow = self.own if named is None else httpx.Auth()
        if self._signer is None or operation == "getToken" or named == "":
            return flow
        return SignedAuth(self._signer, flow)

    def are_shown(self, operation: str | None, headers: Mapping[str, str]) -> bool:
        """Return whether a request shows the run's own token, and so should be let in."""
        has_token = self.own.identifies or self._stands_in_headers
        is_own = has_token and _named_sender(headers) is None
        return is_own and operation not in self._before_config

    def are_own(self, sent: Iterable[tuple[str, str]]) -> bool:
        """Return whether a request's credentials are neither the second's nor the reader's.

        A signed request shows a token beside the signature, which is always the run's.
        """
        shown = [value for name, value in sent if name.lower() in _SHOWING]
        others = [f" {token}" for token in (self.second.token, self.reader.token) if token]
        return not any(value.endswith(token) for value in shown for token in others)


def stranger_words(sent: Iterable[tuple[str, str]]) -> str:
    """Return in words how a request shows no right to anything, by its headers; "" if it may."""
    shown = _authorization(sent)
    if shown is None:
        return "without credentials"
    return "with a made-up token" if shown.endswith(f" {MADE_UP_TOKEN}") else ""


def _authorization(sent: Iterable[tuple[str, str]]) -> str | None:
    return {name.lower(): value for name, value in sent}.get("authorization")


def _source(target: Target, credential: str | None) -> ClientCredentials | None:
    if not credential:
        return None
    return ClientCredentials(credential, target.token_endpoint, target.scope)


def _named_sender(headers: Mapping[str, str]) -> str | None:
    """Return the Authorization that a check sets itself, or None."""
    found = (value for name, value in headers.items() if name.lower() == "authorization")
    return next(found, None)
