"""`CatalogProxy`: listens, hands requests on to a catalog, and ends in a run."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from icecheck.findings.verdict import Run
from icecheck.mock_server.http.hosts import hosts_of
from icecheck.mock_server.http.listening import Listening
from icecheck.mock_server.linting.client_lint import ClientLint
from icecheck.proxy.forwarding import Forwarder
from icecheck.proxy.result import proxied_run
from icecheck.proxy.watching import Watch
from icecheck.run.options import RunOptions
from icecheck.targets.target import UsageError
from icecheck.wire.exchange import Exchange


class CatalogProxy:
    """A recording reverse proxy before the target of a run.

    `lint`: judge what clients send as well, which needs openapi-core. `record` gets each exchange
    without its secrets. Raises UsageError for a target whose requests are signed, and for a host
    that is none. ``refused`` counts the requests that were not handed on, by why.
    """

    def __init__(
        self,
        options: RunOptions,
        record: Callable[[Exchange], object],
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        allow_hosts: Iterable[str] = (),
        lint: bool = True,
    ) -> None:
        target, options = options.target, replace(options, groups=())  # it runs no check
        if target.sigv4 is not None:
            raise UsageError(
                "signed requests cannot be handed on, because a signature covers the host: judge "
                "this catalog by icecheck run --sigv4 REGION/SERVICE"
            )
        try:
            hosts = hosts_of(host, allow_hosts)
        except ValueError as error:
            raise UsageError(str(error)) from None
        self._options = options
        self.refused: Counter[str] = Counter()
        self._past: dict[str, None] = {}
        self._listening = Listening(host, port)
        self._started_at = datetime.now(UTC)
        self._watch = Watch(
            target,
            options.contract,
            options.redactor,
            record,
            ClientLint(options.contract) if lint else None,
        )
        self._app = Forwarder(
            target,
            lambda: self._listening.uri,
            self._watch.take,
            self._past.setdefault,
            self._refuse,
            hosts,
        )

    @property
    def uri(self) -> str:
        """The base address for clients, with the path of the catalog's."""
        return f"{self._listening.uri}{urlsplit(self._options.target.base_url).path}"

    def start(self) -> None:
        """Listen; OSError if the address is taken."""
        self._listening.start(self._app)

    def stop(self) -> None:
        """Stop listening, and close all connections."""
        self._listening.stop()

    @property
    def waiting(self) -> int:
        """How many exchanges are still to be judged."""
        return self._watch.waiting

    def result(self) -> Run:
        """Return the run, once it has stopped; to be called once."""
        self._watch.end()
        return proxied_run(
            self._options,
            self._watch,
            started_at=self._started_at,
            past=(*self._past, *self._watch.past),
            refused=self.refused,
        )

    def _refuse(self, why: str) -> None:
        self.refused[why] += 1

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
