"""PyIceberg on the catalog under test: opened for one check, and its errors told apart.

An error of PyIceberg is a finding only where the catalog's answer is what stops it.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from icecheck.client.catalog import Catalog
from icecheck.findings.statuses import Statuses
from icecheck.findings.symptoms import Severity, declare
from icecheck.findings.verdict import SkipKind
from icecheck.installing import how_to_have
from icecheck.judging.probes import is_refusal
from icecheck.ownership.request_guard import ForeignRequest
from icecheck.replies.expect import Blocked, NotOffered, Violation, blocked_by_shape
from icecheck.targets.unwritable import Unwritable
from icecheck.wire.unreachable import Unreachable

if TYPE_CHECKING:
    from pyiceberg.catalog.rest import RestCatalog
    from pyiceberg.catalog.rest.auth import AuthManager
    from requests import Session

    from icecheck.witnesses.relay import Carried, Relay

_UNREADABLE = declare(
    "client-answer-unreadable",
    "A client cannot read an answer that fits its schema",
    Severity.SHAPE,
    "PyIceberg: the call fails although it was carried out",
)
# What says by itself how a check ends, whatever the client makes of it.
_ENDINGS = (Blocked, ForeignRequest, NotOffered, Unreachable, Unwritable, Violation)
_WORDS_MAX = 160

# What PyIceberg tries again it tells its log: without a handler, that would be the terminal.
logging.getLogger("pyiceberg").addHandler(logging.NullHandler())


class PyIceberg:
    """PyIceberg with the run's connection; ``rest`` is its catalog, ``relay`` carries requests."""

    __slots__ = ("catalog", "relay", "rest")

    def __init__(self, catalog: Catalog, relay: "Relay", properties: Mapping[str, Any]) -> None:
        self.catalog = catalog
        self.relay = relay
        with self.step("connect"):
            self.rest = _connected(catalog, relay, properties)

    @property
    def name(self) -> str:
        """The client as reports call it."""
        return f"PyIceberg {version('pyiceberg')}"

    @contextmanager
    def step(self, what: str, *, capability: str = "") -> Iterator[list["Carried"]]:
        """Do one thing with the client, which has to succeed; its requests are listed afterwards.

        Raises Violation for an answer that stops the client, and NotOffered where nothing shows
        that an answer of the catalog stops it, or where it refuses a ``capability`` that it need
        not have.
        """
        done: list[Carried] = []
        before = len(self.relay.carried)
        try:
            yield done
        except _ENDINGS:
            raise
        except Exception as error:
            raise self._stopped(what, error, before, capability) from error
        done += self.relay.since(before)

    def refused(self, what: str, status: int, act: Callable[[], object]) -> None:
        """Do one thing that the catalog has to refuse with this status."""
        before = len(self.relay.carried)
        try:
            act()
        except _ENDINGS:
            raise
        except Exception as error:
            if not self.relay.since(before) or not _is_about_an_answer(error):
                raise self._by_itself(what, error) from error
        sent = self.relay.since(before)
        if not sent:
            raise self.gap(f"sends nothing to {what}")
        sent[-1].reply.expect(status, detail=f"{self.name}: {what}")

    def gap(self, words: str) -> NotOffered:
        """Return the end of a check which the client, not the catalog, makes impossible."""
        return NotOffered(f"{self.name} {words}", SkipKind.HARNESS_GAP)

    def _stopped(self, what: str, error: Exception, before: int, capability: str) -> Exception:
        """Return how a check ends whose client stopped with an error."""
        sent = self.relay.since(before)
        detail = f"{self.name} cannot {what}"
        is_told = _is_about_an_answer(error) or _is_unread(error)
        if sent and not sent[-1].reply.ok and is_told:
            last = sent[-1]
            if capability and is_refusal(last.reply):
                reason = f"the catalog has no {capability}: it answers {last.reply.status}"
                return NotOffered(reason, SkipKind.NOT_APPLICABLE)
            due = self.catalog.contract.operations[last.operation_id].success
            return last.reply.wrong_status(Statuses.of(int(due.rpartition(".")[2])), detail=detail)
        if sent and _is_unread(error):
            reply = sent[-1].reply
            blocked = blocked_by_shape(reply.exchange, self.catalog.session.schemas)
            return blocked or reply.violation(
                _UNREADABLE, "an answer that the client reads", _words(error), detail=detail
            )
        if isinstance(error, NotImplementedError):
            return NotOffered(f"{detail}: {_words(error)}", SkipKind.NOT_DECLARED)
        return self._by_itself(what, error)

    def _by_itself(self, what: str, error: Exception) -> NotOffered:
        """Return the end of a check whose client stopped for a reason of its own."""
        words = f"{type(error).__name__}: {_words(error)}"
        if _is_about_files(error):
            return self.gap(f"cannot reach the files of the catalog's tables: {words}")
        return self.gap(f"fails by itself to {what}: {words}")


