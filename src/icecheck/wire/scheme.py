"""Finds out whether a server speaks TLS at an http URL, or plain HTTP at an https one."""

import contextlib
import socket
import ssl

import httpx

_SECONDS_MAX = 3.0
_ASKED = b"HEAD / HTTP/1.0\r\n\r\n"


def other_url(url: str, timeout_seconds: float) -> str | None:
    """Return the same URL with the other scheme, if the server speaks that; no secrets are sent.

    It opens one connection and takes at most some seconds.
    """
    parts = httpx.URL(url)
    seconds = min(timeout_seconds, _SECONDS_MAX)
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    with contextlib.suppress(OSError, ValueError):
        with socket.create_connection((parts.host, port), seconds) as connection:
            speaks = _speaks_http(connection) if secure else _speaks_tls(connection, parts.host)
        if speaks:
            return f"{'http' if secure else 'https'}://{url.partition('://')[2]}"
    return None


def _speaks_http(connection: socket.socket) -> bool:
    connection.sendall(_ASKED)
    return connection.recv(5, socket.MSG_WAITALL) == b"HTTP/"


def _speaks_tls(connection: socket.socket, host: str) -> bool:
    """Return whether a handshake gets as far as a certificate, valid or not."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with context.wrap_socket(connection, server_hostname=host):
            return True
    except ssl.SSLError as refused:
        # A server that demands a client certificate speaks TLS.
        return "ALERT" in (refused.reason or "")
