"""The target as properties of Iceberg's REST client for Spark."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from icecheck.targets.target import Target


def catalog_conf(target: "Target") -> dict[str, str]:
    """Return the properties of an Iceberg catalog that reaches ``target``.

    The keys have no ``spark.sql.catalog.<name>.`` prefix. The client has no socket timeout of its
    own, so it gets the target's: a server that hangs must not hang the run. Its cache of tables is
    off: a statement must see what the catalog keeps, not what the client remembers of its own
    commits.
    """
    timeout_ms = str(round(target.timeout_seconds * 1000))
    properties = {
        "type": "rest",
        "uri": target.base_url,
        "cache-enabled": "false",
        "rest.client.connection-timeout-ms": timeout_ms,
        "rest.client.socket-timeout-ms": timeout_ms,
    }
    optional = {
        "warehouse": target.warehouse,
        "prefix": target.prefix,
        "token": target.token,
        "credential": target.credential,
        "scope": target.scope if target.credential else None,
        "oauth2-server-uri": target.token_endpoint if target.credential else None,
    }
    if target.sigv4 is not None:
        optional |= {
            "rest.sigv4-enabled": "true",
            "rest.signing-region": target.sigv4.region,
            "rest.signing-name": target.sigv4.service,
            "rest.access-key-id": target.sigv4.access_key_id,
            "rest.secret-access-key": target.sigv4.secret_access_key,
            "rest.session-token": target.sigv4.session_token,
        }
    properties |= {name: value for name, value in optional.items() if value is not None}
    return properties | {f"header.{name}": value for name, value in target.headers.items()}
