"""The sockets of a connection: TLS settings of the target, and a deadline for every exchange.

The time-outs of HTTP libraries hold for one read or write. A server that sends one byte a second,
or interim answers without end, never exceeds one; so each read and write here may take the time
that is left of its exchange.
"""

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any

import httpcore
import httpx

from icecheck.targets.target import Target, UsageError

_CONNECTIONS_MAX = 64
_KEPT_SECONDS = 5.0
_TROUBLES = (
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.UnsupportedProtocol,
)


class SocketTransport(httpx.BaseTransport):
    """A pool of connections to a target; threads may share it.

    The connect time-out of a request bounds its whole exchange: connecting, TLS, sending, and the
    answer to its last byte; its read time-out bounds the wait for each part of the answer. Only the
    time of the host name's look-up is up to the system. Raises UsageError for certificates that
    cannot be used.
    """

    def __init__(self, target: Target) -> None:
        self._deadline = _Deadline()
        self._pool = httpcore.ConnectionPool(
            ssl_context=tls_context(target),
            max_connections=_CONNECTIONS_MAX,
            max_keepalive_connections=_CONNECTIONS_MAX,
            keepalive_expiry=_KEPT_SECONDS,
            network_backend=_Network(self._deadline),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; the same thread reads the body of its answer by the same deadline."""
        timeouts = request.extensions["timeout"]
        self._deadline.set(timeouts.get("connect", timeouts["read"]), timeouts["read"])
        with _told_as_httpx():
            answer = self._pool.handle_request(
                httpcore.Request(
                    request.method,
                    httpcore.URL(
                        scheme=request.url.raw_scheme,
                        host=request.url.raw_host,
                        port=request.url.port,
                        target=request.url.raw_path,
                    ),
                    headers=request.headers.raw,
                    content=request.stream,
                    extensions=request.extensions,
                )
            )
        return httpx.Response(
            answer.status,
            headers=answer.headers,
            stream=_Body(answer.stream),
            extensions=answer.extensions,
        )

    def close(self) -> None:
        """Close the pool."""
        self._pool.close()


class _Deadline:
    """The deadline of the current exchange; every thread has its own."""

    def __init__(self) -> None:
        self._of_thread = threading.local()

    def set(self, seconds: float, read_seconds: float) -> None:
        self._of_thread.at = time.monotonic() + seconds
        self._of_thread.read_seconds = read_seconds

    def left(self, trouble: type[httpcore.TimeoutException]) -> float:
        """Return the seconds that are left; raise ``trouble`` if there are none."""
        seconds: float = self._of_thread.at - time.monotonic()
        if seconds <= 0:
            raise trouble("the exchange was not over in time")
        return seconds

    def left_to_read(self) -> float:
        """Return the seconds in which a part of the answer has to come; raise if none are left."""
        seconds: float = self._of_thread.read_seconds
        return min(self.left(httpcore.ReadTimeout), seconds)


class _Body(httpx.SyncByteStream):
    """The body of an answer; its errors are raised as those of httpx."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        with _told_as_httpx():
            yield from self._stream

    def close(self) -> None:
        """Return the connection to the pool, or close it if the answer was not read to its end."""
        self._stream.close()


class _Network(httpcore.NetworkBackend):
    """Opens sockets that observe the deadline."""

    def __init__(self, deadline: _Deadline) -> None:
        self._deadline = deadline
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - the deadline is in its place
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Try each address of a host; one that does not respond gets only its share of the time."""
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, OverflowError, UnicodeError) as error:
            raise httpcore.ConnectError(str(error)) from error
        addresses = [str(address[0]) for *_, address in found]
        for number, address in enumerate(addresses):
            share = self._deadline.left(httpcore.ConnectTimeout) / (len(addresses) - number)
            try:
                stream = self._sockets.connect_tcp(
                    address, port, share, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if number == len(addresses) - 1:
                    raise
            else:
                return _Stream(stream, self._deadline)
        raise httpcore.ConnectError(f"{host} has no address")


class _Stream(httpcore.NetworkStream):
    """A socket whose reads and writes may each take the time that is left."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: _Deadline) -> None:
        self._stream = stream
        self._deadline = deadline
        self._socket: socket.socket = stream.get_extra_info("socket")

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        return self._stream.read(max_bytes, self._deadline.left_to_read())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        left = memoryview(buffer)
        while left:
            # The library would allow the whole time for each part that a slow reader takes.
            self._socket.settimeout(self._deadline.left(httpcore.WriteTimeout))
            try:
                sent = self._socket.send(left)
            except TimeoutError as error:
                raise httpcore.WriteTimeout(str(error)) from error
            except OSError as error:
                raise httpcore.WriteError(str(error)) from error
            left = left[sent:]

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore.NetworkStream:
        left = self._deadline.left(httpcore.ConnectTimeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, left), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


@contextlib.contextmanager
def _told_as_httpx() -> Iterator[None]:
    """Raise httpx's exception for the httpcore exception of the same name."""
    try:
        yield
    except _TROUBLES as error:
        raise getattr(httpx, type(error).__name__)(str(error)) from error


def tls_context(target: Target) -> ssl.SSLContext | None:
    """Return how server certificates are verified and which client certificate is shown.

    None means the default of the library, which is made when needed. A config may send clients of
    an http address to one with TLS.
    """
    named = target.ca_bundle or target.client_cert
    if not named and not target.url.lower().startswith("https"):
        return None
    try:
        context = (
            httpx.create_ssl_context(trust_env=False)
            if target.ca_bundle is None
            else ssl.create_default_context(cafile=target.ca_bundle)
        )
    except (OSError, ssl.SSLError) as error:
        raise UsageError(
            f"the CA bundle {target.ca_bundle} cannot be used ({error}): give a PEM file"
        ) from None
    if target.client_cert is not None:
        _identify(context, target.client_cert, target.client_key)
    return context


def _identify(context: ssl.SSLContext, cert: str, key: str | None) -> None:
    """Load a client certificate into a context.

    Raises UsageError (one line) if that fails.
    """
    try:
        # Without the empty password, a protected key would prompt on the terminal.
        context.load_cert_chain(cert, key, password="")
    except (OSError, ssl.SSLError, ValueError) as error:
        files = cert if key is None else f"{cert} with the key {key}"
        why = "they do not match" if "MISMATCH" in str(error) else str(error)
        raise UsageError(
            f"the client certificate {files} cannot be used ({why}): give PEM files, the key "
            "without a password"
        ) from None
