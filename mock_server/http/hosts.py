"""The host names that a listening server accepts in `Host` and `Origin`.

A web page can have its own name resolve to this machine (DNS rebinding) and could then talk to any
server here that does not check the name in the request.
"""

import ipaddress
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TypeAlias

import msgspec

from icecheck.mock_server.core.context import Reply
from icecheck.mock_server.protocol import problem, replies

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,253}")
_AUTHORITY = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(?::[0-9]{0,5})?")
_WEB = frozenset({"http", "https"})

_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address


class Hosts(msgspec.Struct, frozen=True):
    """The hosts that a server answers for, besides those of the loopback interface.

    `names` are in lower case; an IPv6 address is without brackets. `any_address`: the server
    listens on all addresses of the machine, so that any address may be its own. This does not hold
    for names: DNS rebinding uses names.
    """

    names: frozenset[str] = frozenset()
    any_address: bool = False

    def refusal(self, headers: Sequence[tuple[bytes, bytes]]) -> Reply | None:
        """Return the 403 for a request to another host, or from a foreign page; otherwise None.

        `headers` are the raw ones, their names in lower case. A request without `Host` is HTTP/1.0:
        no browser sends it.
        """
        for name, value in headers:
            if name == b"host" and not self._is_own(_host_of(value)):
                return _refusal("Host", value)
            # A page may come from any address, so only the known ones are accepted here.
            if name == b"origin" and not self._is_known(_origin_host_of(value)):
                return _refusal("Origin", value)
        return None

    def _is_own(self, host: str) -> bool:
        return self._is_known(host) or (self.any_address and _address(host) is not None)

    def _is_known(self, host: str) -> bool:
        if host in self.names or host == "localhost" or host.endswith(".localhost"):
            return True
        address = _address(host)
        return address is not None and address.is_loopback


def hosts_of(bound_to: str, allowed: Iterable[str]) -> Hosts:
    """Return the hosts of a server that listens on `bound_to` and is also called `allowed`.

    ValueError for a value that is no host name or address, such as a URL or a name with a port.
    """
    names = set()
    for given in (bound_to, *allowed):
        host = given.removeprefix("[").removesuffix("]").removesuffix(".").lower()
        address = _address(host)
        if address is None and not _NAME.fullmatch(host):
            raise ValueError(f"not the name or address of a host, without a port: {given!r}")
        names.add(host if address is None else str(address))
    address = _address(bound_to)
    return Hosts(frozenset(names), any_address=address is not None and address.is_unspecified)


@lru_cache(maxsize=256)
def _host_of(value: bytes) -> str:
    """Return the host in a `Host` header in its one spelling; "" if there is none."""
    found = _AUTHORITY.fullmatch(value.decode("latin-1"))
    if found is None:
        return ""
    host = found["host"].strip("[]").removesuffix(".").lower()
    address = _address(host)
    return host if address is None else str(address)


def _origin_host_of(value: bytes) -> str:
    """Return the host of a web page; "" for `null` and for an origin that is no web page."""
    scheme, separator, authority = value.partition(b"://")
    return _host_of(authority) if separator and scheme.decode("latin-1") in _WEB else ""


@lru_cache(maxsize=256)
def _address(host: str) -> _Address | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _refusal(header: str, value: bytes) -> Reply:
    shown = value.decode("latin-1")[:100]
    advice = "whoever starts it can allow the name: --allow-host NAME, or allow_hosts=[...]"
    refused = problem.forbidden(f"This server does not answer for the {header} {shown!r}; {advice}")
    return replies.error_reply(
        refused.status, refused.type, refused.message, (("connection", "close"),)
    )
