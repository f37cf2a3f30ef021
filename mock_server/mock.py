"""`MockCatalog`: a whole catalog as one object, for tests, notebooks and the command line."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import FrameType, MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Self

import msgspec

from icecheck.contract import load
from icecheck.mock_server import names
from icecheck.mock_server.app import App
from icecheck.mock_server.clock import Clock, clock_from
from icecheck.mock_server.context import Context
from icecheck.mock_server.faults import FaultRule, Faults
from icecheck.mock_server.files import Files
from icecheck.mock_server.identity import Identities
from icecheck.mock_server.journal import Journal
from icecheck.mock_server.operations.served import default_registries
from icecheck.mock_server.planning.plans import PlanningSettings, Plans
from icecheck.mock_server.root import Root
from icecheck.mock_server.state import WarehouseState
from icecheck.mock_server.warehouses import (
    DEFAULT_WAREHOUSE,
    Warehouse,
    WarehouseDeclaration,
    Warehouses,
)

if TYPE_CHECKING:
    import httpx
    from pyiceberg.catalog.rest import RestCatalog
    from requests.adapters import BaseAdapter

    from icecheck.mock_server.asgi import AsgiApp

IN_PROCESS_URI = "http://icecheck.invalid"
"""The address that in-process clients are given; nothing is ever sent to it."""


class MockSnapshot(msgspec.Struct, frozen=True):
    """The states of all warehouses at one moment."""

    states: Mapping[str, WarehouseState]


class MockWarehouse(msgspec.Struct, frozen=True):
    """A warehouse of a running mock catalog: what a test needs to connect to it."""

    mock: "MockCatalog"
    warehouse: str

    @property
    def uri(self) -> str:
        """The base address of the server, without `/v1`."""
        return self.mock.uri

    def pyiceberg(self, *, in_process: bool = False, **properties: str) -> "RestCatalog":
        """A pyiceberg catalog on this warehouse."""
        return self.mock.pyiceberg(self.warehouse, in_process=in_process, **properties)

    def spark_conf(self, name: str) -> dict[str, str]:
        """Spark's settings for a catalog of this name on this warehouse."""
        return self.mock.spark_conf(name, self.warehouse)

    def state(self) -> WarehouseState:
        """What the warehouse holds now."""
        return self.mock.state(self.warehouse)


