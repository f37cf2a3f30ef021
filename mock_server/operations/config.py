"""getConfig: the settings that a client needs before any other request."""

from functools import lru_cache
from typing import Any

from icecheck.mock_server.core.context import Call, Context, Outcome, Reply, WarehouseSettings
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.operations.registry import operation
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.protocol.served_contract import operations_of
from icecheck.mock_server.security.settings import SIGNING


@operation("getConfig")
def get_config(context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Answer prefix and endpoints of a warehouse (L75-L160), and what keys and paths it takes.

    A warehouse that is not there is 404 as of 1.11.0, and 400 before, which had no 404 here.
    """
    settings = _settings(context, call)
    overrides = dict(settings.overrides)
    if settings.prefix:
        overrides["prefix"] = settings.prefix
    if context.separator is not None:
        overrides["namespace-separator"] = context.separator
    lifetime = None if context.idempotency is None else context.idempotency.lifetime
    reply = _reply(
        tuple(settings.defaults.items()),
        tuple(overrides.items()),
        context.contract.version,
        tuple(context.registries.operations),
        settings.signs,
        lifetime,
    )
    return Outcome(state, reply)


@lru_cache(64)
def _reply(
    defaults: tuple[tuple[str, str], ...],
    overrides: tuple[tuple[str, str], ...],
    version: str,
    operations: tuple[str, ...],
    signs: bool,
    lifetime: str | None,
) -> Reply:
    """Return the answer, whose bytes are nearly always the same ones."""
    body: dict[str, Any] = {
        "defaults": dict(defaults),
        "overrides": dict(overrides),
        "endpoints": _endpoints(version, operations, signs=signs),
    }
    if lifetime is not None:
        body["idempotency-key-lifetime"] = lifetime
    return replies.json_reply(body)


def _settings(context: Context, call: Call) -> WarehouseSettings:
    try:
        return context.settings_of(call.query.get("warehouse"))
    except Problem as refused:
        if refused.status != 404 or context.contract.is_at_least("1.11.0"):
            raise
        raise problem.bad_request(refused.message) from None


def _endpoints(version: str, operations: tuple[str, ...], *, signs: bool) -> tuple[str, ...]:
    """Return the operations that a warehouse has, as `VERB /path`, in the document's order."""
    served = {id_ for id_ in operations if signs or id_ != SIGNING}
    return tuple(each.endpoint for each in operations_of(version).values() if each.id in served)
