"""The state that the checks of one process share: connection, ledger, shared objects, residue."""

import contextlib
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from icecheck.client.shared_objects import RecordedRun
from icecheck.contract import Changes, Contract
from icecheck.findings.replay import Replays
from icecheck.ownership.ledger import Entry, Ledger
from icecheck.ownership.ledger_file import LedgerFile
from icecheck.replies.schema import SchemaJudge
from icecheck.targets.adaptations import Adaptations
from icecheck.targets.offer import Offer
from icecheck.targets.target import Namespace, Target
from icecheck.wire.connection import Connection
from icecheck.wire.credentials import stranger_words
from icecheck.wire.exchange import Exchange

UNKNOWN = "unknown"
"""The isolation of a session that found no place for the run's objects."""
NOT_SHOWN = "the catalog acknowledges this, and no load shows the effect"


@dataclass(frozen=True, slots=True)
class Isolation:
    """Where the run keeps its objects.

    ``nested``: under one root namespace of the run; ``flat``: in top-level namespaces that bear the
    run's token; ``parent``: under a namespace that the user gave. Every namespace of the run starts
    with ``base``.
    """

    mode: str
    base: Namespace


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """The part of a session that a report needs, in builtins only so that a worker can send it.

    ``config`` is None where the catalog has not given one.
    """

    config: dict[str, Any] | None
    isolation: str
    owner: str
    server_header: str | None
    requests: int
    latencies_ms: dict[str, list[float]]
    created: int
    deleted: int
    residue: list[str]
    foreign: list[str]
    capabilities: dict[str, bool | None] = field(default_factory=dict)
    needed_by: dict[str, list[str]] = field(default_factory=dict)
    undeclared: dict[str, str] = field(default_factory=dict)
    adaptations: list[str] = field(default_factory=list)
    answered_strangers: dict[str, list[str]] = field(default_factory=dict)
    permitted: list[str] = field(default_factory=list)
    undropped: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Session:
    """The state that the checks of one process share; ``open_session`` makes it, ``close`` ends it.

    Threads may share it: a thread that makes an object for others holds ``sharing`` meanwhile.
    ``stranded`` are the objects that the checks could not remove.
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
    spec: str
    """The release whose document the catalog is held to; the contract's own, or an older one."""
    server_header: str | None = None
    exchanges: list[Exchange] = field(default_factory=list)
    stranded: list[Entry] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    remarks: dict[Entry, str] = field(default_factory=dict)
    keeps_full_namespaces: bool = False
    """Whether the catalog was seen to refuse to drop a namespace that holds something."""
    undropped: set[str] = field(default_factory=set)
    """The kinds of objects that the catalog says it has dropped and still shows (verdict-rules 19).

    Whatever else a run makes would stay: only that drop is judged.
    """
    elsewhere: list[Offer] = field(default_factory=list)
    """The offers for other warehouses of the catalog to which requests of the run may go too."""
    created: int = 0
    deleted: int = 0
    capabilities: dict[str, bool | None] = field(default_factory=dict)
    unkept: dict[str, str] = field(default_factory=dict)
    """Capabilities that the catalog does not refuse and does not have either -> what it does."""
    kept: dict[str, bool] = field(default_factory=dict)
    """Requirement of an effect -> whether a load shows it, for those that were tried."""
    forbidden: set[str] = field(default_factory=set)
    """Demanded capabilities that the run's credentials have no right to."""
    needed_by: dict[str, set[str]] = field(default_factory=dict)
    undeclared: dict[str, str] = field(default_factory=dict)
    on_exchange: Callable[[Exchange], None] | None = None
    journal: LedgerFile | None = None
    worker: str = ""
    replays: Replays = field(default_factory=Replays)
    """Histories that checks run again."""
    sharing: threading.RLock = field(default_factory=threading.RLock)
    root_made: Exchange | None = None
    shared: object = None
    """The setup that checks share, once one has asked for it; ``client.shared_setup`` sets it."""
    at_close: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    """Callbacks that remove things before the connection is closed, the newest first."""
    adaptations: Adaptations = field(default_factory=Adaptations)
    strangers: bool = False
    """Whether something other than the catalog has answered in its place for a while."""
    answered_strangers: dict[str, set[str]] = field(default_factory=dict)
    """Operations that succeeded for callers without a right, by how these callers came."""
    permitted: set[str] = field(default_factory=set)
    """Operations that succeeded with the run's own credentials."""
    config_url: str = ""
    ledgered: Counter[Entry] = field(default_factory=Counter)
    """Objects of the run whose own names do not bear its token, in namespaces that do."""
    recorded: RecordedRun | None = None
    """The recording that answers in the catalog's place, if this is a replay."""
    _counting: threading.Lock = field(default_factory=threading.Lock)

    @property
    def owner(self) -> str:
        """The token that stands in every name of this run."""
        return self.target.owner(self.run_id)

    def base_url(self, operation_id: str) -> str:
        """Return the URL before an operation's path; the config may send clients to another one."""
        precedes_config = self.contract.operations[operation_id].precedes_config
        return self.config_url if precedes_config else self.target.base_url

    def probe_id(self, name: str) -> str:
        """Return the check id of a probe; it names the worker, so that names do not collide."""
        return f"probe.{name}{self.worker}"

    def record(self, exchange: Exchange) -> Exchange:
        """Keep an exchange without its secrets, and return it so; may be called from any thread."""
        self._note_stranger(exchange)
        redacted = self.connection.redactor.exchange(exchange)
        self.exchanges.append(redacted)
        if self.on_exchange is not None:
            self.on_exchange(redacted)
        return redacted

    def saw(self, capability: str, check_id: str, *, present: bool) -> None:
        """Remember what a check's own requests showed of a capability; one refusal decides."""
        with self.sharing:
            before = self.capabilities.get(capability)
            self.capabilities[capability] = present and before is not False
            self.needed_by.setdefault(capability, set()).add(check_id)

    def _note_stranger(self, exchange: Exchange) -> None:
        """Remember a success for a caller who shows no valid credentials, where the run has some.

        Config, tokens and what neither shows nor changes an object may be for everybody.
        """
        operation = self.contract.operations.get(str(exchange.operation))
        ok = 200 <= (exchange.status or 0) < 300
        if not ok or operation is None:
            return
        how = stranger_words(exchange.request_headers) if self.target.authenticates else ""
        if not how:
            if self.connection.shows_own(exchange):
                self.permitted.add(operation.id)
            return
        theirs = operation.precedes_config or operation.facts.changes is Changes.ASIDE
        if not theirs and (exchange.claims_json or not exchange.response_body):
            self.answered_strangers.setdefault(how, set()).add(operation.id)

    @property
    def residue(self) -> list[str]:
        """The objects that the checks could not remove, in words."""
        return [
            f"{entry} ({self.remarks[entry]})" if entry in self.remarks else str(entry)
            for entry in self.stranded
        ]

    def absorb(self, ledger: Ledger) -> None:
        """Add the counts and remaining objects of a check's ledger."""
        with self._counting:
            self.created += ledger.created
            self.deleted += ledger.deleted
            self.stranded += ledger
            self.foreign += ledger.foreign
            self.remarks |= ledger.remarks

    def summary(self) -> SessionSummary:
        """Return the part of this session that a report needs, without secrets.

        Call it after ``close``.
        """
        redactor, server = self.connection.redactor, self.server_header
        return SessionSummary(
            config=redactor.json(self.config),
            isolation=self.isolation.mode,
            owner=self.owner,
            server_header=None if server is None else redactor.text(server),
            requests=self.connection.requests,
            latencies_ms=dict(self.connection.latencies_ms),
            created=self.created,
            deleted=self.deleted,
            residue=[redactor.text(each) for each in self.residue],
            foreign=[redactor.text(each) for each in self.foreign],
            capabilities=dict(self.capabilities),
            needed_by={name: sorted(ids) for name, ids in self.needed_by.items()},
            undeclared=dict(self.undeclared),
            answered_strangers={how: sorted(ids) for how, ids in self.answered_strangers.items()},
            permitted=sorted(self.permitted),
            adaptations=[redactor.text(each) for each in self.adaptations.records],
            undropped=sorted(self.undropped),
        )

    def close(self) -> None:
        """Remove what the checks shared, if anything, and close the connection."""
        self.at_close.close()
        self.absorb(self.root)
        if self.journal is not None:
            self.journal.close(keep=bool(self.residue))
        self.connection.close()