class MockCatalog:
    """An Iceberg REST catalog in this process.

    - `seed`, `clock`: the same requests then get the same bytes (give `root` too, it is part of
      table locations). `clock` is epoch milliseconds, ISO 8601 text, or a Clock.
    - `warehouses`: names or WarehouseDeclarations; then any other is refused. None opens a
      warehouse, empty, whenever a client asks for it.
    - `token`: if given, every request needs `Authorization: Bearer <token>`.
    - `root`: where tables live: a directory or a URI. A URI that is not `file:` keeps metadata
      files in memory. By default a fresh temporary directory, removed by `stop`.
    - `planning`: how scans are planned: at once or asked for, how many tasks come at once.
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
        page_size_max: int = 1000,
        prefix: bool = True,
        journal_entries_max: int = 10_000,
        planning: PlanningSettings | None = None,
    ) -> None:
        if page_size_max < 1:
            raise ValueError("page_size_max must be at least 1")
        self.token = token
        self.clock = clock_from(clock)
        self.files = Files()
        self.identities = Identities(seed)
        self.registries = default_registries()
        self.journal = Journal(journal_entries_max)
        self.plans = Plans(planning)
        self._page_size_max = page_size_max
        self._root = Root(root, seed)
        self._host = host
        self._port = port
        self._server: Any = None
        declarations = None if warehouses is None else [_declaration(each) for each in warehouses]
        self.warehouses = Warehouses(declarations, self._new_context, served_prefix=prefix)
        self.app = App(
            load().operations.values(), self.warehouses, self.registries, self.journal, token=token
        )

    @property
    def faults(self) -> Faults:
        """What goes wrong on purpose; `fault` adds a rule for the length of a block."""
        return self.app.faults

    @contextlib.contextmanager
    def fault(self, fault: str, **settings: Any) -> Iterator[FaultRule]:
        """Let something go wrong inside a block: `with mock.fault("answer-lost", table="db.t")`.

        Settings are those of FaultRule; the rule's `fired` says how often it happened. Raises
        UnknownFault for a fault or a setting that does not exist.
        """
        rule = self.faults.add(fault, **settings)
        try:
            yield rule
        finally:
            self.faults.remove(rule)

    # Serving

    def start(self) -> Self:
        """Listen; the socket is bound when this returns. OSError if the address is taken."""
        from icecheck.mock_server.threaded import ThreadedServer

        if self._server is not None:
            raise RuntimeError("already started")
        server = ThreadedServer(self.asgi(), self._host, self._port)
        server.start()
        self._server = server
        return self

    def stop(self) -> None:
        """Stop listening, close all connections, and remove the temporary root if there is one."""
        server, self._server = self._server, None
        if server is not None:
            server.stop()
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

    def serve_forever(self, on_ready: Callable[["MockCatalog"], None] | None = None) -> None:
        """Serve until SIGINT or SIGTERM, then stop cleanly; for the main thread of a process."""
        ended = threading.Event()

        def end(_number: int, _frame: FrameType | None) -> None:
            ended.set()

        before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            with self:
                if on_ready is not None:
                    on_ready(self)
                ended.wait()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @property
    def port(self) -> int:
        """The port it listens on; RuntimeError if it is not started."""
        if self._server is None:
            raise RuntimeError("not started: use it as a context manager, or call start()")
        return int(self._server.port)

    @property
    def uri(self) -> str:
        """The base address for clients (without `/v1`); RuntimeError if it is not started."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self.port}"

    # Clients

    def asgi(self) -> "AsgiApp":
        """The catalog as an ASGI application."""
        from icecheck.mock_server.asgi import asgi_app

        return asgi_app(self.app)

    def httpx_transport(self) -> "httpx.BaseTransport":
        """A transport for httpx.Client that reaches the catalog without a socket."""
        from icecheck.mock_server.httpx_transport import InProcessTransport

        return InProcessTransport(self.app)

    def requests_adapter(self) -> "BaseAdapter":
        """An adapter for requests.Session.mount that reaches the catalog without a socket."""
        from icecheck.mock_server.requests_adapter import InProcessAdapter

        return InProcessAdapter(self.app)

    def pyiceberg(
        self, warehouse: str = DEFAULT_WAREHOUSE, *, in_process: bool = False, **properties: str
    ) -> "RestCatalog":
        """A pyiceberg catalog on a warehouse; `in_process` needs no started server."""
        from icecheck.mock_server.clients import pyiceberg_catalog

        adapter = self.requests_adapter() if in_process else None
        uri = IN_PROCESS_URI if in_process else self.uri
        return pyiceberg_catalog(uri, warehouse, self.token, adapter, properties)

    def spark_conf(self, name: str, warehouse: str = DEFAULT_WAREHOUSE) -> dict[str, str]:
        """Spark's settings for a catalog of this name on a warehouse."""
        from icecheck.mock_server.clients import spark_conf

        return spark_conf(name, self.uri, warehouse, self.token)

    # State

    def fresh_warehouse(self) -> MockWarehouse:
        """A warehouse that nobody has used, for one test; `remove` it by name afterwards.

        Its name is new to this server and not known to others. Only for servers that open
        warehouses on demand.
        """
        if not self.warehouses.on_demand:
            raise RuntimeError("a server with declared warehouses has no others")
        return MockWarehouse(self, f"test-{self.identities.next_version()}")

    def state(self, warehouse: str = DEFAULT_WAREHOUSE) -> WarehouseState:
        """What a warehouse holds now, as one immutable value."""
        return self._warehouse(warehouse).state

    def snapshot(self) -> MockSnapshot:
        """The present state of every warehouse; costs nothing."""
        states = {each.name: each.state for each in self.warehouses.all()}
        return MockSnapshot(MappingProxyType(states))

    def restore(self, snapshot: MockSnapshot) -> None:
        """Go back to a snapshot; warehouses opened since are emptied. Files are left alone."""
        for warehouse in self.warehouses.all():
            with warehouse.lock:
                warehouse.state = snapshot.states.get(warehouse.name, WarehouseState())

    @contextlib.contextmanager
    def checkpoint(self) -> Iterator[None]:
        """Undo, at the end of a `with` block, everything that happened in it."""
        before = self.snapshot()
        try:
            yield
        finally:
            self.restore(before)

    def reset(self, warehouse: str = DEFAULT_WAREHOUSE) -> None:
        """Empty a warehouse and forget its metadata files."""
        emptied = self._warehouse(warehouse)
        with emptied.lock:
            emptied.state = WarehouseState()
            self.files.remove_below(emptied.context.location)
        self._root.remove_below(emptied.context.location)

    def remove(self, warehouse: str) -> None:
        """Forget a warehouse with its files; on demand it can be opened again, empty."""
        self.reset(warehouse)
        self.warehouses.remove(warehouse)

    def _warehouse(self, name: str) -> Warehouse:
        found = self.warehouses.open(name)
        if found is None:
            raise KeyError(f"no such warehouse: {name}")
        return found

    def _new_context(self, warehouses: Warehouses, declaration: WarehouseDeclaration) -> Context:
        location = declaration.location
        if location is None:
            location = f"{self._root.uri()}/{names.directory_of(declaration.name)}"
        return Context(
            clock=self.clock,
            identities=self.identities,
            files=self.files,
            registries=self.registries,
            warehouses=warehouses,
            plans=self.plans,
            warehouse=declaration.name,
            location=location.rstrip("/"),
            page_size_max=self._page_size_max,
        )


def _declaration(warehouse: str | WarehouseDeclaration) -> WarehouseDeclaration:
    if isinstance(warehouse, WarehouseDeclaration):
        return warehouse
    return WarehouseDeclaration(warehouse)
