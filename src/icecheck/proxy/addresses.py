"""Addresses that a catalog tells its clients, in the form in which they come back to the proxy."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from icecheck.targets.addresses import has_same_origin
from icecheck.wire.json_text import read_json

# What clients send requests of the protocol to. Others, such as that of an object store, are not
# the catalog's, and requests there may be signed for the host.
_FOLLOWED = frozenset({"uri", "oauth2-server-uri", "s3.signer.uri", "signer.uri"})
_TOLD = ("defaults", "overrides")
_REDIRECTIONS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the catalog is, and where its clients find the proxy.

    Paths are the same at both: ``catalog`` and ``proxy`` are URLs of which only scheme, host and
    port are used.
    """

    catalog: str
    proxy: str

    def at_proxy(self, url: str) -> str | None:
        """Return the address at the proxy of a URL of the catalog; None if it leads elsewhere."""
        if not has_same_origin(url, self.catalog):
            return None
        there, here = urlsplit(url), urlsplit(self.proxy)
        return there._replace(scheme=here.scheme, netloc=here.netloc).geturl()

    def config_at_proxy(self, body: bytes) -> tuple[bytes, tuple[str, ...]]:
        """Return a config whose addresses lead here, and those that lead past the proxy.

        A body that is none, or that has nothing to change, is returned as it is.
        """
        try:
            config = read_json(body)
        except ValueError:
            return body, ()
        if not isinstance(config, dict):
            return body, ()
        changed, past = dict(config), []
        for name in _TOLD:
            if isinstance(told := config.get(name), dict):
                changed[name], elsewhere = self._settings(told)
                past += elsewhere
        if changed == config:
            return body, tuple(past)
        return json.dumps(changed).encode(), tuple(past)

    def _settings(self, told: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
        settings, past = dict(told), []
        for name in _FOLLOWED & told.keys():
            value = told[name]
            if not isinstance(value, str) or not _is_absolute(value):
                continue
            here = self.at_proxy(value)
            if here is None:
                past.append(f"{name} {value}")
            else:
                settings[name] = here
        return settings, past


def leading_past(
    status: int | None, headers: Iterable[tuple[str, str]], body: bytes, catalog: str
) -> Iterator[str]:
    """Yield the addresses in an answer by which clients leave the proxy, with their names.

    They are redirections to other hosts than the ``catalog``'s, and what the ``config`` of a table
    tells clients, which is handed on as it is.
    """
    if status in _REDIRECTIONS:
        for name, value in headers:
            if name.lower() == "location" and not _is_there(value, catalog):
                yield f"Location {value}"
    if status != 200 or not any(name.encode() in body for name in _FOLLOWED - {"uri"}):
        return
    try:
        answer = read_json(body)
    except ValueError:
        return
    told = answer.get("config") if isinstance(answer, dict) else None
    for name, value in told.items() if isinstance(told, dict) else ():
        if name in _FOLLOWED and isinstance(value, str) and _is_absolute(value):
            yield f"{name} {value}"


def _is_there(url: str, catalog: str) -> bool:
    return not _is_absolute(url) or has_same_origin(url, catalog)


def _is_absolute(url: str) -> bool:
    return url.lower().startswith(("http://", "https://"))
