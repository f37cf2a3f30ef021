"""Credentials for a table's storage: loadCredentials, and what tables come with."""

import re
from collections.abc import Mapping
from typing import Any

from icecheck.check import check
from icecheck.client import Catalog, Table
from icecheck.conformance.reading import not_applicable, object_in
from icecheck.expect import Reply, show
from icecheck.target import Namespace

_ASKING = {"X-Iceberg-Access-Delegation": "vended-credentials"}
# Clients take these for the same storage.
_S3_SCHEMES = re.compile(r"^s3[an]://")
_REFRESHING = "refresh-credentials-endpoint"
_EXPIRING = re.compile(r"expires-at(-ms)?(\.|$)")

Credential = Mapping[str, Any]


def _load(catalog: Catalog, namespace: Namespace, name: str) -> Reply:
    return catalog.call("loadCredentials", {"namespace": namespace, "table": name})


def _vended(catalog: Catalog, table: Table) -> tuple[Reply, list[Credential]]:
    """The credentials of a table; the condition of a check fails where there are none."""
    reply = _load(catalog, table.namespace, table.name).expect(200)
    credentials = _credentials_in(reply)
    if not credentials:
        raise not_applicable("the catalog vends no credentials for an ordinary table")
    return reply, credentials


def _credentials_in(reply: Reply) -> list[Credential]:
    listed = reply.member("storage-credentials")
    if not isinstance(listed, list) or not all(_is_credential(each) for each in listed):
        raise reply.violation(
            "schema:type",
            "a list of credentials with prefix and config",
            show(listed),
            pointer="/storage-credentials",
        )
    return listed


def _is_credential(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    prefix, config = value.get("prefix"), value.get("config")
    return isinstance(prefix, str) and isinstance(config, dict)


def _config_in(reply: Reply) -> dict[str, Any]:
    config = object_in(reply).get("config")
    return config if isinstance(config, dict) else {}


def _same_scheme(location: str) -> str:
    return _S3_SCHEMES.sub("s3://", location)


@check("loadCredentials.succeeds", proves="loadCredentials.200")
def test_load_credentials(catalog: Catalog) -> None:
    """Asking for a table's credentials is answered 200, with a list."""
    table = catalog.some_table()
    _credentials_in(_load(catalog, table.namespace, table.name).expect(200))


@check("loadCredentials.missing", proves="loadCredentials.404")
def test_credentials_of_a_missing_table(catalog: Catalog) -> None:
    """Asking for credentials of a table that does not exist is refused, in any namespace."""
    table = catalog.some_table()
    _load(catalog, table.namespace, catalog.new_name()).expect(404)
    _load(catalog, catalog.new_namespace_name(), table.name).expect(404)


@check("loadCredentials.covers-the-table", proves="loadCredentials.covers-the-table")
def test_a_credential_is_for_the_table(catalog: Catalog) -> None:
    """At least one of a table's credentials is for the place where the table is."""
    table = catalog.some_table()
    location = table.metadata.get("location")
    reply, credentials = _vended(catalog, table)
    inside = f"{_same_scheme(str(location)).rstrip('/')}/"
    # Java's client has "s3" alone for all of it.
    if not any(inside.startswith(_same_scheme(each["prefix"])) for each in credentials):
        prefixes = [each["prefix"] for each in credentials]
        raise reply.violation(
            "credentials-not-for-the-table",
            "a prefix of the table's location",
            "prefixes of other places",
            detail=f"the location is {show(location)}, the prefixes are {show(prefixes)}",
            pointer="/storage-credentials",
        )


@check("loadCredentials.usable", proves="loadCredentials.usable")
def test_no_credential_is_empty(catalog: Catalog) -> None:
    """Every credential has a prefix and a config that are not empty."""
    reply, credentials = _vended(catalog, catalog.given_table())
    for number, each in enumerate(credentials):
        for member in ("prefix", "config"):
            if not each[member]:
                pointer = f"/storage-credentials/{number}/{member}"
                raise reply.violation("credential-empty", "something", "empty", pointer=pointer)


@check("loadCredentials.refresh", proves="loadCredentials.refresh")
def test_credentials_are_refreshed_where_the_table_says(catalog: Catalog) -> None:
    """Where a table's config names an endpoint to refresh credentials at, it has new ones."""
    table = catalog.given_table()
    loaded = catalog.load_table(table.namespace, table.name, headers=_ASKING).expect(200)
    config = _config_in(loaded)
    named = [value for key, value in config.items() if key.endswith(_REFRESHING)]
    if not named:
        raise not_applicable("the table's config names no endpoint to refresh credentials at")
    path = _path_here(catalog, str(named[0]))
    names: dict[str, str | Namespace] = {"namespace": table.namespace, "table": table.name}
    reply = catalog.call("loadCredentials", names, path=path).expect(200, detail="at that endpoint")
    credentials = _credentials_in(reply)
    if not credentials:
        raise reply.violation("credentials-not-refreshed", "credentials", "none")
    for key, ends in _ends(config).items():
        renewed = [_ends(each["config"]).get(key, 0) for each in credentials]
        if max(renewed) < ends:
            raise reply.violation(
                "credentials-not-refreshed",
                "credentials that last as long as the table's",
                "shorter ones, or such without an end",
                detail=f"{key} was {ends}, and is {max(renewed)}",
            )


def _path_here(catalog: Catalog, endpoint: str) -> str:
    """The path of an endpoint under the catalog's own address, as Java's client resolves it."""
    base = catalog.target.base_url
    if "://" not in endpoint:
        return "/" + endpoint.lstrip("/")
    if not endpoint.startswith(f"{base}/"):
        raise not_applicable("credentials are refreshed at another server")
    return endpoint[len(base) :]


def _ends(config: Mapping[str, Any]) -> dict[str, int]:
    """The ends of credentials, in milliseconds since the epoch, by the key that tells."""
    return {
        key: int(value)
        for key, value in config.items()
        if _EXPIRING.search(key) and isinstance(value, str) and value.isdecimal()
    }


@check("loadTable.tag-per-access", proves="loadTable.tag-per-access", needs=("etag",))
def test_credentials_are_part_of_what_a_tag_names(catalog: Catalog) -> None:
    """A table with credentials and the same table without do not have the same strong ETag."""
    table = catalog.given_table()
    plain = catalog.load_table(table.namespace, table.name).expect(200)
    vended = catalog.load_table(table.namespace, table.name, headers=_ASKING).expect(200)
    extra = [
        member
        for member in ("storage-credentials", "config")
        if object_in(vended).get(member) and not object_in(plain).get(member)
    ]
    if not extra:
        raise not_applicable("the catalog answers the same with and without asking for credentials")
    tags = [reply.header("etag") for reply in (plain, vended)]
    if tags[0] is not None and tags[0] == tags[1] and not tags[0].startswith("W/"):
        detail = f"{tags[0]} is also the tag of the answer without {' and '.join(extra)}"
        raise vended.violation(
            "etag-shared", "another tag, a weak one, or none", "the same tag", detail=detail
        )
