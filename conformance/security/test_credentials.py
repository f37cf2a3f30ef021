"""Checks of storage credentials: loadCredentials, and the credentials in loaded tables."""

import re
from collections.abc import Mapping
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import arrange, given_dropped, given_table, shared_table, some_table
from icecheck.client.sender import ASKING_FOR_CREDENTIALS
from icecheck.conformance.security.token_requests import TOKEN_NOT_ACCEPTED
from icecheck.findings.shared_symptoms import SCHEMA
from icecheck.findings.symptoms import Severity, declare
from icecheck.judging.check import check, generated_check
from icecheck.judging.probes import offered
from icecheck.objects.arranging import require
from icecheck.objects.committing import commit
from icecheck.objects.metadata_view import metadata_in, place
from icecheck.objects.reading import not_applicable, object_in
from icecheck.objects.views import some_view
from icecheck.replies.expect import Reply
from icecheck.replies.matching import show
from icecheck.targets.target import Namespace

_CREDENTIAL_EMPTY = declare(
    "credential-empty", "Vends a credential with an empty prefix or config", Severity.SHAPE
)
_CREDENTIAL_INCOMPLETE = declare(
    "credential-incomplete",
    "Vends an access key id without its secret, or the other way round",
    Severity.SHAPE,
)
_CREDENTIALS_NOT_FOR_THE_TABLE = declare(
    "credentials-not-for-the-table",
    "Vends credentials for other places than the table's location",
    Severity.EXPOSED,
)
_CREDENTIALS_NOT_REFRESHED = declare(
    "credentials-not-refreshed",
    "Gives no fresh credentials for a table that came with some",
    Severity.REFUSED,
)
_ETAG_SHARED = declare(
    "etag-shared",
    "Gives a table with credentials and the same table without one strong ETag",
    Severity.SHAPE,
)

_REFRESHING = "refresh-credentials-endpoint"
# Keys that give access by themselves, in the configurations of S3, GCS and ADLS.
_SECRET = re.compile(r"^(s3\.secret-access-key|gcs\.oauth2\.token|adls\.sas-token\..*)$")
_EXPIRING = re.compile(r"expires-at(-ms)?(\.|$)")

Credential = Mapping[str, Any]


def _load(catalog: Catalog, namespace: Namespace, name: str) -> Reply:
    return catalog.load_credentials(namespace, name)


def _vended(catalog: Catalog, table: Table) -> tuple[Reply, list[Credential]]:
    """Return the answer and the credentials of a table; raise NotOffered if there are none."""
    reply = _load(catalog, table.namespace, table.name).expect(200)
    credentials = _credentials_in(reply)
    if not credentials:
        raise not_applicable("the catalog vends no credentials for an ordinary table")
    return reply, credentials


