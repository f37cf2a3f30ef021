"""The target as properties of PyIceberg's REST client."""

from typing import Any

from icecheck.targets.target import Target


def pyiceberg_conf(target: Target) -> dict[str, Any]:
    """Return the properties with which PyIceberg's ``RestCatalog`` reaches ``target``.

    All are text except ``ssl``, which is a table.
    """
    said: dict[str, Any] = {
        "uri": target.base_url,
        "warehouse": target.warehouse,
        "prefix": target.prefix,
        "token": target.token,
        "credential": target.credential,
        "scope": target.scope if target.credential else None,
        "oauth2-server-uri": target.token_endpoint if target.credential else None,
        "ssl": _tls(target),
    }
    if target.sigv4 is not None:
        said |= {
            "rest.sigv4-enabled": "true",
            "rest.signing-region": target.sigv4.region,
            "rest.signing-name": target.sigv4.service,
            "client.access-key-id": target.sigv4.access_key_id,
            "client.secret-access-key": target.sigv4.secret_access_key,
            "client.session-token": target.sigv4.session_token,
        }
    said |= {f"header.{name}": value for name, value in target.headers.items()}
    return {name: value for name, value in said.items() if value is not None}


def _tls(target: Target) -> dict[str, Any] | None:
    tls: dict[str, Any] = {}
    if target.ca_bundle is not None:
        tls["cabundle"] = target.ca_bundle
    if target.client_cert is not None:
        tls["client"] = {"cert": target.client_cert}
        if target.client_key is not None:
            tls["client"]["key"] = target.client_key
    return tls or None
