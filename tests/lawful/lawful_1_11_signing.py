"""Catalogs that sign requests unlike the mock, and break no rule of the document of 1.11.0."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.changing import refuse_where
from icecheck.mock_server.defects.kit.requests import sent_json
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_answer,
    alter_body,
    alter_request_body,
    refuse_as,
    wrap,
)
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.protocol.served_contract import KNOWN
from tests.lawful.lawful import Install

Body = dict[str, Any]
SIGN = "signRequest"
_REQUIRED = {"region", "uri", "method", "headers"}
ELSEWHERE = "https://signer.example.org/aws/sign"


def _config(alter: Callable[[Body], Body]) -> Install:
    """Change the config of loaded tables that turns remote signing on."""

    def altered(body: Body) -> Body:
        config = body.get("config") or {}
        return body | {"config": alter(config)} if "s3.remote-signing-enabled" in config else body

    return lambda registries: alter_body(registries, "loadTable", altered)


def _without(*beginnings: str) -> Install:
    return _config(lambda c: {k: v for k, v in c.items() if not k.startswith(beginnings)})


def _elsewhere(config: Body) -> Body:
    """Name an absolute endpoint at another server, for every generation of clients."""
    ours = {k: v for k, v in config.items() if "signer." not in k}
    return ours | {"signer.endpoint": ELSEWHERE, "s3.signer.endpoint": ELSEWHERE}


def _absolute(config: Body) -> Body:
    """Name absolute endpoints here, with a query of their own and without a base."""
    told = f"{config['signer.uri']}/{config['signer.endpoint']}?for=one%20table"
    ours = {k: v for k, v in config.items() if "signer." not in k}
    return ours | {"signer.endpoint": told, "s3.signer.endpoint": told}


def _lower_case_and_more(_call: Call, body: Body) -> Body:
    """Answer every header, those that were sent too, in lower case, and one of the server's own."""
    headers = {name.lower(): values for name, values in body["headers"].items()}
    more = {"x-amz-meta-signer": ["one", "two"], "host": ["bucket.example.org"], "range": []}
    return {"uri": body["uri"], "headers": more | headers, "expires-in": 30}


def _rewritten(_call: Call, body: Body) -> Body:
    """Sign by the query of another uri, in front of the store, and with no header."""
    signed = "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=00ff"
    return {"uri": f"https://proxy.example.org/{len(body['uri'])}?{signed}", "headers": {}}


def _answer(alter: Callable[[Call, Body], Body]) -> Install:
    return lambda registries: alter_answer(registries, SIGN, alter)


def _caching(value: str | None) -> Install:
    """Answer another Cache-Control, or None."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        kept = [each for each in outcome.reply.headers if each[0] != "cache-control"]
        if value is not None:
            kept.append(("Cache-Control", value))
        return replace(outcome, reply=replace(outcome.reply, headers=tuple(kept)))

    return lambda registries: wrap(registries, SIGN, around)


def _reading_only(status: int) -> Install:
    """Sign nothing that writes, for nobody."""

    def writes(_state: WarehouseState, call: Call) -> bool:
        return sent_json(call).get("method") in {"PUT", "POST", "DELETE", "PATCH"}

    return lambda registries: refuse_where(registries, SIGN, writes, status, "ForbiddenException")


def _of_files_that_are_there(registries: Registries) -> None:
    """Sign to read nothing but metadata files of the table: no other file of it is there."""

    def is_missing(state: WarehouseState, call: Call) -> bool:
        sent = sent_json(call)
        if state.table(call.namespace, call.name) is None or not sent.keys() >= _REQUIRED:
            return False  # that is told first
        return sent["method"] == "GET" and "/data/" in str(sent["uri"])

    refuse_where(registries, SIGN, is_missing, 403, "ForbiddenException")


def _copies_uncovered(registries: Registries) -> None:
    """Sign the request without the headers that it does not know: S3 refuses what has them."""

    def known(body: Body) -> Body:
        headers = body.get("headers")
        if not isinstance(headers, dict):
            return body
        kept = {k: v for k, v in headers.items() if not k.lower().startswith("x-amz-copy")}
        return body | {"headers": kept}

    alter_request_body(registries, SIGN, known)


def _refusing_outside(status: int) -> Install:
    """Answer another status than 403 to a request for what is not of the table."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        entry = state.table(call.namespace, call.name)
        key = "" if entry is None else entry.metadata.location.partition("://")[2].partition("/")[2]
        try:
            return faithful(state, call)
        except Problem as refused:
            if refused.status == 403 and f"{key}/" not in str(sent_json(call).get("uri")):
                raise Problem(status, "BadRequestException", refused.message) from None
            raise

    return lambda registries: wrap(registries, SIGN, around)


