"""Reads what a catalog's ``/v1/config`` offers, and builds paths with it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from icecheck.contract import Contract
from icecheck.targets.addresses import (
    is_allowed_host,
    is_decodable,
    origin_of,
    path_flaw,
    prefix_flaw,
    separator_flaw,
    spelled_separator,
)
from icecheck.targets.target import Namespace, Target, read_headers

_MISLEADING_HEADERS = frozenset(
    {
        "connection",
        "content-length",
        "forwarded",
        "host",
        "te",
        "transfer-encoding",
        "upgrade",
        "x-forwarded-host",
        "x-forwarded-prefix",
        "x-http-method",
        "x-http-method-override",
        "x-method-override",
        "x-original-url",
        "x-rewrite-url",
    }
)
"""Headers that could make a gateway read another host, path, method or body from a request."""
UNIT_SEPARATOR = "%1F"
"""What stands between the levels of a namespace where the config announces nothing else."""
_SWITCHES = {"reportMetrics": "rest-metrics-reporting-enabled"}
"""Operation id -> the setting of the config that keeps clients from calling the operation."""


@dataclass(frozen=True, slots=True)
class Offer:
    """The answer to ``GET /v1/config``, read as clients read it.

    ``idempotency_key_lifetime`` is what the catalog announces, as it is written; None where it does
    not, and keys have no meaning (1.11.0, L2172).
    """

    defaults: Mapping[str, Any]
    overrides: Mapping[str, Any]
    endpoints: tuple[str, ...] | None
    prefix: str
    separator: str
    held_to: frozenset[str] = frozenset()
    idempotency_key_lifetime: str | None = None

    @classmethod
    def read(cls, config: Mapping[str, Any], target: Target) -> "Offer":
        """Read a config answer leniently; a check judges what is malformed in it."""
        defaults, overrides = (
            value if isinstance(value := config.get(k), dict) else {}
            for k in ("defaults", "overrides")
        )
        endpoints = config.get("endpoints")
        announced = overrides.get("prefix", defaults.get("prefix", ""))
        lifetime = config.get("idempotency-key-lifetime")
        return cls(
            defaults=defaults,
            overrides=overrides,
            endpoints=(
                tuple(e for e in endpoints if isinstance(e, str))
                if isinstance(endpoints, list)
                else None
            ),
            prefix=target.prefix if target.prefix is not None else str(announced or ""),
            # 1.10.0 fixes the separator; a newer catalog announces its own (verdict-rules 10).
            separator=_announced_separator(overrides, defaults) or UNIT_SEPARATOR,
            held_to=frozenset(target.claims),
            idempotency_key_lifetime=lifetime if isinstance(lifetime, str) and lifetime else None,
        )

    @property
    def announced_separator(self) -> str | None:
        """What the config announces to stand between levels; None where no client could use it."""
        return _announced_separator(self.overrides, self.defaults)

    def separates(self, name: str) -> bool:
        """Return whether a name holds the separator: in a path, its level would be cut in two."""
        return unquote(self.separator) in name

    def sends(self, target: Target) -> Target:
        """Return the target with the settings that clients take from the config.

        Headers of the defaults come before the user's, and all of the overrides after them; ``uri``
        is followed, ``oauth2-server-uri`` only where the user named no token endpoint: a catalog
        does not choose who gets the user's secret. Raises UsageError for what cannot be sent.
        """
        headers = {**_headers_in(self.defaults), **target.headers, **_headers_in(self.overrides)}
        uri = self.overrides.get("uri")
        return replace(
            target,
            url=uri if isinstance(uri, str) and uri else target.url,
            headers=headers,
            oauth2_server_uri=target.oauth2_server_uri or self._token_server(),
        )

    def _token_server(self) -> str | None:
        said = (each.get("oauth2-server-uri") for each in (self.overrides, self.defaults))
        return next((server for server in said if isinstance(server, str) and server), None)

    def claims(self, operation_id: str, contract: Contract) -> bool:
        """Return whether the catalog claims to serve an operation (verdict-rules 9).

        Only an absent list means the 14 default endpoints; an empty one claims nothing.
        """
        operation = contract.operations.get(operation_id)
        if operation is None:
            return False  # it is of another document
        if operation.precedes_config or operation_id in self.held_to:
            return True
        return operation.endpoint in self.claimed_endpoints(contract)

    def claimed_endpoints(self, contract: Contract) -> tuple[str, ...]:
        """Return the endpoints that are listed, or the default ones that clients then assume.

        No client assumes a default endpoint that the config tells it not to call.
        """
        if self.endpoints is not None:
            return self.endpoints
        off = {contract.operations[id_].endpoint for id_ in _SWITCHES if self._switches_off(id_)}
        return tuple(each for each in contract.default_endpoints if each not in off)

    def _switches_off(self, operation_id: str) -> bool:
        """Return whether clients read the config's setting as off: Java takes only true for on."""
        said = {**self.defaults, **self.overrides}.get(_SWITCHES[operation_id])
        return said is not None and str(said).lower() != "true"

    def path(self, template: str, names: Mapping[str, str | Namespace]) -> str:
        """Fill an operation's path template; every name is percent-encoded, the prefix is not."""
        path = template
        separator = spelled_separator(self.separator)
        for key, name in names.items():
            if isinstance(name, str):
                encoded = encode_segment(name)
            else:
                encoded = separator.join(encode_segment(level) for level in name)
            path = path.replace("{" + key + "}", encoded)
        # The prefix comes last: text in it that looks like a placeholder is not replaced.
        return path.replace("/{prefix}", f"/{self.prefix}" if self.prefix else "")

    def operation_of(
        self, contract: Contract, method: str, path: str
    ) -> tuple[str, Mapping[str, str]] | None:
        """Return the operation of a request and its parameters, or None if there is none.

        ``path`` begins at ``/v1``; it is split before it is decoded, and the parameters, none of
        which is empty, stay percent-encoded.
        """
        segments = path.split("/")
        for operation in contract.operations.values():
            if operation.method == method:
                names = _filled(self.path(operation.path, {}).split("/"), segments)
                if names is not None:
                    return operation.id, names
        return None

    def parent_parameter(self, namespace: Namespace) -> str:
        """Return the decoded ``parent`` query value: levels joined by the separator itself."""
        return unquote(self.separator).join(namespace)

    def flaw(self, own: Target) -> str | None:
        """Return why no request may be sent as this config tells clients to, or None.

        ``own`` is the target as the user described it: requests to another host need the user's
        permission (``--allow-host``), because credentials would go there too.
        """
        if (why := prefix_flaw(self.prefix)) and own.prefix is None:
            return f"its prefix {self.prefix!r} makes no path: {why}; give --prefix to use another"
        if why := separator_flaw(self.separator):
            return f"its namespace-separator {self.separator!r} joins no levels: {why}"
        misleading = _MISLEADING_HEADERS.intersection(_header_names(self.defaults, self.overrides))
        if misleading:
            return f"it sets the header {min(misleading)}, which sends requests elsewhere"
        return self._flaw_of_uris(own)

    def _flaw_of_uris(self, own: Target) -> str | None:
        followed = self.sends(own)
        if why := path_flaw(urlsplit(followed.base_url).path):
            return f"its uri {followed.url!r} makes no path: {why}"
        home = origin_of(own.base_url)
        elsewhere = origin_of(followed.base_url)
        if not is_allowed_host(elsewhere, home, own.allow_hosts):
            return (
                f"its uri leads to {elsewhere}: --allow-host {elsewhere.address} lets it go there"
            )
        others = (own.second, own.reader)
        exchanges = own.credential or any(each and each.credential for each in others)
        server = followed.oauth2_server_uri
        if not exchanges or server is None or server == own.oauth2_server_uri:
            return None
        elsewhere = origin_of(server)
        if not is_allowed_host(elsewhere, home, own.allow_hosts):
            return (
                f"its oauth2-server-uri sends the credential to {elsewhere}: give "
                f"--oauth2-server-uri, or --allow-host {elsewhere.address} to send it there"
            )
        return None


