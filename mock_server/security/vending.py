"""Storage credentials for one table: of the object store, or made up for S3, GCS and ADLS."""

import hashlib
from collections.abc import Mapping
from itertools import takewhile
from typing import Any
from urllib.parse import quote

import msgspec

from icecheck.mock_server.core.context import Call, Context, Reply
from icecheck.mock_server.core.locations import written_places
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.core.vending_settings import SCHEMES, VendingSettings
from icecheck.mock_server.metadata.encoding import decode
from icecheck.mock_server.metadata.model import TableMetadata
from icecheck.mock_server.objects.access import Keys
from icecheck.mock_server.objects.places import place_of
from icecheck.mock_server.protocol.names import directory_of
from icecheck.mock_server.security.callers import Caller
from icecheck.mock_server.security.settings import SIGNING

VENDED_CREDENTIALS = "vended-credentials"
REMOTE_SIGNING = "remote-signing"
GRANTED = "grant-token"
"""The parameter of a signer's endpoint that says what its table had been granted."""

# Local storage needs no credentials, but they do no harm: clients can be tried on local files.
_LOCALSCHEMES = ("file", "memory")
_REFRESHING: Mapping[str, str] = {
    "s3": "client.refresh-credentials-endpoint",
    "gcs": "gcs.oauth2.refresh-credentials-endpoint",
    "adls": "adls.refresh-credentials-endpoint",
}
_COMMIT = "updateTable"
_VENDING = frozenset({"createTable", "registerTable"})
"""The operations that are no reading, and whose answers have credentials for a new table."""
_ADLS_HOST = "icecheck.dfs.core.windows.net"
_ENDPOINT = "s3.endpoint"
_ADDRESSING = (_ENDPOINT, "s3.path-style-access")
_OF_SIGNERS = "v1/aws/s3/sign"
"""Where clients find a signer of which they know the server alone."""


class _Named(msgspec.Struct):
    name: str


class _Loaded(msgspec.Struct):
    metadata: msgspec.Raw


class _Planned(msgspec.Struct):
    status: str


def with_access(
    context: Context, call: Call, metadata: TableMetadata, reply: Reply, path: str
) -> Reply:
    """Add to a LoadTableResult the access that `X-Iceberg-Access-Delegation` asks for (L1857).

    The header is a list; its members are as the document spells them, and others are ignored. If
    both mechanisms are offered, credentials win. The same credentials are given for half of their
    lifetime, so that the answer is one representation for that time: its entity tag names it.
    `path` is the raw path of the table.
    """
    settings = context.vending
    asked = set() if settings is None else _asked(call)
    if settings is None or asked.isdisjoint({VENDED_CREDENTIALS, REMOTE_SIGNING}):
        return reply
    period = _period(context, settings)
    may_write = may_commit(context, call)
    tag = f"{period}" if may_write else f"{period}-reading"
    credentials = _credentials(context, settings, metadata, period * _half_ms(settings), may_write)
    if VENDED_CREDENTIALS in asked and credentials:
        config = _table_config(context, settings, metadata, credentials, path)
        more = {"config": config, "storage-credentials": credentials}
        return _extended(reply, more, f"vended-{tag}")
    if REMOTE_SIGNING not in asked:
        return reply
    if settings.signer_uri is not None:
        config = _signing(context, settings, settings.signer_uri, _OF_SIGNERS)
        return _extended(reply, {"config": config}, "signing")
    if not (signs(context) and credentials and place_of(metadata.location)):
        return reply
    # Where a client reaches this server it knows best itself: it is told as it asked.
    host = call.request.headers.get("host")
    uri, endpoint = f"http://{host}" if host else None, f"{path.lstrip('/')}/sign"
    if context.objects is not None:
        endpoint += f"?{GRANTED}={quote(credentials[0]['config']['s3.session-token'])}"
    config = _signing(context, settings, uri, endpoint)
    return _extended(reply, {"config": config}, f"signing-{tag}")


def signs(context: Context) -> bool:
    """Return whether requests to the tables of a warehouse are signed here.

    That is so in the server's own object store. Where credentials are made up it is a matter of
    the document: servers of older ones have never signed there.
    """
    settings = context.vending
    if settings is None or SIGNING not in context.registries.operations:
        return False
    return context.objects is not None or (
        settings.signs and context.contract.is_at_least("1.11.0")
    )


