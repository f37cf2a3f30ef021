"""Finds out, by looking at its answer again, why no config is found at a URL."""

import contextlib

import httpx

from icecheck.contract import Contract
from icecheck.targets.target import Target
from icecheck.targets.usual_urls import usual_urls
from icecheck.wire.connection import Connection, TargetUnusable, Wire
from icecheck.wire.exchange import Exchange, Step
from icecheck.wire.json_text import read_json
from icecheck.wire.redaction import Redactor
from icecheck.wire.unreachable import Unreachable

__all__ = ["WITHOUT_WAREHOUSE", "help_to_reach"]

WITHOUT_WAREHOUSE = "many catalogs serve no config without a warehouse: --warehouse NAME"


def help_to_reach(
    target: Target, contract: Contract, transport: httpx.BaseTransport | None, redactor: Redactor
) -> str:
    """Return the advice for a config that cannot be had, from one more look at the answer."""
    found = _asked(target.base_url, target, contract, transport, redactor)
    status = found.status or 0
    if not status:
        return "check the host, the port and the scheme; for a private authority: --ca-bundle FILE"
    if status in {401, 403}:
        return (
            "give --token, or --credential ID:SECRET with --oauth2-server-uri if it is elsewhere; "
            "AWS wants --sigv4 REGION/SERVICE"
        )
    if 300 <= status < 400:
        return f"it redirects to {found.header('location')}: give that URL"
    if status in {400, 404} and target.warehouse is None and found.claims_json:
        return WITHOUT_WAREHOUSE
    for url in usual_urls(target.base_url):
        if _is_config(answer := _asked(url, target, contract, transport, redactor)):
            return f"a catalog answers at {url}: give that URL"
        if answer.status == 401:
            return f"something that wants credentials answers at {url}: give that URL and --token"
    if status in {400, 404} and target.warehouse is None:
        return WITHOUT_WAREHOUSE
    if b"<html" in found.response_body[:2000].lower():
        return "a web page answers here: give the part of the URL before /v1"
    return "give the part of the URL before /v1, without /v1 itself"


def _asked(
    url: str,
    target: Target,
    contract: Contract,
    transport: httpx.BaseTransport | None,
    redactor: Redactor,
) -> Exchange:
    """Ask for a config below a URL of the same host; return the last exchange."""
    exchanges: list[Exchange] = []
    connection = Connection(target, contract, transport, redactor=redactor)
    asked = f"{url}{target.config_path}"
    wire = Wire("", 1, Step.PROBE, "getConfig", "GET", asked, {}, None)
    with contextlib.suppress(Unreachable, TargetUnusable):
        connection.send(wire, exchanges.append)
    connection.close()
    return exchanges[-1] if exchanges else Exchange("", 1, Step.PROBE, None, "GET", asked, (), None)


def _is_config(exchange: Exchange) -> bool:
    if exchange.status != 200:
        return False
    try:
        return isinstance(read_json(exchange.response_body), dict)
    except ValueError:
        return False