def _announced_separator(overrides: Mapping[str, Any], defaults: Mapping[str, Any]) -> str | None:
    """Return the announced text, or None for one of which no path can be made."""
    said = overrides.get("namespace-separator", defaults.get("namespace-separator"))
    return said if isinstance(said, str) and said and is_decodable(said) else None


def _filled(template: Sequence[str], segments: Sequence[str]) -> Mapping[str, str] | None:
    """Return parameter -> value if the segments fill a template, else None.

    How a segment is percent-encoded makes no difference (RFC 3986, 6.2.2).
    """
    if len(template) != len(segments):
        return None
    names: dict[str, str] = {}
    for expected, segment in zip(template, segments, strict=True):
        if expected.startswith("{") and expected.endswith("}"):
            if not segment:
                return None
            names[expected[1:-1]] = segment
        elif expected != segment and unquote(expected) != unquote(segment):
            return None
    return names


def _header_names(*sets: Mapping[str, Any]) -> Iterator[str]:
    """Yield in lower case the names of all headers that a config makes clients send."""
    for properties in sets:
        yield from (name.lower() for name in _headers_in(properties))


def _headers_in(properties: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers that a config makes clients send (``header.NAME``)."""
    said = {
        name.removeprefix("header."): value
        for name, value in properties.items()
        if name.startswith("header.") and isinstance(value, str)
    }
    return read_headers(
        [f"{name}:{value}" for name, value in said.items()], "header. of the config"
    )


def encode_segment(name: str) -> str:
    """Percent-encode one name for a path; a dot segment would be normalised away by clients."""
    encoded = quote(name, safe="")
    return encoded.replace(".", "%2E") if encoded in {".", ".."} else encoded