def location_for_signing(context: Context, call: Call, name: str, uuid: str) -> str | None:
    """Return where a new table is put because of the access that its creator asks for, or None."""
    settings = context.vending
    below = None if settings is None else settings.signed_below
    asked = set() if below is None else _asked(call)
    if REMOTE_SIGNING not in asked or VENDED_CREDENTIALS in asked or not signs(context):
        return None
    directories = map(directory_of, (context.warehouse, *call.namespace, name))
    return f"{'/'.join((str(below), *directories))}-{uuid[:8]}"


def signing_keys(context: Context, settings: VendingSettings, metadata: TableMetadata) -> Keys:
    """Return the credentials that clients of a table of S3 are given at this time."""
    from_ms = _period(context, settings) * _half_ms(settings)
    credentials = _credentials(context, settings, metadata, from_ms, may_write=True)
    config = _best(credentials, metadata)["config"]
    return Keys(
        config["s3.access-key-id"], config["s3.secret-access-key"], config.get("s3.session-token")
    )


def endpoint_of(settings: VendingSettings) -> str | None:
    """Return the endpoint of the store that the tables of these settings are in; None: Amazon's."""
    named = {**settings.table_config, **settings.config}.get(_ENDPOINT)
    return None if named is None else named.rstrip("/")


def with_planned_access(
    context: Context, call: Call, metadata: TableMetadata, reply: Reply
) -> Reply:
    """Add credentials for the files of a completed plan, if the header asks for them."""
    if context.vending is None or VENDED_CREDENTIALS not in _asked(call):
        return reply
    credentials = storage_credentials(context, call, metadata)
    return _extended(reply, {"storage-credentials": credentials}, "") if credentials else reply


def vended_again(context: Context, call: Call, state: WarehouseState, reply: Reply) -> Reply:
    """Return the answer to a repeated request: what it lacks is vended for now, and its caller."""
    if context.vending is None or reply.status != 200 or not _asked(call):
        return reply
    if call.operation_id == "planTableScan":
        entry = state.table(call.namespace, call.name)
        if entry is None or msgspec.json.decode(reply.body, type=_Planned).status != "completed":
            return reply
        return with_planned_access(context, call, entry.metadata, reply)
    if call.operation_id not in _VENDING:
        return reply
    metadata = decode(bytes(msgspec.json.decode(reply.body, type=_Loaded).metadata))
    name = msgspec.json.decode(call.request.body, type=_Named).name
    return with_access(context, call, metadata, reply, table_path(call, name))


def storage_credentials(
    context: Context, call: Call, metadata: TableMetadata
) -> list[dict[str, Any]]:
    """Return a table's credentials with their whole lifetime from now on."""
    if context.vending is None:
        return []
    now_ms, may_write = context.clock.now_ms(), may_commit(context, call)
    return _credentials(context, context.vending, metadata, now_ms, may_write)


def may_commit(context: Context, call: Call) -> bool:
    """Return whether the sender of a call may commit to tables, and so write their files."""
    if not context.security.restricts:
        return True
    caller = context.security.identify(call.request.headers.get("authorization"))
    return isinstance(caller, Caller) and not any(
        each.read_only or _COMMIT in each.denied_operations for each in caller.permissions
    )


def _signing(
    context: Context, settings: VendingSettings, uri: str | None, endpoint: str
) -> dict[str, str]:
    """Return the config by which a table's client has its requests signed.

    As of 1.11.0 it has the signer's address by the document's names, and by those that older
    clients know.
    """
    is_here = settings.signer_uri is None
    later = context.contract.is_at_least("1.11.0")
    config = dict(settings.table_config)
    if context.objects is not None and is_here:
        config |= context.objects.address_properties()
    elif later:
        config |= {key: settings.config[key] for key in _ADDRESSING if key in settings.config}
    config |= {"client.region": settings.region, "s3.remote-signing-enabled": "true"}
    for generation in ("s3.signer", "signer") if later else ("s3.signer",):
        if uri is not None:
            config[f"{generation}.uri"] = uri
        if is_here or later:
            config[f"{generation}.endpoint"] = endpoint
    return config


def _half_ms(settings: VendingSettings) -> int:
    """Return half of the lifetime of credentials: for so long the same ones are given."""
    return settings.seconds * 500


def _period(context: Context, settings: VendingSettings) -> int:
    return context.clock.now_ms() // _half_ms(settings)


def _asked(call: Call) -> set[str]:
    header = call.request.headers.get("x-iceberg-access-delegation")
    return {member.strip() for member in header.split(",")} if header else set()