@contextmanager
def pyiceberg(catalog: Catalog, *, credential: str | None = None) -> Iterator[PyIceberg]:
    """Open PyIceberg on the catalog under test; close it at the end.

    It shows the run's credentials, or the tokens that it gets for a ``credential`` by itself.
    Raises NotOffered where PyIceberg or PyArrow is not installed.
    """
    require_pyiceberg()
    from icecheck.witnesses.relay import Relay

    relay = Relay(catalog, shows_own_tokens=credential is not None)
    properties: dict[str, Any] = {"auth": {"type": "noop"}}
    if credential is not None:
        target = catalog.target
        properties = {"credential": credential, "oauth2-server-uri": target.token_endpoint}
        properties |= {"scope": target.scope} if target.scope else {}
    client = PyIceberg(catalog, relay, properties)
    try:
        yield client
    finally:
        client.rest.close()


@contextmanager
def another(client: PyIceberg) -> Iterator[PyIceberg]:
    """Open a second PyIceberg in the same check; close it at the end."""
    second = PyIceberg(client.catalog, client.relay, {"auth": {"type": "noop"}})
    try:
        yield second
    finally:
        second.rest.close()


def require_pyiceberg() -> None:
    """Raise NotOffered unless PyIceberg and PyArrow are installed."""
    for package in ("pyiceberg", "pyarrow"):
        try:
            version(package)
        except PackageNotFoundError:
            raise NotOffered(
                f"{package} is not installed: {how_to_have('clients')}",
                SkipKind.HARNESS_GAP,
            ) from None


def _connected(catalog: Catalog, relay: "Relay", properties: Mapping[str, Any]) -> "RestCatalog":
    """Return PyIceberg's catalog; every session of it sends by the relay."""
    from pyiceberg.catalog.rest import RestCatalog

    class RelayedRestCatalog(RestCatalog):  # type: ignore[misc]
        """Mounts the relay on every session, the one that asks for the config included."""

        def _create_session(self) -> "Session":
            return _mounted(super()._create_session(), relay)

        def _create_legacy_oauth2_auth_manager(self, session: "Session") -> "AuthManager":
            # The base class fetches a token here, before the session is complete.
            return super()._create_legacy_oauth2_auth_manager(_mounted(session, relay))

    target = catalog.target
    settings = {"uri": catalog.session.config_url, **properties}
    settings |= {"warehouse": target.warehouse} if target.warehouse is not None else {}
    settings |= {"prefix": target.prefix} if target.prefix is not None else {}
    return RelayedRestCatalog("icecheck", **settings)


def _mounted(session: "Session", relay: "Relay") -> "Session":
    for scheme in ("http://", "https://"):
        session.mount(scheme, relay)
    session.trust_env = False
    return session


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _is_about_an_answer(error: Exception) -> bool:
    """Return whether an error of PyIceberg says what the catalog has answered."""
    from requests import HTTPError

    return any(isinstance(each, HTTPError) for each in _causes(error))


def _is_unread(error: Exception) -> bool:
    """Return whether PyIceberg could not read an answer; it checks its own requests as well."""
    from pydantic import ValidationError

    return isinstance(error, ValidationError) and error.title.endswith("Response")


def _is_about_files(error: Exception) -> bool:
    from pyarrow import ArrowException

    return isinstance(error, OSError | ModuleNotFoundError | ArrowException) or (
        isinstance(error, ValueError) and "filesystem" in str(error).lower()
    )


def _words(error: Exception) -> str:
    lines = str(error).strip().splitlines() or ["no words"]
    return lines[0] if len(lines[0]) <= _WORDS_MAX else f"{lines[0][: _WORDS_MAX - 1]}…"
