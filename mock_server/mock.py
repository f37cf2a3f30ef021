"""`MockCatalog`: a whole catalog as one object, for tests, notebooks and the command line."""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from icecheck.contract import DEFAULT_SPEC_VERSION
from icecheck.mock_server.clients.in_process import IN_PROCESS_URI
from icecheck.mock_server.core.clock import Clock, clock_from
from icecheck.mock_server.core.idempotency_settings import KEYS_BY_DEFAULT, IdempotencySettings
from icecheck.mock_server.core.identity import Identities
from icecheck.mock_server.core.journal import Journal
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.core.vending_settings import VendingSettings
from icecheck.mock_server.defects.switching import DefectSwitches
from icecheck.mock_server.http.foreground import until_told_to_stop
from icecheck.mock_server.http.hosts import hosts_of
from icecheck.mock_server.http.listening import Listening
from icecheck.mock_server.http.object_door import object_store, start_together
from icecheck.mock_server.operations.served import default_registries
from icecheck.mock_server.operations.signing import routed_operations
from icecheck.mock_server.planning.plans import PlanningSettings, Plans
from icecheck.mock_server.security.callers import Security
from icecheck.mock_server.security.settings import OAuth2Settings, checked_operations
from icecheck.mock_server.serving.app import App
from icecheck.mock_server.serving.fault_rules import FaultRule
from icecheck.mock_server.serving.faults import expect_fired
from icecheck.mock_server.serving.gates import RequestGate
from icecheck.mock_server.serving.kept_state import KeptState
from icecheck.mock_server.serving.opening import (
    Contexts,
    ServedDocument,
    check_locations,
    check_settings,
    embedded_in,
    open_warehouses,
)
from icecheck.mock_server.serving.states import MockSnapshot, States
from icecheck.mock_server.serving.warehouses import (
    DEFAULT_WAREHOUSE,
    WarehouseDeclaration,
)
from icecheck.mock_server.storage.files import Files
from icecheck.mock_server.storage.root import Root

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import httpx
    from pyiceberg.catalog.rest import RestCatalog
    from requests.adapters import BaseAdapter

    from icecheck.mock_server.admin.door import AdminDoor
    from icecheck.mock_server.clients.connection import Connection
    from icecheck.mock_server.http.asgi import AsgiApp
    from icecheck.mock_server.linting.client_lint import Violation


