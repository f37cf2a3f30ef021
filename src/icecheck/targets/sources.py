"""Reads a target from where users already describe it: icecheck.toml, environment, profiles.

Flags come before the environment, the environment before a file. A source that names another
catalog than the chosen one is not used at all: its credentials are not for this one.
"""

import base64
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from icecheck.installing import install_command
from icecheck.targets.options import TARGET_OPTIONS, TargetOption
from icecheck.targets.settings_file import DEFAULT_FILE, TABLE, read_text
from icecheck.targets.target import SigV4, UsageError
from icecheck.targets.values import Facts, facts_from, given_from, hint, value_in_toml, with_parts

_TABLES = frozenset({"target", "given", TABLE})
_ENVIRONMENT_PREFIX = "CATALOG_"
_HEADER_PREFIX = "header."
_REST = "org.apache.iceberg.rest.RESTCatalog"

# The properties that ask for AWS's signature: of Java's client and PyIceberg, and Java's newer one.
_SIGNING = {
    "rest.signing-region": "region",
    "rest.signing-name": "service",
    "rest.access-key-id": "access_key_id",
    "rest.secret-access-key": "secret_access_key",
    "rest.session-token": "session_token",
}


def merged(flags: Facts, *sources: Facts) -> Facts:
    """Merge sources; the first one that gives a fact wins, and None in ``flags`` gives nothing.

    The catalog is the one that the first source with a URL names. If different sources give two
    ways to authenticate, the first wins too.
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


def described(flags: Facts, *named: Facts, config: str | None) -> Facts:
    """Return what flags, sources that the user named, environment and file say of a target.

    ``config`` is the file to read instead of icecheck.toml. Raises UsageError for a value that
    cannot be read, and for a CA bundle that is no file.
    """
    facts = merged(flags, *named, from_environment(), from_file(config))
    bundle = facts.get("ca_bundle")
    if bundle is not None and not Path(bundle).is_file():
        raise UsageError(f"the CA bundle {bundle} is no file")
    return facts


def from_environment(
    environment: Mapping[str, str] = os.environ, table: Sequence[TargetOption] = TARGET_OPTIONS
) -> Facts:
    """Read CATALOG_URI, CATALOG_WAREHOUSE, CATALOG_TOKEN, ... as Iceberg's compatibility kit does.

    After the prefix two underscores stand for a dash and one for a dot; client properties that do
    not describe the target are ignored.
    """
    properties = {}
    for name, value in environment.items():
        if name.startswith(_ENVIRONMENT_PREFIX) and value:
            key = name[len(_ENVIRONMENT_PREFIX) :].replace("__", "-").replace("_", ".").lower()
            properties[key] = value
    return _facts(properties, table)


def from_pyiceberg(catalog: str) -> Facts:
    """Read a catalog of PyIceberg's configuration (.pyiceberg.yaml and its environment)."""
    try:
        from pyiceberg.utils.config import Config
    except ModuleNotFoundError as missing:
        raise UsageError(
            f"PyIceberg's settings need PyIceberg ({missing.name} is not installed): "
            f"run {install_command('suite')}"
        ) from None

    found = Config().get_catalog_config(catalog)
    if not found:
        raise UsageError(f"PyIceberg's configuration has no catalog {catalog!r}")
    properties = _flat(found)
    if properties.get("type", "rest") != "rest" or "uri" not in properties:
        raise UsageError(f"PyIceberg's catalog {catalog!r} is no REST catalog with a uri")
    return _facts(_authenticated(properties))


def _authenticated(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the older properties that mean the same as PyIceberg's table ``auth``."""
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


def from_file(named: str | None) -> Facts:
    """Return what icecheck.toml, or the file that was named instead, says of a target."""
    path = Path(named or DEFAULT_FILE)
    if named is None and not path.exists():
        return {}
    return from_toml(read_text(path), str(path))


def from_toml(text: str, path: str, table: Sequence[TargetOption] = TARGET_OPTIONS) -> Facts:
    """Read the tables [target] and [given] of icecheck.toml, whose keys are those of ``table``.

    Raises UsageError for a table or key that does not exist, or a value of another type.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: no valid TOML: {error}") from None
    for name in sorted(document.keys() - _TABLES):
        raise UsageError(f"{path}: there is no table [{name}]{hint(name, _TABLES)}")
    target, given = document.get("target", {}), document.get("given", {})
    if not isinstance(target, dict):
        raise UsageError(f"{path}: write the target as a table, [target]")
    if not isinstance(given, dict):
        raise UsageError(f"{path}: write what is given as a table, [given]")
    facts: Facts = {}
    if (objects := given_from(given)) is not None:
        facts["given"] = objects
    options = {option.key: option for option in table if option.table == "target" and option.key}
    known = {key.partition(".")[0] for key in options}
    for key, value in target.items():
        if key not in known:
            raise UsageError(f"{path}: [target] has no key {key!r}{hint(key, known)}")
        try:
            facts |= _in_toml(key, value, options)
        except TypeError as error:
            raise UsageError(f"{path}: {key} in [target] {error}") from None
    return with_parts(facts)


def _in_toml(key: str, value: Any, options: Mapping[str, TargetOption]) -> Facts:
    """Read one key of [target], which may be a table of several options."""
    if key in options:
        return {options[key].fact: value_in_toml(options[key], value)}
    parts = {name.partition(".")[2]: o for name, o in options.items() if name.startswith(f"{key}.")}
    if not isinstance(value, dict) or not value or not value.keys() <= parts.keys():
        raise TypeError(f"must be a table with {' or '.join(parts)}")
    if not all(isinstance(each, str) for each in value.values()):
        raise TypeError("must have strings")
    return {parts[name].fact: value_in_toml(parts[name], each) for name, each in value.items()}


def _facts(properties: Mapping[str, str], table: Sequence[TargetOption] = TARGET_OPTIONS) -> Facts:
    facts = facts_from(
        [option for option in table if option.client_property],
        lambda option: properties.get(option.client_property) or None,
        lambda option: option.client_property,
    )
    if sigv4 := _signing(properties):
        facts["sigv4"] = sigv4
    headers = {
        name[len(_HEADER_PREFIX) :]: value
        for name, value in properties.items()
        if name.startswith(_HEADER_PREFIX)
    }
    return {**facts, "headers": headers} if headers else facts


def _signing(properties: Mapping[str, str]) -> SigV4 | None:
    """Read how requests are signed; None if they are not."""
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
    """Return the names of the catalogs whose type, or implementation, is REST."""
    found = set()
    for name, value in settings.items():
        catalog = re.fullmatch(r"spark\.sql\.catalog\.([^.]+)\.(type|catalog-impl)", name)
        if catalog and value in {"rest", _REST}:
            found.add(catalog[1])
    return found
