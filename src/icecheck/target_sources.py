"""A target described where users already describe it: icecheck.toml, the environment, profiles.

Flags come before the environment, the environment before a file. A source that names another
catalog than the one that was chosen is not used at all: its credentials are not for this one.
"""

import base64
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from icecheck.expectations import TABLE
from icecheck.target import Given, Principal, SigV4, UsageError

__all__ = [
    "Facts",
    "from_environment",
    "from_pyiceberg",
    "from_spark_conf",
    "from_toml",
    "given_from",
    "merged",
    "principal_from",
]

Facts = dict[str, Any]
"""Keyword arguments of Target; what a source does not say is absent."""

_TABLES = frozenset({"target", "given", TABLE})
_GIVEN = frozenset({"namespace", "table", "view"})
_ENVIRONMENT_PREFIX = "CATALOG_"
_HEADER_PREFIX = "header."
_REST = "org.apache.iceberg.rest.RESTCatalog"

# Iceberg's client properties, by which environment, PyIceberg and Spark call them.
_PROPERTIES = {
    "uri": "url",
    "warehouse": "warehouse",
    "prefix": "prefix",
    "token": "token",
    "credential": "credential",
    "oauth2-server-uri": "oauth2_server_uri",
    "scope": "scope",
    "ssl.cabundle": "ca_bundle",
    "ssl.client.cert": "client_cert",
    "ssl.client.key": "client_key",
}

# How AWS's signature is asked for: by Java's client and PyIceberg, and Java's newer spelling.
_SIGNING = {
    "rest.signing-region": "region",
    "rest.signing-name": "service",
    "rest.access-key-id": "access_key_id",
    "rest.secret-access-key": "secret_access_key",
    "rest.session-token": "session_token",
}

_TEXTS = {
    "url": "url",
    "warehouse": "warehouse",
    "prefix": "prefix",
    "token": "token",
    "credential": "credential",
    "oauth2-server-uri": "oauth2_server_uri",
    "scope": "scope",
    "ca-bundle": "ca_bundle",
    "client-cert": "client_cert",
    "client-key": "client_key",
    "isolation": "isolation",
    "location-root": "location_root",
}


def merged(flags: Facts, *sources: Facts) -> Facts:
    """Put sources together, the first to say something wins; None in ``flags`` says nothing.

    The catalog is the one that the first source with a URL names. Of two ways to authenticate
    that different sources give, the first wins too.
    """
    given = {name: value for name, value in flags.items() if value is not None}
    found = dict(given)
    for source in sources:
        if "url" in found and source.get("url", found["url"]).rstrip("/") != found["url"].rstrip(
            "/"
        ):
            continue
        has_access = {"token", "credential"} & found.keys()
        for name, value in source.items():
            if name in {"token", "credential"} and has_access:
                continue
            if name == "headers":
                found["headers"] = {**value, **found.get("headers", {})}
            else:
                found.setdefault(name, value)
    return found


def from_environment(environment: Mapping[str, str] = os.environ) -> Facts:
    """Read CATALOG_URI, CATALOG_WAREHOUSE, CATALOG_TOKEN, ... as Iceberg's compatibility kit does.

    After the prefix two underscores stand for a dash and one for a dot; other properties of a
    client, which say nothing about the target, are passed over.
    """
    properties = {}
    for name, value in environment.items():
        if name.startswith(_ENVIRONMENT_PREFIX) and value:
            key = name[len(_ENVIRONMENT_PREFIX) :].replace("__", "-").replace("_", ".").lower()
            properties[key] = value
    return _facts(properties)


def from_pyiceberg(catalog: str) -> Facts:
    """Read a catalog of PyIceberg's configuration (.pyiceberg.yaml and its environment)."""
    try:
        from pyiceberg.utils.config import Config
    except ModuleNotFoundError as missing:
        raise UsageError(
            f"PyIceberg's settings need PyIceberg ({missing.name} is not installed): "
            "run pip install 'icecheck[suite]'"
        ) from None

    found = Config().get_catalog_config(catalog)
    if not found:
        raise UsageError(f"PyIceberg's configuration has no catalog {catalog!r}")
    properties = _flat(found)
    if properties.get("type", "rest") != "rest" or "uri" not in properties:
        raise UsageError(f"PyIceberg's catalog {catalog!r} is no REST catalog with a uri")
    return _facts(_authenticated(properties))