def _credentials(
    context: Context,
    settings: VendingSettings,
    metadata: TableMetadata,
    from_ms: int,
    may_write: bool,
) -> list[dict[str, Any]]:
    """Return a credential for every prefix, the table's own location always covered.

    Empty if the location is of another storage. Those of the object store are for the table's own
    places, and for writing only with `may_write`.
    """
    expires_ms = from_ms + settings.seconds * 1000
    own = _own_prefix(metadata)
    if context.objects is not None:
        places = written_places(metadata)
        keys = context.objects.vend(
            places, context.location, may_write=may_write, expires_ms=expires_ms
        )
        if keys is None:
            return []
        config = {
            **context.objects.properties(keys),
            "s3.session-token-expires-at-ms": str(expires_ms),
            "client.region": settings.region,
        }
        return [{"prefix": own, "config": {**config, **settings.config}}]
    scheme, colon, _ = metadata.location.partition(":")
    if colon and scheme.lower() not in (*SCHEMES[settings.storage], *_LOCALSCHEMES):
        return []
    prefixes = list(settings.prefixes)
    if not any(own.startswith(prefix) for prefix in prefixes):
        prefixes.append(own)
    return [
        {"prefix": prefix, "config": _config(context, settings, prefix, expires_ms)}
        for prefix in prefixes
    ]


def _own_prefix(metadata: TableMetadata) -> str:
    """Return the table's location, or the common beginning of all locations it writes to."""
    places = written_places(metadata)
    if all(_lies_in(place, metadata.location) for place in places):
        return metadata.location
    scheme, separator, _ = metadata.location.partition("://")
    if not separator:
        return metadata.location
    scheme += separator
    segments = [place.split("/") for place in places if place.startswith(scheme)]
    first, last = min(segments), max(segments)
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    shared = "/".join(segment for segment, _ in same)
    return shared if len(shared) > len(scheme) else scheme


def _lies_in(place: str, location: str) -> bool:
    return place == location or place.startswith(location.rstrip("/") + "/")


def _config(
    context: Context, settings: VendingSettings, prefix: str, expires_ms: int
) -> dict[str, str]:
    def secret(name: str) -> str:
        text = f"{name}\0{context.warehouse}\0{prefix}\0{expires_ms}".encode()
        return hashlib.blake2b(text, key=context.identities.token_key, digest_size=20).hexdigest()

    match settings.storage:
        case "s3":
            made_up = {
                "s3.access-key-id": f"ICECHECK{secret('id')[:12].upper()}",
                "s3.secret-access-key": secret("secret"),
                "s3.session-token": secret("token"),
                "s3.session-token-expires-at-ms": str(expires_ms),
                "client.region": settings.region,
            }
        case "gcs":
            made_up = {
                "gcs.oauth2.token": secret("token"),
                "gcs.oauth2.token-expires-at": str(expires_ms),
            }
        case "adls":
            host = _adls_host(prefix)
            made_up = {}
            # Some clients look for the host, others for the account alone.
            for account in dict.fromkeys((host, host.partition(".")[0])):
                made_up[f"adls.sas-token.{account}"] = f"sv=2026-01-01&sig={secret('sas')}"
                made_up[f"adls.sas-token-expires-at-ms.{account}"] = str(expires_ms)
    return {**made_up, **settings.config}


def _adls_host(prefix: str) -> str:
    authority = prefix.partition("://")[2].partition("/")[0]
    return authority.partition("@")[2] or _ADLS_HOST


def _table_config(
    context: Context,
    settings: VendingSettings,
    metadata: TableMetadata,
    credentials: list[dict[str, Any]],
    path: str,
) -> dict[str, str]:
    """Return the `config` entries for clients that do not read `storage-credentials`."""
    config = {**settings.table_config, **_best(credentials, metadata)["config"]}
    if "loadCredentials" in context.registries.operations:
        config[_REFRESHING[settings.storage]] = f"{path}/credentials"
    return config


def _best(credentials: list[dict[str, Any]], metadata: TableMetadata) -> dict[str, Any]:
    """Return the credential that clients choose for a table's own location."""
    covering = [each for each in credentials if metadata.location.startswith(each["prefix"])]
    return max(covering, key=lambda each: len(each["prefix"]))


def table_path(call: Call, name: str) -> str:
    """Return the raw path of a table, from the call that makes it in a namespace."""
    namespace_path = call.request.raw_path.rpartition("/")[0]
    return f"{namespace_path}/tables/{quote(name, safe='')}"


def _extended(reply: Reply, more: Mapping[str, Any], representation: str) -> Reply:
    members = msgspec.json.encode(more)
    headers = tuple(
        (name, f'{value[:-1]}-{representation}"' if name == "etag" else value)
        for name, value in reply.headers
    )
    return Reply(reply.status, headers, reply.body[:-1] + b"," + members[1:])
