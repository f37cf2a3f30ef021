"""Requests to a table's files as clients describe them to a signer, and where that is."""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import given_loaded, given_table, shared_object, some_table
from icecheck.client.sender import DELEGATION_HEADER
from icecheck.conformance.kit.other_principals import bearer
from icecheck.objects.arranging import require
from icecheck.objects.reading import not_applicable, object_in
from icecheck.replies.expect import Blocked, Reply
from icecheck.targets.addresses import climbs_out
from icecheck.targets.target import Namespace

Headers = Mapping[str, str]
Json = dict[str, Any]

DELEGATION: Headers = {DELEGATION_HEADER: "remote-signing"}
_ON = "s3.remote-signing-enabled"
_REGION = "client.region"
_SCHEMES = frozenset({"s3", "s3a", "s3n"})
_LEGACY_PATH = "v1/aws/s3/sign"
"""Where Java's client asks if s3.signer.endpoint is absent."""


@dataclass(frozen=True, slots=True)
class Signer:
    """The signer of a table, as the table's config tells its clients of it.

    ``config`` is that of the table, ``settings`` has the catalog's own settings too, and ``base``
    is the address of the catalog without a slash at its end. ``file`` is the path of a file below
    the table's location: it need not be there.
    """

    table: Table
    config: Mapping[str, str]
    settings: Mapping[str, str]
    base: str
    file: str = "data/icecheck.parquet"

    @property
    def region(self) -> str:
        """The region that clients sign for."""
        return self.settings.get(_REGION, "us-east-1")

    @property
    def location(self) -> str:
        """The table's location, without a slash at its end."""
        return str(self.table.metadata["location"]).rstrip("/")

    @property
    def names(self) -> Mapping[str, str | Namespace]:
        """The names of the table in a path."""
        return {"namespace": self.table.namespace, "table": self.table.name}

    @property
    def token(self) -> Headers:
        """The token that the table's config names for requests about it, as a header."""
        token = self.config.get("token")
        return {} if token is None else bearer(token)

    def uri(self, location: str) -> str:
        """Return the URI of an object of S3, as Java's client makes it from the settings."""
        bucket, _, key = location.partition("://")[2].partition("/")
        endpoint = self.settings.get("s3.endpoint")
        in_path = self.settings.get("s3.path-style-access", "").lower() == "true"
        if endpoint is None:
            end = ".cn" if self.region.startswith("cn-") else ""
            endpoint = f"https://s3.{self.region}.amazonaws.com{end}"
        scheme, _, address = endpoint.rstrip("/").partition("://")
        # No certificate is for a name before the bucket's dots, and no bucket is below a number.
        if in_path or (scheme != "http" if "." in bucket else _is_number(endpoint)):
            return f"{scheme}://{address}/{bucket}/{quote(key)}"
        return f"{scheme}://{bucket}.{address}/{quote(key)}"

    def request(self, method: str, location: str, **members: Any) -> Json:
        """Return a request for an object as clients send it to be signed."""
        uri = self.uri(location)
        return {
            "region": self.region,
            "uri": uri,
            "method": method,
            "headers": {"Host": [urlsplit(uri).netloc], "amz-sdk-request": ["attempt=1; max=4"]},
            "provider": "s3",
            **members,
        }

    def own(self, method: str = "GET") -> Json:
        """Return a request for a file of the table."""
        return self.request(method, f"{self.location}/{self.file}")

    def beside(self, name: str) -> str:
        """Return the location beside the table's that ends in a name."""
        return f"{self.location.rpartition('/')[0]}/{name}"

    def addresses(self) -> dict[str, str]:
        """Return setting -> address for each signer that clients find in the config."""
        config, found = self.config, {}
        if (endpoint := config.get("signer.endpoint")) is not None:
            found["signer.endpoint"] = _resolved(config.get("signer.uri", self.base), endpoint)
        uri, endpoint = config.get("s3.signer.uri"), config.get("s3.signer.endpoint")
        if uri is not None or endpoint is not None:
            address = _resolved(uri or self.base, endpoint or _LEGACY_PATH)
            found["s3.signer.endpoint"] = address
        return found

    @property
    def default_address(self) -> str:
        """Where Java's client asks if no setting of S3's signer names an address."""
        return _resolved(self.base, _LEGACY_PATH)

    def send(self, catalog: Catalog, body: Any, headers: Headers | None = None) -> Reply:
        """Send a request to be signed where the document has the operation.

        What the config's address of it has in its query is sent too. Raises Blocked where the
        table's own token is not accepted.
        """
        operation = catalog.contract.operations["signRequest"]
        path = catalog.session.offer.path(operation.path, self.names)
        told = [each[len(self.base) :] for each in self.addresses().values() if self.is_here(each)]
        path = next((each for each in told if each.partition("?")[0] == path), path)
        return self.send_to(catalog, path, body, headers)

    def send_to(
        self, catalog: Catalog, path: str, body: Any, headers: Headers | None = None
    ) -> Reply:
        """Send a request to be signed to a path below the catalog's address."""
        theirs = self.token if headers is None else headers
        reply = catalog.call("signRequest", self.names, path=path, body=body, headers=theirs)
        if headers is None and theirs and reply.status == 401:
            by = "loadTable.token-of-the-table"
            raise Blocked(by, "the table's token is not accepted", exchange=reply.exchange.ordinal)
        return reply

    def is_here(self, address: str) -> bool:
        """Return whether an address is below that of the catalog."""
        path = address[len(self.base) :].partition("?")[0]
        return address.startswith(f"{self.base}/") and not climbs_out(path)


