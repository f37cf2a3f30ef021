"""A server in a thread of its own: bound before `start` returns, stopped in milliseconds."""

import asyncio
import contextlib
import socket
import threading
from typing import Any

from icecheck.mock_server.http.asgi import AsgiApp, until_stopped
from icecheck.mock_server.http.protocol import HEAD_BYTES_MAX, Direct, protocol_on_h11

KEEP_ALIVE_SECONDS = 600
"""Long, so that no client sends into a connection that is being closed because it is idle."""

_STOP_SECONDS_MAX = 5.0


class ThreadedServer:
    """Serves one ASGI application on one address with uvicorn's protocol classes.

    What `direct` takes is answered without the application, where httptools is installed.

    uvicorn's own server needs 0.2 s to stop; its protocols on our loop need a few milliseconds.
    """

    def __init__(self, app: AsgiApp, host: str, port: int, direct: Direct | None = None) -> None:
        self._app = app
        self._direct = direct
        self._host = host
        self._wanted_port = port
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None
        self.port = 0

    def start(self) -> None:
        """Bind and serve; OSError if the address cannot be bound. `port` is known afterwards."""
        if self._thread is not None:
            raise RuntimeError("already started")
        listener = _listener(self._host, self._wanted_port)
        self.port = listener.getsockname()[1]
        started = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(listener, started), name="icecheck-mock", daemon=True
        )
        self._thread.start()
        started.wait()
        if self._stopping is None:
            self._thread.join()
            self._thread = None
            raise RuntimeError("the server thread ended before it served; see its traceback")

    def stop(self) -> None:
        """Close every connection and end the thread; does nothing if the server is not running."""
        thread, loop, stopping = self._thread, self._loop, self._stopping
        if thread is None or loop is None or stopping is None:
            return
        with contextlib.suppress(RuntimeError):  # the loop may have ended by itself
            loop.call_soon_threadsafe(stopping.set)
        thread.join(_STOP_SECONDS_MAX)
        self._thread = self._loop = self._stopping = None

    def _run(self, listener: socket.socket, started: threading.Event) -> None:
        loop = _new_loop()
        try:
            loop.run_until_complete(self._serve(listener, started))
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            started.set()
            listener.close()
            loop.close()

    async def _serve(self, listener: socket.socket, started: threading.Event) -> None:
        loop = asyncio.get_running_loop()
        connections: set[Any] = set()
        new_connection = _protocol_factory(
            until_stopped(self._app), self._direct, connections, loop
        )
        server = await loop.create_server(new_connection, sock=listener, backlog=2048)
        stopping = asyncio.Event()
        self._loop, self._stopping = loop, stopping
        started.set()
        await stopping.wait()
        server.close()
        for connection in list(connections):
            connection.transport.abort()
        # Connections are told that they are closed before their requests are cancelled: then there
        # is nothing left to answer, and nothing to log as an error.
        await asyncio.sleep(0)
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # One more turn of the loop, for the callbacks of the connections just aborted.
        await asyncio.sleep(0)


def _listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the default protocol number 0, asyncio leaves Nagle's algorithm on: 44 ms per answer.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(2048)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def _protocol_class() -> Any:
    """Return the protocol on httptools if that is installed, otherwise the one on h11."""
    try:
        from icecheck.mock_server.http.httptools_protocol import HttptoolsDoor
    except ImportError:
        return protocol_on_h11()
    return HttptoolsDoor


def _protocol_factory(
    app: AsgiApp, direct: Direct | None, connections: set[Any], loop: asyncio.AbstractEventLoop
) -> Any:
    from uvicorn.config import Config
    from uvicorn.server import ServerState

    door_class = _protocol_class()
    config = Config(
        app,
        http=door_class,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level=None,
        interface="asgi3",
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=HEAD_BYTES_MAX,
    )
    config.load()
    server_state = ServerState()
    server_state.connections = connections

    def new_connection() -> Any:
        reachable: dict[str, Any] = {}
        protocol = door_class(
            config=config, server_state=server_state, app_state=reachable, _loop=loop
        )
        protocol.access_log = False
        protocol.direct = direct
        # Lets the application cut its own connection: see asgi.py.
        reachable["connection"] = protocol
        return protocol

    return new_connection