def _credentials_in(reply: Reply) -> list[Credential]:
    listed = reply.member("storage-credentials")
    if not isinstance(listed, list) or not all(_is_credential(each) for each in listed):
        raise reply.violation(
            SCHEMA.of("type"),
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


def _place(location: Any) -> str:
    """Return a location or prefix, normalized, with its final slash; s3, s3a and s3n are equal."""
    return place(location) + ("/" if str(location).endswith("/") else "")


@check("loadCredentials.succeeds", proves="loadCredentials.200")
def test_load_credentials(catalog: Catalog) -> None:
    """Asking for a table's credentials is answered 200, with a list."""
    table = some_table(catalog)
    _credentials_in(_load(catalog, table.namespace, table.name).expect(200))


@check("loadCredentials.missing", proves="loadCredentials.404")
def test_credentials_of_a_missing_table(catalog: Catalog) -> None:
    """Asking for credentials of a table that does not exist is refused, in any namespace."""
    table = some_table(catalog)
    _load(catalog, table.namespace, catalog.new_name()).expect(404)
    _load(catalog, catalog.new_namespace_name(), table.name).expect(404)


@check("loadCredentials.covers-the-table")
def test_a_credential_is_for_the_table(catalog: Catalog) -> None:
    """At least one of a table's credentials is for the location of the table."""
    tables = [some_table(catalog)]
    if not catalog.target.read_only:
        tables.append(given_table(catalog))  # a cache may answer the first one's
    for table in tables:
        reply, credentials = _vended(catalog, table)
        _expect_one_for(reply, table, credentials)
    if not catalog.target.read_only:
        _expect_those_of_its_successor(catalog, tables[-1])


@generated_check("loadCredentials.covers-a-moved-table", proves="loadCredentials.covers-the-table")
def test_a_credential_is_for_where_the_table_is_now(catalog: Catalog) -> None:
    """After a table was moved, one of its credentials at least is for its new location."""
    require(catalog, "updateTable")
    made = given_table(catalog)
    _vended(catalog, made)  # the catalog may cache those of the old location
    parent, _, leaf = str(made.metadata.get("location", "")).rstrip("/").rpartition("/")
    update = {"action": "set-location", "location": f"{parent}/moved_{leaf}"}
    reply = offered(catalog, "table-relocation", commit(catalog, made, [update])).expect(200)
    moved = Table(made.namespace, made.name, metadata_in(reply), None)
    reply, credentials = _vended(catalog, moved)
    _expect_one_for(reply, moved, credentials)


def _expect_those_of_its_successor(catalog: Catalog, dropped: Table) -> None:
    """Judge the same for a table with the name of a dropped one and perhaps another location."""
    where = (dropped.namespace, dropped.name)
    given_dropped(catalog, *where)
    body = bodies.create_table_body(dropped.name)
    made = arrange(catalog, "createTable", lambda: catalog.create_table(dropped.namespace, body))
    table = Table(*where, metadata_in(made), None)
    reply, credentials = _vended(catalog, table)
    _expect_one_for(reply, table, credentials)


def _expect_one_for(reply: Reply, table: Table, credentials: list[Credential]) -> None:
    location = table.metadata.get("location")
    inside = f"{place(location)}/"
    # Java's client uses "s3" alone as the prefix of all locations.
    if not any(inside.startswith(_place(each["prefix"])) for each in credentials):
        prefixes = [each["prefix"] for each in credentials]
        raise reply.violation(
            _CREDENTIALS_NOT_FOR_THE_TABLE,
            "a prefix of the table's location",
            "prefixes of other places",
            detail=f"the location is {show(location)}, the prefixes are {show(prefixes)}",
            pointer="/storage-credentials",
        )


@check("loadCredentials.usable")
def test_no_credential_is_empty(catalog: Catalog) -> None:
    """Every credential has a prefix and a config that are not empty."""
    reply, credentials = _vended(catalog, shared_table(catalog))
    for number, each in enumerate(credentials):
        for member in ("prefix", "config"):
            if not each[member]:
                pointer = f"/storage-credentials/{number}/{member}"
                raise reply.violation(_CREDENTIAL_EMPTY, "something", "empty", pointer=pointer)


@check("loadCredentials.s3-complete")
def test_keys_of_s3_come_in_pairs(catalog: Catalog) -> None:
    """An access key id for S3 comes with its secret, and the other way round."""
    reply, credentials = _vended(catalog, some_table(catalog))
    pair = ("s3.access-key-id", "s3.secret-access-key")
    found = [[bool(each["config"].get(key)) for key in pair] for each in credentials]
    if not any(any(keys) for keys in found):
        raise not_applicable("the catalog's credentials are not for S3")
    for number, keys in enumerate(found):
        if keys[0] != keys[1]:
            pointer = f"/storage-credentials/{number}/config"
            raise reply.violation(
                _CREDENTIAL_INCOMPLETE,
                "an access key id and its secret",
                "one of the two",
                pointer=pointer,
            )


@check("loadTable.storage-credentials")
def test_credentials_that_come_with_a_table(catalog: Catalog) -> None:
    """A table that comes with storage-credentials has one for its location."""
    table = some_table(catalog)
    reply = catalog.load_table(table.namespace, table.name, headers=ASKING_FOR_CREDENTIALS).expect(
        200
    )
    config = _config_in(reply)
    listed = object_in(reply).get("storage-credentials")
    if not listed:
        if any(_SECRET.search(key) for key in config):
            # Clients look there when they find none in storage-credentials (L3310).
            raise not_applicable("a table's credentials come in its config, as they may (L3310)")
        raise not_applicable("the catalog vends no credentials with an ordinary table")
    _expect_one_for(reply, table, _credentials_in(reply))


@check("loadCredentials.refresh")
def test_credentials_are_refreshed_where_the_table_says(catalog: Catalog) -> None:
    """The endpoint that a table's config names for refreshing credentials answers with some."""
    _expect_refreshed(catalog, shared_table(catalog))


@generated_check("loadCredentials.refresh-after-rename", proves="loadCredentials.refresh")
def test_credentials_of_a_renamed_table_are_refreshed(catalog: Catalog) -> None:
    """The endpoint for credentials that a renamed table's config names serves that table."""
    require(catalog, "renameTable")
    table = given_table(catalog)
    _expect_refreshed(catalog, table)  # the catalog may cache the endpoint
    renamed = Table(table.namespace, catalog.new_name(), table.metadata, None)
    reply = catalog.rename_table((table.namespace, table.name), (table.namespace, renamed.name))
    if not reply.ok:
        raise not_applicable(f"the catalog answers renameTable with {reply.status}")
    _expect_refreshed(catalog, renamed)


def _expect_refreshed(catalog: Catalog, table: Table) -> None:
    loaded = catalog.load_table(table.namespace, table.name, headers=ASKING_FOR_CREDENTIALS).expect(
        200
    )
    config = _config_in(loaded)
    named = [value for key, value in config.items() if key.endswith(_REFRESHING)]
    if not named:
        raise not_applicable("the table's config names no endpoint to refresh credentials at")
    path = _path_here(catalog, str(named[0]))
    names: dict[str, str | Namespace] = {"namespace": table.namespace, "table": table.name}
    reply = catalog.call("loadCredentials", names, path=path).expect(200, detail="at that endpoint")
    credentials = _credentials_in(reply)
    if not credentials:
        raise reply.violation(_CREDENTIALS_NOT_REFRESHED, "credentials", "none")
    for key, ends in _ends(config).items():
        renewed = [_ends(each["config"]).get(key, 0) for each in credentials]
        if max(renewed) < ends:
            raise reply.violation(
                _CREDENTIALS_NOT_REFRESHED,
                "credentials that last as long as the table's",
                "shorter ones, or such without an end",
                detail=f"{key} was {ends}, and is {max(renewed)}",
            )


def _path_here(catalog: Catalog, endpoint: str) -> str:
    """Return the path of an endpoint below the catalog's address, as Java's client resolves it."""
    base = catalog.target.base_url
    if "://" not in endpoint:
        return "/" + endpoint.lstrip("/")
    if not endpoint.startswith(f"{base}/"):
        raise not_applicable("credentials are refreshed at another server")
    return endpoint[len(base) :]


def _ends(config: Mapping[str, Any]) -> dict[str, int]:
    """Return the expiry times of credentials in milliseconds since the epoch, by config key."""
    return {
        key: int(value)
        for key, value in config.items()
        if _EXPIRING.search(key) and isinstance(value, str) and value.isdecimal()
    }


@check("loadTable.token-of-the-table")
def test_a_token_that_comes_with_a_table_opens_it(catalog: Catalog) -> None:
    """A token that the config of a table or of a view names is accepted for it."""
    table = some_table(catalog)
    routes: dict[str, dict[str, str | Namespace]] = {
        "loadTable": {"namespace": table.namespace, "table": table.name}
    }
    at_hand = not catalog.target.read_only or catalog.target.given.view is not None
    if at_hand and catalog.claims("createView") and catalog.claims("loadView"):
        view = some_view(catalog)
        routes["loadView"] = {"namespace": view.namespace, "view": view.name}
    tokens = {
        operation: _config_in(
            catalog.call(operation, names, headers=ASKING_FOR_CREDENTIALS).expect(200)
        )
        for operation, names in routes.items()
    }
    told = {operation: config["token"] for operation, config in tokens.items() if "token" in config}
    if not told:
        raise not_applicable("neither the config of a table nor that of a view names a token")
    for operation, token in told.items():
        headers = {"Authorization": f"Bearer {token}"}
        reply = catalog.call(operation, routes[operation], headers=headers)
        if reply.status in {401, 403}:
            raise reply.violation(
                TOKEN_NOT_ACCEPTED,
                "an answer",
                reply.status,
                detail=f"{operation} with the token that its own config names",
            )


@check("loadTable.tag-per-access", needs=("etag",))
def test_credentials_are_part_of_what_a_tag_names(catalog: Catalog) -> None:
    """Loads with and without credentials do not have the same strong ETag."""
    table = shared_table(catalog)
    plain = catalog.load_table(table.namespace, table.name).expect(200)
    vended = catalog.load_table(table.namespace, table.name, headers=ASKING_FOR_CREDENTIALS).expect(
        200
    )
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
            _ETAG_SHARED, "another tag, a weak one, or none", "the same tag", detail=detail
        )