def _unlisted(registries: Registries) -> None:
    """Sign by the older protocol, and do not list the operation."""
    endpoint = KNOWN.operations[SIGN].endpoint

    def told(body: Body) -> Body:
        return body | {"endpoints": [each for each in body["endpoints"] if each != endpoint]}

    alter_body(registries, "getConfig", told)


def _refuses_to_be_asked(registries: Registries) -> None:
    """Refuse whoever asks for signing alone, as an access that is not supported."""

    def asks(_state: WarehouseState, call: Call) -> bool:
        return call.request.headers.get("x-iceberg-access-delegation") == "remote-signing"

    for operation_id in ("createTable", "loadTable"):
        refuse_where(registries, operation_id, asks)


def _own_region(registries: Registries) -> None:
    """Name the region for the whole catalog, and not with each table."""

    def told(body: Body) -> Body:
        return body | {"defaults": body["defaults"] | {"client.region": "cn-north-1"}}

    alter_body(registries, "getConfig", told)
    _without("client.region")(registries)


def _s3_of_another(registries: Registries) -> None:
    """Vend keys beside the signer, as it may: clients choose."""
    keys = {"s3.access-key-id": "key", "s3.secret-access-key": "icecheck-lawful-secret"}
    _config(lambda config: config | keys)(registries)


def _without_token(registries: Registries) -> None:
    """Name no token with a table: requests about it have the catalog's own."""
    _without("token")(registries)


def _in_another_order(_call: Call, body: Body) -> Body:
    return dict(reversed(body.items()))


SIGNS: dict[str, Install] = {
    "at-another-server": _config(_elsewhere),
    "at-absolute-endpoints": _config(_absolute),
    "below-the-catalogs-own-address": _without("signer.uri", "s3.signer.uri"),
    "with-lower-case-headers-and-more": _answer(_lower_case_and_more),
    "by-a-query": _answer(_rewritten),
    "members-in-another-order": _answer(_in_another_order),
    "private-for-a-while": _caching("Private, max-age=30"),
    "never-to-be-kept": _caching("no-store, no-cache"),
    "for-readers-alone": _reading_only(403),
    "for-readers-alone-otherwise-malformed": _reading_only(400),
    "of-files-that-are-there": _of_files_that_are_there,
    "copies-uncovered": _copies_uncovered,
    "outside-is-malformed": _refusing_outside(400),
    "outside-is-not-found": _refusing_outside(404),
    "in-china": _own_region,
    "beside-keys": _s3_of_another,
    "without-token": _without_token,
}
"""Name -> a catalog that signs; no check may fail on it."""

SHORT_OF_A_SHOULD: dict[str, tuple[Install, str]] = {
    "silent-about-caching": (_caching(None), "signRequest.cache-control"),
    "no-table-is-malformed": (
        lambda registries: refuse_as(registries, SIGN, 404, 400),
        "signRequest.missing-table-is-404",
    ),
    "no-table-is-forbidden": (
        lambda registries: refuse_as(registries, SIGN, 404, 403),
        "signRequest.missing-table-is-404",
    ),
    "of-the-older-protocol": (_without("signer."), "loadTable.signer-endpoint"),
    "of-the-document-alone": (_without("s3.signer."), "loadTable.signer-of-older-clients"),
}
"""Name -> a catalog that breaks no MUST, and the one check of a lesser level that it fails."""

SIGNS_NOT: dict[str, Install] = {
    "unlisted": _unlisted,
    "turned-off": _config(lambda config: config | {"s3.remote-signing-enabled": "false"}),
    "not-turned-on": _without("s3.remote-signing"),
    "refuses-to-be-asked": _refuses_to_be_asked,
}
"""Name -> a catalog of which no check of signing says anything."""