class MockCatalog:
    """An Iceberg REST catalog in this process.

    - `seed`, `clock`: with both, the same requests get the same bytes (give `root` too, it is part
      of table locations). `clock` is epoch milliseconds, ISO 8601 text, or a Clock.
    - `warehouses`: names or WarehouseDeclarations; every other warehouse is then refused. None
      opens an empty warehouse for each name that a client asks for.
    - `token`: if given, every request needs `Authorization: Bearer <token>`.
    - `oauth2`: if given, every request needs a token that was given to one of these clients. Both
      can be given; with neither, requests need no token, and any client gets one.
    - `vending`: the storage credentials of tables, unless a warehouse has its own setting.
    - `table_locations`: "by-name" has tables at `…/namespace/table`, as many catalogs do, "unique"
      adds a part of the uuid. It is for tables and views that are created without a location.
    - `hidden`: operationIds that are not served, as if they were not implemented.
    - `profile`: behave as a server that people meet (`profiles.PROFILES`), such as "fixture-1.10".
    - `root`: the directory or URI below which tables lie. A URI that is not `file:` keeps metadata
      files in memory. By default a fresh temporary directory, removed by `stop`.
    - `keep`: what the warehouses hold is kept in the root, which has to be a directory: the next
      server there begins with the same tables. One server at a time can have such a root.
    - `allow_locations`: directories or `file:` URIs below which files are read, written and deleted
      for clients; by default this is so below each warehouse's own location only.
    - `allow_hosts`: names (or addresses) in `Host` and `Origin` that are served besides those of
      the loopback interface and `host` itself; others get 403 on the socket.
    - `admin`: serve the administration at `/_mock/`, for clients on this machine, or for those with
      the `admin_token` if there is one.
    - `planning`: settings of scan planning: synchronous or asynchronous, tasks per answer.
    - `spec`: the version of the document that is served.
    - `idempotency`: how long idempotency keys are kept, as of 1.11.0; None: they have no meaning.
    - `namespace_separator`: percent-encoded, announced for clients to put between the levels of a
      namespace in paths; the unit separator is always understood.
    - `prefix` False serves one warehouse at paths without a prefix.

    As a context manager it listens on `host`:`port` (0: any free port). Without being started it
    serves the in-process clients only.
    """

    def __init__(
        self,
        *,
        seed: int | None = None,
        clock: Clock | int | str | None = None,
        warehouses: Iterable[str | WarehouseDeclaration] | None = None,
        token: str | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        root: str | Path | None = None,
        keep: bool = False,
        page_size_max: int = 1000,
        prefix: bool = True,
        journal_entries_max: int = 10_000,
        planning: PlanningSettings | None = None,
        oauth2: OAuth2Settings | None = None,
        vending: VendingSettings | None = None,
        table_locations: str = "unique",
        hidden: Iterable[str] = (),
        profile: str | None = None,
        allow_locations: Iterable[str | Path] = (),
        allow_hosts: Iterable[str] = (),
        admin: bool = True,
        admin_token: str | None = None,
        spec: str = DEFAULT_SPEC_VERSION,
        idempotency: IdempotencySettings | None = KEYS_BY_DEFAULT,
        namespace_separator: str | None = None,
    ) -> None:
        check_settings(page_size_max, admin_token)
        self.served = ServedDocument.of(spec, idempotency, namespace_separator)
        declared = None if warehouses is None else tuple(warehouses)
        embedded = embedded_in(declared or (), vending)
        self.token, self.clock = token, clock_from(clock)
        self._root = Root(root, seed, allow_locations)
        self._kept = KeptState(self._root.kept_directory()) if keep else None
        self.identities = Identities(seed, 0 if self._kept is None else self._kept.starts)
        hidden, install = checked_operations(hidden), None
        if profile is not None:
            from icecheck.mock_server.profiles import profile_named

            install = profile_named(profile).install
        self.registries = default_registries(spec, hidden, install)
        self.security = Security(self.clock, self.identities, token=token, oauth2=oauth2)
        self.journal = Journal(journal_entries_max)
        self.plans = Plans(planning)
        self._admin_token, self._has_admin = admin_token, admin
        self._hosts = hosts_of(host, allow_hosts)
        self._listening = Listening(host, port)
        self.objects = object_store(embedded, self.identities.token_key, self.clock)
        contexts = Contexts(
            self._root, self.clock, self.identities, self.registries, self.plans, self.security,
            vending, table_locations, page_size_max, self.served, self.objects, keep,
        )  # fmt: skip
        self.warehouses = open_warehouses(declared, contexts, served_prefix=prefix, kept=self._kept)
        is_signer = self.objects is not None or self.served.signs_by((vending, *(declared or ())))
        routed = routed_operations(self.registries.operations, spec, hidden, is_signer=is_signer)
        self.app = App(routed, self.warehouses, self.registries, self.journal, self.security)
        self.faults, self.gates = self.app.faults, self.app.gates
        self.states = States(self.warehouses, self._root)
        self.defects = DefectSwitches(self.registries)

    @property
    def files(self) -> Files:
        """The files below the root, and those in memory."""
        return self._root.files()

    @contextlib.contextmanager
    def fault(self, fault: str, **settings: Any) -> Iterator[FaultRule]:
        """Add a fault rule for a block: `with mock.fault("answer-lost", table="db.t")`.

        Settings are those of FaultRule; the rule's `fired` counts how often it was applied. Raises
        UnknownFault for a fault or a setting that does not exist, and UnfiredFault at the end of
        the block if the rule is `strict` and never fired.
        """
        rule = self.faults.add(fault, **settings)
        try:
            yield rule
        finally:
            self.faults.remove(rule)
        expect_fired([rule])

    def gate(self, operation: str, **settings: Any) -> "AbstractContextManager[RequestGate]":
        """Hold requests for a block: `with mock.gate("updateTable", holds=2) as gate`.

        Settings are those of GateRule. `gate.wait_for()` waits until the requests have arrived,
        `gate.release(order)` lets them go, one after the other; what is held at the end of the
        block goes. Raises UnknownGate for an operation or a setting that does not exist.
        """
        return self.gates.during(operation, settings)

    def start(self) -> Self:
        """Listen; the socket is bound when this returns.

        OSError if the address is taken, ValueError if tables cannot be written at their location.
        """
        from icecheck.mock_server.http.asgi import CatalogApplication

        if self._listening.is_on:
            raise RuntimeError("already started")
        if self._kept is not None and self._kept.ended:
            raise RuntimeError("its root was given up by stop(): make another MockCatalog")
        check_locations(self._root, self.warehouses)
        admin = (lambda: self._administration) if self._has_admin else None
        application = CatalogApplication(self.app, self._hosts, admin)
        start_together(self._listening, application, self.objects)
        return self

    @cached_property
    def _administration(self) -> "AdminDoor":
        from icecheck.mock_server.admin.door import AdminDoor

        return AdminDoor(self, self._admin_token)

    def stop(self) -> None:
        """Stop listening, close all connections, and remove the temporary root if there is one.

        A root whose tables are kept is free for another server from then on.
        """
        self.gates.clear()
        self._listening.stop()
        if self.objects is not None:
            self.objects.stop()
        if self._kept is not None:
            self._kept.close()
        self._root.remove()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        if kind is None:
            expect_fired(self.faults.rules)

    def serve_forever(self, on_ready: Callable[["MockCatalog"], None] | None = None) -> None:
        """Serve until SIGINT or SIGTERM, then stop cleanly; for the main thread of a process."""
        with until_told_to_stop() as wait, self:
            if on_ready is not None:
                on_ready(self)
            wait()

    @property
    def port(self) -> int:
        """The port that it listens on; RuntimeError if it is not started."""
        return self._listening.port

    @property
    def uri(self) -> str:
        """The base address for clients (without `/v1`); RuntimeError if it is not started."""
        return self._listening.uri

    def asgi(self) -> "AsgiApp":
        """Return the catalog as an ASGI application."""
        from icecheck.mock_server.http.asgi import CatalogApplication

        return CatalogApplication(self.app)

    def httpx_transport(self) -> "httpx.BaseTransport":
        """Return a transport for httpx.Client that reaches the catalog without a socket."""
        from icecheck.mock_server.clients.httpx_transport import InProcessTransport

        return InProcessTransport(self.app)

    def requests_adapter(self) -> "BaseAdapter":
        """Return an adapter for requests.Session.mount that reaches the catalog in process."""
        from icecheck.mock_server.clients.requests_adapter import InProcessAdapter

        return InProcessAdapter(self.app)

    def pyiceberg(
        self,
        warehouse: str = DEFAULT_WAREHOUSE,
        *,
        in_process: bool = False,
        credential: str | None = None,
        **properties: str,
    ) -> "RestCatalog":
        """Return a pyiceberg catalog on a warehouse; `in_process` needs no started server.

        `credential` is `ID:SECRET`; by default the static token, else the first client's.
        """
        adapter = self.requests_adapter() if in_process else None
        uri = IN_PROCESS_URI if in_process else self.uri
        known = self._connection(uri, warehouse, "icecheck", credential)
        return known.pyiceberg_catalog(adapter, properties, is_chosen=credential is not None)

    def spark_conf(
        self, name: str, warehouse: str = DEFAULT_WAREHOUSE, *, credential: str | None = None
    ) -> dict[str, str]:
        """Return Spark's settings for a catalog of this name on a warehouse; as for `pyiceberg`.

        Where the package snowpark-connect-deps-iceberg is installed (it comes with
        `icecheck[spark]`) its jar of the Iceberg runtime is among them, as `spark.jars`; otherwise
        the runtime has to be put on the session's class path. A JVM that is already running loads
        no jar.
        """
        return self.connection(warehouse, name=name, credential=credential).spark_conf()

    def connection(
        self,
        warehouse: str = DEFAULT_WAREHOUSE,
        *,
        name: str = "mock",
        credential: str | None = None,
    ) -> "Connection":
        """Return how clients reach a warehouse, in the words of each, as a catalog of this name."""
        return self._connection(self.uri, warehouse, name, credential)

    def duckdb_attach(self, warehouse: str = DEFAULT_WAREHOUSE, *, name: str = "mock") -> str:
        """Return the statements with which DuckDB attaches a warehouse."""
        return self.connection(warehouse, name=name).duckdb_attach()

    def trino_catalog(self, warehouse: str = DEFAULT_WAREHOUSE) -> str:
        """Return the properties file of a catalog of Trino."""
        return self.connection(warehouse).trino_catalog()

    def flink_conf(self, warehouse: str = DEFAULT_WAREHOUSE, *, name: str = "mock") -> str:
        """Return the statement with which Flink creates a catalog."""
        return self.connection(warehouse, name=name).flink_conf()

    def go(self, warehouse: str = DEFAULT_WAREHOUSE) -> str:
        """Return the lines with which a program in Go reaches a warehouse."""
        return self.connection(warehouse).go()

    def rust(self, warehouse: str = DEFAULT_WAREHOUSE) -> str:
        """Return the lines with which a program in Rust reaches a warehouse."""
        return self.connection(warehouse).rust()

    def js(self, warehouse: str = DEFAULT_WAREHOUSE) -> str:
        """Return the lines with which a program in JavaScript reaches a warehouse."""
        return self.connection(warehouse).js()

    def access_token(self, client_id: str, *, seconds: int | None = None) -> str:
        """Return a token for one of the `oauth2` clients; KeyError if there is no such client.

        It is such a token as the token endpoint gives.
        """
        return self.security.token_for(client_id, seconds)

    def revoke_tokens(self) -> None:
        """Refuse from now on every token given so far, except the static one."""
        self.security.revoke_tokens()

    def violations(
        self, operation: str | None = None, **matching: object
    ) -> "tuple[Violation, ...]":
        """Return what clients sent that the document forbids (needs `icecheck[suite]`)."""
        from icecheck.mock_server.linting.client_lint import violations

        return violations(self.journal.find(operation, **matching), self.served.contract)

    def state(self, warehouse: str = DEFAULT_WAREHOUSE) -> WarehouseState:
        """Return the present content of a warehouse, as one immutable value."""
        return self.warehouses.existing(warehouse).state

    def snapshot(self) -> MockSnapshot:
        """Return the present state of every warehouse; this costs nothing."""
        return self.states.snapshot()

    def restore(self, snapshot: MockSnapshot) -> None:
        """Go back to a snapshot; warehouses opened since then are emptied. Data files stay."""
        self.states.restore(snapshot)

    @contextlib.contextmanager
    def checkpoint(self) -> Iterator[None]:
        """Undo, at the end of a `with` block, everything that happened in it."""
        before = self.snapshot()
        try:
            yield
        finally:
            self.restore(before)

    def reset(self, warehouse: str | None = None) -> None:
        """Empty a warehouse, or without a name every one, and forget their metadata files.

        Faults, tokens and the journal are left as they are. KeyError for an unknown name.
        """
        if warehouse is None:
            self.states.empty_all()
        else:
            self.states.empty(self.warehouses.existing(warehouse))

    def remove(self, warehouse: str) -> None:
        """Forget a warehouse with its files; on demand it is opened again, empty."""
        self.states.remove(self.warehouses.existing(warehouse))

    def _connection(
        self, uri: str, warehouse: str, name: str, credential: str | None
    ) -> "Connection":
        from icecheck.mock_server.clients.connection import connection

        found = self.warehouses.named(warehouse)
        is_s3 = found is not None and found.context.objects is not None
        oauth2 = self.security.oauth2
        return connection(uri, warehouse, name, self.token, oauth2, credential, is_s3=is_s3)