@dataclass(slots=True)
class Beginning:
    """What is known of a catalog while a session is opened: a run that ends then reports it.

    ``owner`` is the run's token. ``sent`` are the exchanges before there is a session, as they are.
    """

    owner: str = ""
    connection: Connection | None = None
    config: dict[str, Any] | None = None
    session: Session | None = None
    sent: list[Exchange] = field(default_factory=list)

    @property
    def exchanges(self) -> list[Exchange]:
        """The exchanges so far without their secrets."""
        if self.session is not None:
            return self.session.exchanges
        if self.connection is None:
            return []
        return [self.connection.redactor.exchange(each) for each in self.sent]

    def summary(self) -> SessionSummary:
        """Return what a report needs, without secrets; call it when the connection is closed."""
        if self.session is not None:
            return self.session.summary()
        connection, exchanges = self.connection, self.exchanges
        config = self.config if connection is None else connection.redactor.json(self.config)
        return SessionSummary(
            config=config,
            isolation=UNKNOWN,
            owner=self.owner,
            server_header=exchanges[-1].header("server") if exchanges else None,
            requests=0 if connection is None else connection.requests,
            latencies_ms={} if connection is None else dict(connection.latencies_ms),
            created=0,
            deleted=0,
            residue=[],
            foreign=[],
        )