def _authenticated(properties: Mapping[str, str]) -> dict[str, str]:
    """Say what PyIceberg's table ``auth`` says in the older properties that mean the same."""
    kind = properties.get("auth.type")
    within = f"auth.{kind}."
    named = {k[len(within) :]: v for k, v in properties.items() if k.startswith(within)}
    said = dict(properties)
    if kind == "oauth2" and "client_secret" in named:
        said["credential"] = f"{named.get('client_id', '')}:{named['client_secret']}"
        if "token_url" in named:
            said["oauth2-server-uri"] = named["token_url"]
        if "scope" in named:
            said["scope"] = named["scope"]
    if kind == "basic" and {"username", "password"} <= named.keys():
        pair = f"{named['username']}:{named['password']}".encode()
        said["header.Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
    return said


def from_spark_conf(path: Path, catalog: str | None = None) -> Facts:
    """Read a REST catalog of Spark's settings, one ``key value`` or ``key=value`` a line.

    Without a name there must be exactly one REST catalog in the file.
    """
    settings = _spark_settings(path)
    catalogs = _rest_catalogs(settings)
    if catalog is None:
        if len(catalogs) != 1:
            known = ", ".join(sorted(catalogs)) or "none"
            raise UsageError(f"{path}: name one REST catalog with --spark-catalog; here: {known}")
        [catalog] = catalogs
    if catalog not in catalogs:
        known = ", ".join(sorted(catalogs)) or "none"
        raise UsageError(f"{path} has no REST catalog {catalog!r}; it has: {known}")
    within = f"spark.sql.catalog.{catalog}."
    return _facts(
        {name[len(within) :]: value for name, value in settings.items() if name.startswith(within)}
    )


def from_toml(text: str, path: str) -> Facts:
    """Read the tables [target] and [given] of icecheck.toml.

    Raises UsageError for a table or key that does not exist, or a value of another type.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: no valid TOML: {error}") from None
    for name in sorted(document.keys() - _TABLES):
        raise UsageError(f"{path}: there is no table [{name}]{_hint(name, _TABLES)}")
    table = document.get("target", {})
    if not isinstance(table, dict):
        raise UsageError(f"{path}: write the target as a table, [target]")
    facts: Facts = {}
    given = document.get("given", {})
    if not isinstance(given, dict):
        raise UsageError(f"{path}: write what is given as a table, [given]")
    if (objects := given_from(given)) is not None:
        facts["given"] = objects
    for key, value in table.items():
        read = _READERS.get(key)
        if read is None:
            raise UsageError(f"{path}: [target] has no key {key!r}{_hint(key, _READERS)}")
        name, convert = read
        try:
            facts[name] = convert(value)
        except (TypeError, ValueError) as error:
            raise UsageError(f"{path}: {key} in [target] {error}") from None
    return facts


def given_from(names: Mapping[str, Any]) -> Given | None:
    """Read the objects that the user names, levels joined by dots or in a list; None for none.

    Raises UsageError for a name without a namespace, or a kind that there is not.
    """
    found: dict[str, Any] = {}
    for kind, value in names.items():
        if value is None:
            continue
        if kind not in _GIVEN:
            raise UsageError(f"[given] has no key {kind!r}{_hint(kind, _GIVEN)}")
        try:
            levels = _levels(value)
        except TypeError as error:
            raise UsageError(f"the given {kind} {error}") from None
        if not all(levels) or (kind != "namespace" and len(levels) < 2):
            raise UsageError(f"the given {kind} {value!r} needs a namespace: write A.B.NAME")
        found[kind] = levels if kind == "namespace" else (levels[:-1], levels[-1])
    return Given(**found) if found else None


def _hint(name: str, known: Iterable[str]) -> str:
    """Name the nearest of those there are, or all of them."""
    every = sorted(known)
    close = get_close_matches(name, every, n=1)
    return f": did you mean {close[0]!r}?" if close else f": there are {', '.join(every)}"


def _facts(properties: Mapping[str, str]) -> Facts:
    facts: Facts = {
        fact: properties[name] for name, fact in _PROPERTIES.items() if properties.get(name)
    }
    if sigv4 := _signing(properties):
        facts["sigv4"] = sigv4
    if second := principal_from(
        {kind: properties.get(f"second-{kind}") for kind in ("token", "credential")}
    ):
        facts["second"] = second
    headers = {
        name[len(_HEADER_PREFIX) :]: value
        for name, value in properties.items()
        if name.startswith(_HEADER_PREFIX)
    }
    return {**facts, "headers": headers} if headers else facts


def _signing(properties: Mapping[str, str]) -> SigV4 | None:
    """Read how requests are signed, if they are."""
    enabled = properties.get("rest.sigv4-enabled", "").lower() == "true"
    if not enabled and properties.get("rest.auth.type", "").lower() != "sigv4":
        return None
    return SigV4(
        **{fact: properties[name] for name, fact in _SIGNING.items() if name in properties}
    )


def _flat(table: Mapping[Any, Any], within: str = "") -> dict[str, str]:
    """Return the properties of nested tables under names with dots, as ``ssl.client.cert``."""
    flat: dict[str, str] = {}
    for name, value in table.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{within}{name}.")
        else:
            flat[f"{within}{name}"] = str(value)
    return flat


def principal_from(given: Mapping[str, Any]) -> Principal | None:
    """Read a principal's token or credential; None where neither is given."""
    named = {name: value for name, value in given.items() if value is not None}
    return Principal(**named) if named else None


def _spark_settings(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    settings = {}
    for line in lines:
        if line.strip() and not line.lstrip().startswith("#"):
            name, *rest = re.split(r"\s*[=\s]\s*", line.strip(), maxsplit=1)
            settings[name] = rest[0] if rest else ""
    return settings


def _rest_catalogs(settings: Mapping[str, str]) -> set[str]:
    """Return the names of catalogs whose type, or implementation, is REST."""
    found = set()
    for name, value in settings.items():
        catalog = re.fullmatch(r"spark\.sql\.catalog\.([^.]+)\.(type|catalog-impl)", name)
        if catalog and value in {"rest", _REST}:
            found.add(catalog[1])
    return found


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("must be a string")
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("must be a number")
    return float(value)


def _whole_number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError("must be a whole number")
    return value


def _names(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise TypeError("must be a list of operationIds")
    return tuple(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("must be true or false")
    return value


def _levels(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(value.split("."))
    if isinstance(value, list) and all(isinstance(level, str) for level in value):
        return tuple(value)
    raise TypeError('must be "a.b" or ["a", "b"]')


def _principal(value: Any) -> Principal:
    """A table with a token or a credential."""
    known = {"token", "credential"}
    if not isinstance(value, dict) or not value or not value.keys() <= known:
        raise TypeError("must be a table with token or credential")
    if not all(isinstance(each, str) for each in value.values()):
        raise TypeError("must have strings")
    return Principal(**value)


def _signature(value: Any) -> SigV4:
    return SigV4.read(_text(value))


def _headers(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
        raise TypeError("must be a table of strings")
    return dict(value)


_READERS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    **{key: (name, _text) for key, name in _TEXTS.items()},
    "timeout": ("timeout_seconds", _number),
    "rate-limit": ("requests_per_second", _number),
    "race-rounds": ("race_rounds", _whole_number),
    "claims": ("claims", _names),
    "allow-hosts": ("allow_hosts", _names),
    "accept-residue": ("accept_residue", _flag),
    "read-only": ("read_only", _flag),
    "disruptive": ("disruptive", _flag),
    "namespace": ("namespace", _levels),
    "headers": ("headers", _headers),
    "sigv4": ("sigv4", _signature),
    "second": ("second", _principal),
}