def signer_of(catalog: Catalog, theirs: Headers | None = None) -> Signer:
    """Return the signer of a table of the run, as it is told to the run, or to others.

    Raises NotOffered where the catalog does not list the operation, or its tables are not signed
    for.
    """
    require(catalog, "signRequest", "loadTable")
    table = _table(catalog)
    asked = {**DELEGATION, **(theirs or {})}
    reply = catalog.load_table(table.namespace, table.name, headers=asked)
    if not reply.ok:
        # Whether such a header may be refused is judged with loadTable.
        who = "the run" if theirs is None else "the other principal"
        raise not_applicable(f"{who} asks for remote signing and is answered {reply.status}")
    config = _texts(object_in(reply).get("config"))
    if config.get(_ON, "").lower() != "true":
        raise not_applicable("the config of a table does not turn remote signing on")
    if str(table.metadata.get("location")).partition("://")[0] not in _SCHEMES:
        raise not_applicable("the tables of the catalog are not in S3")
    offer = catalog.session.offer
    settings = {**_texts(offer.defaults), **_texts(offer.overrides), **config}
    if _REGION not in settings and "s3.endpoint" not in settings:
        raise not_applicable("the catalog names neither the region nor the endpoint of its tables")
    return Signer(table, config, settings, catalog.target.base_url)


def _table(catalog: Catalog) -> Table:
    """Return a table whose creator has asked for remote signing: a catalog may place it by that."""
    if catalog.target.read_only:
        return some_table(catalog)
    return shared_object(catalog, "signed table", _made)


def _made(maker: Catalog, namespace: Namespace) -> Table:
    try:
        made = given_table(maker, namespace, headers=DELEGATION)
    except Blocked:
        made = given_table(maker, namespace)  # the header alone may be refused
    return given_loaded(maker, made)


def _texts(value: Any) -> dict[str, str]:
    """Return the settings whose values are texts."""
    members = value if isinstance(value, Mapping) else {}
    return {key: each for key, each in members.items() if isinstance(each, str) and each}


def _resolved(base: str, endpoint: str) -> str:
    """Return the address of an endpoint, as Java's client resolves it."""
    if endpoint.startswith(("http://", "https://")):
        return endpoint
    return f"{base.rstrip('/')}/{endpoint.lstrip('/')}"


def _is_number(endpoint: str) -> bool:
    """Return whether the host of an endpoint is an IP address."""
    try:
        ipaddress.ip_address(urlsplit(endpoint).hostname or "")
    except ValueError:
        return False
    return True
