"""For whom a listening server answers: the names in `Host` and `Origin` that it takes for itself.

A web page can have its own name resolve to this machine (DNS rebinding) and would then be free to
talk to any server here that does not look at the name it is called by.
"""

import ipaddress
import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import msgspec

from icecheck.mock_server.core.context import Reply
from icecheck.mock_server.protocol import problem, replies

__all__ = ["Hosts", "hosts_of"]

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,253}")
_AUTHORITY = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(?::[0-9]{0,5})?")
_WEB = frozenset({"http", "https"})

_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address


class Hosts(msgspec.Struct, frozen=True):
    """Which hosts a server answers for, besides those of the loopback interface.

    `names` are in lower case; an IPv6 address stands without brackets. `any_address`: it
    listens on all addresses of the machine, and so any address may be one of its own. No name
    may: that is what rebinding needs.
    """

    names: frozenset[str] = frozenset()
    any_address: bool = False

    def refusal(self, headers: Sequence[tuple[bytes, bytes]]) -> Reply | None:
        """The 403 for a request that is meant for another host, or comes from a foreign page.

        `headers` are the raw ones, their names in lower case. A request without `Host` is
        HTTP/1.0: no browser sends it.
        """
        for name, value in headers:
            if name == b"host" and not self._is_own(_host_of(value)):
                return _refusal("Host", value)
            # A page may come from any address, and so only from the ones that are known.
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
    """The hosts of a server that listens on `bound_to` and may be called `allowed` besides.

    ValueError for what is no host name or address, such as a URL or a name with a port.
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


def _host_of(value: bytes) -> str:
    """The host in a `Host` header in its one spelling; "" if there is none."""
    found = _AUTHORITY.fullmatch(value.decode("latin-1"))
    if found is None:
        return ""
    host = found["host"].strip("[]").removesuffix(".").lower()
    address = _address(host)
    return host if address is None else str(address)


def _origin_host_of(value: bytes) -> str:
    """The host of a web page; "" for `null` and for what is no web page."""
    scheme, separator, authority = value.partition(b"://")
    return _host_of(authority) if separator and scheme.decode("latin-1") in _WEB else ""


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
