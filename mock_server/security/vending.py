"""Storage credentials for one table: of the object store, or made up for S3, GCS and ADLS."""

import hashlib
from collections.abc import Mapping
from itertools import takewhile
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec

from icecheck.mock_server.core.context import Call, Context, Reply
from icecheck.mock_server.core.locations import written_places
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.core.vending_settings import SCHEMES, VendingSettings
from icecheck.mock_server.metadata.encoding import decode
from icecheck.mock_server.metadata.model import TableMetadata
from icecheck.mock_server.security.callers import Caller
from icecheck.mock_server.security.settings import SIGNING

if TYPE_CHECKING:
    from icecheck.mock_server.objects.store import ObjectStore

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
    half_ms = settings.seconds * 500
    period = context.clock.now_ms() // half_ms
    may_write = may_commit(context, call)
    tag = f"{period}" if may_write else f"{period}-reading"
    credentials = _credentials(context, settings, metadata, period * half_ms, may_write)
    if VENDED_CREDENTIALS in asked and credentials:
        config = _table_config(context, settings, metadata, credentials, path)
        more = {"config": config, "storage-credentials": credentials}
        return _extended(reply, more, f"vended-{tag}")
    if REMOTE_SIGNING in asked and settings.signer_uri is not None:
        config = {
            **settings.table_config,
            "client.region": settings.region,
            "s3.remote-signing-enabled": "true",
            "s3.signer.uri": settings.signer_uri,
        }
        return _extended(reply, {"config": config}, "signing")
    signs = REMOTE_SIGNING in asked and SIGNING in context.registries.operations
    if signs and context.objects is not None and credentials:
        token = credentials[0]["config"]["s3.session-token"]
        endpoint = f"{path.lstrip('/')}/sign?{GRANTED}={quote(token)}"
        signing = _own_signing(context.objects, settings, call, endpoint)
        return _extended(reply, {"config": signing}, f"signing-{tag}")
    return reply


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


def _own_signing(
    objects: "ObjectStore", settings: VendingSettings, call: Call, endpoint: str
) -> dict[str, str]:
    """Return the config by which a table's client has its requests signed here.

    Where a client reaches this server it knows best itself: it is told as it asked.
    """
    host = call.request.headers.get("host")
    return {
        **settings.table_config,
        **objects.address_properties(),
        "client.region": settings.region,
        "s3.remote-signing-enabled": "true",
        **({"s3.signer.uri": f"http://{host}"} if host else {}),
        "s3.signer.endpoint": endpoint,
    }


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
    covering = [each for each in credentials if metadata.location.startswith(each["prefix"])]
    best = max(covering, key=lambda each: len(each["prefix"]))
    config = {**settings.table_config, **best["config"]}
    if "loadCredentials" in context.registries.operations:
        config[_REFRESHING[settings.storage]] = f"{path}/credentials"
    return config


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
