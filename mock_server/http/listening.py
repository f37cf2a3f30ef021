"""Where a server listens: bound while it runs, with an address for clients."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from icecheck.mock_server.http.asgi import AsgiApp, CatalogApplication
    from icecheck.mock_server.http.protocol import Direct
    from icecheck.mock_server.http.threaded import ThreadedServer


class Listening:
    """The socket of one server, at a host and a port; port 0 takes any free one."""

    __slots__ = ("_host", "_port", "_server")

    def __init__(self, host: str, port: int) -> None:
        self._host = host
        self._port = port
        self._server: ThreadedServer | None = None

    @property
    def is_on(self) -> bool:
        """Whether it listens."""
        return self._server is not None

    def start(self, app: "AsgiApp", direct: "Direct | None" = None) -> None:
        """Listen; the socket is bound when this returns. OSError if the address is taken."""
        from icecheck.mock_server.http.threaded import ThreadedServer

        server = ThreadedServer(app, self._host, self._port, direct)
        server.start()
        self._server = server

    def start_direct(self, application: "CatalogApplication") -> None:
        """Listen as `start` does, and answer most requests without ASGI."""
        self.start(application, application)

    def stop(self) -> None:
        """Stop listening, and close all connections."""
        server, self._server = self._server, None
        if server is not None:
            server.stop()

    @property
    def port(self) -> int:
        """The port that it listens on; RuntimeError if it does not."""
        if self._server is None:
            raise RuntimeError("not started: use it as a context manager, or call start()")
        return self._server.port

    @property
    def uri(self) -> str:
        """The base address for clients (without `/v1`); RuntimeError if it does not listen."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self.port}"
