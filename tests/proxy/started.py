"""Starts a proxy before a catalog, in this process."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx

from icecheck.findings.verdict import Outcome, Run
from icecheck.proxy.proxy import CatalogProxy
from icecheck.run.options import RunOptions
from icecheck.targets.target import Target
from icecheck.wire.exchange import Exchange


@dataclass(slots=True)
class Proxied:
    """A proxy that runs, and what it has recorded; ``run`` is there once it has ended."""

    proxy: CatalogProxy
    exchanges: list[Exchange] = field(default_factory=list)
    run: Run | None = None

    @property
    def uri(self) -> str:
        """Where clients find it."""
        return self.proxy.uri

    def client(self, **options: Any) -> httpx.Client:
        """Return a client whose requests go through it."""
        return httpx.Client(base_url=self.uri, trust_env=False, timeout=30, **options)

    @property
    def failed(self) -> dict[str, str]:
        """Check -> what it says, of the checks of the answers that failed."""
        assert self.run is not None
        return {v.check: v.summary for v in self.run.verdicts if v.outcome is Outcome.FAIL}

    def observed(self, id_: str) -> list[str]:
        """Return the answers of the observations with this id."""
        assert self.run is not None
        return [each["answer"] for each in self.run.observations if each["id"] == id_]


@contextlib.contextmanager
def proxied(url: str, *, host: str = "127.0.0.1", **facts: Any) -> Iterator[Proxied]:
    """Start a proxy before the catalog at a URL; its run is there after the block."""
    exchanges: list[Exchange] = []
    options = RunOptions(Target(url, **facts), "proxied")
    proxy = CatalogProxy(options, exchanges.append, host=host)
    with proxy:
        started = Proxied(proxy, exchanges)
        yield started
    started.run = proxy.result()
