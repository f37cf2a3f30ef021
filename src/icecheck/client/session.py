"""One conversation with one catalog: what its checks share, what was made and what is left."""

import contextlib
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from icecheck.contract import Contract
from icecheck.ownership.ledger import Entry, Ledger
from icecheck.ownership.ledger_file import LedgerFile
from icecheck.replies.schema import SchemaJudge
from icecheck.target.adaptations import Accommodations
from icecheck.target.offer import Offer
from icecheck.target.target import Namespace, Target
from icecheck.wire.connection import Connection
from icecheck.wire.exchange import Exchange

__all__ = [
    "Isolation",
    "Session",
    "SessionSummary",
]


@dataclass(frozen=True, slots=True)
class Isolation:
    """Where the run keeps its objects.

    ``nested``: under one root namespace of the run; ``flat``: top-level namespaces that bear the
    run's token; ``parent``: under a namespace that the user gave. ``base`` is what every
    namespace of the run starts with.
    """

    mode: str
    base: Namespace


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """What a session leaves to a report, in builtins only so that a worker can send it."""

    config: dict[str, Any]
    isolation: str
    owner: str
    server_header: str | None
    requests: int
    latencies_ms: list[float]
    created: int
    deleted: int
    residue: list[str]
    foreign: list[str]
    capabilities: dict[str, bool | None] = field(default_factory=dict)
    needed_by: dict[str, list[str]] = field(default_factory=dict)
    undeclared: dict[str, str] = field(default_factory=dict)
    accommodations: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Session:
    """What the checks of one process share; ``open_session`` makes it, ``close`` ends it.

    Threads may share it: whoever makes something that others use holds ``sharing`` meanwhile.
    ``stranded`` is what the checks could not remove.
    """

    target: Target
    connection: Connection
    contract: Contract
    schemas: SchemaJudge
    run_id: str
    seed: int
    offer: Offer
    isolation: Isolation
    config: dict[str, Any]
    root: Ledger
    server_header: str | None = None
    exchanges: list[Exchange] = field(default_factory=list)
    stranded: list[Entry] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    remarks: dict[Entry, str] = field(default_factory=dict)
    keeps_full_namespaces: bool = False
    """Whether the catalog was seen to refuse to drop a namespace that holds something."""
    created: int = 0
    deleted: int = 0
    capabilities: dict[str, bool | None] = field(default_factory=dict)
    needed_by: dict[str, set[str]] = field(default_factory=dict)
    undeclared: dict[str, str] = field(default_factory=dict)
    on_exchange: Callable[[Exchange], None] | None = None
    journal: LedgerFile | None = None
    worker: str = ""
    sharing: threading.RLock = field(default_factory=threading.RLock)
    root_made: Exchange | None = None
    shared: object = None
    """What checks share, once one has asked for it: ``client.shared_setup`` keeps it here."""
    at_close: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    """What is to be removed before the session hangs up, the newest first."""
    accommodations: Accommodations = field(default_factory=Accommodations)
    strangers: bool = False
    """Whether something else has answered in the catalog's place for a while."""
    config_url: str = ""
    ledgered: Counter[Entry] = field(default_factory=Counter)
    """Objects of the run whose own names do not bear its token, in namespaces that do."""
    _counting: threading.Lock = field(default_factory=threading.Lock)

    @property
    def owner(self) -> str:
        """The token that stands in every name of this run."""
        return f"icecheck_{self.run_id}"

    def base_url(self, operation_id: str) -> str:
        """Return what an operation's path is appended to: a config may send clients elsewhere."""
        precedes_config = self.contract.operations[operation_id].precedes_config
        return self.config_url if precedes_config else self.target.base_url

    def probe_id(self, name: str) -> str:
        """Return the check id of a probe: every worker makes objects of its own."""
        return f"probe.{name}{self.worker}"

    def record(self, exchange: Exchange) -> None:
        """Keep an exchange without its secrets; from any thread."""
        redacted = self.connection.redactor.exchange(exchange)
        self.exchanges.append(redacted)
        if self.on_exchange is not None:
            self.on_exchange(redacted)

    @property
    def residue(self) -> list[str]:
        """What the checks could not remove, in words."""
        return [
            f"{entry} ({self.remarks[entry]})" if entry in self.remarks else str(entry)
            for entry in self.stranded
        ]

    def absorb(self, ledger: Ledger) -> None:
        """Take over what a check's ledger says: counts, and what could not be removed."""
        with self._counting:
            self.created += ledger.created
            self.deleted += ledger.deleted
            self.stranded += ledger
            self.foreign += ledger.foreign
            self.remarks |= ledger.remarks

    def summary(self) -> SessionSummary:
        """Return what a report needs of this session, without secrets; call it after ``close``."""
        redactor, server = self.connection.redactor, self.server_header
        return SessionSummary(
            config=redactor.json(self.config),
            isolation=self.isolation.mode,
            owner=self.owner,
            server_header=None if server is None else redactor.text(server),
            requests=self.connection.requests,
            latencies_ms=self.connection.latencies_ms,
            created=self.created,
            deleted=self.deleted,
            residue=[redactor.text(each) for each in self.residue],
            foreign=[redactor.text(each) for each in self.foreign],
            capabilities=dict(self.capabilities),
            needed_by={name: sorted(ids) for name, ids in self.needed_by.items()},
            undeclared=dict(self.undeclared),
            accommodations=[redactor.text(each) for each in self.accommodations.records],
        )

    def close(self) -> None:
        """Remove what the checks shared, if anything, and hang up."""
        self.at_close.close()
        self.absorb(self.root)
        if self.journal is not None:
            self.journal.close(keep=bool(self.residue))
        self.connection.close()
