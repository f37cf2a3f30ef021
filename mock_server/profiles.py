"""Profiles: the mock behaves as a server that people meet, in all that clients notice of it.

A profile is made of operations that are not served, of defects, and of a few wrappers. Each is
compared with the suite's record of the real server, or has to pass the suite where no rule is
broken.
"""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects import defects
from icecheck.mock_server.defects.kit.requests import sent_json
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_body,
    alter_error,
    wrap,
    wrap_each,
)
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.protocol.served_contract import SERVED

_FIXTURES_ENDPOINTS = (
    "POST v1/oauth/tokens",
    "POST https://auth-server.com/token",
    "GET v1/config",
)
# Written wrongly in the list of the real one: an absolute URL, and paths without a slash.
_WRITTEN_OTHERWISE = frozenset({"POST /v1/oauth/tokens", "GET /v1/config"})
_NOT_IN_THE_FIXTURE = (
    "planTableScan", "fetchPlanningResult", "cancelPlanning", "fetchScanTasks", "loadCredentials",
)  # fmt: skip
_DEFECTS_OF_THE_FIXTURE = (
    "list-namespaces-empty-parent-404", "locations-stay-with-the-name", "names-dot-splits",
    "names-separator-upper-case-only", "namespace-drop-orphans",
    "pages-by-size-namespaces", "pages-by-size-tables", "pages-by-size-views",
    "partition-spec-needs-its-id", "transaction-second-change-lost",
    "update-spec-id-demanded",
)  # fmt: skip


_CREATING = ("createTable", "createView", "registerTable", "updateTable")


class Profile(msgspec.Struct, frozen=True):
    """A server to behave as; `install` makes registries of the faithful mock do so."""

    name: str
    install: Callable[[Registries], None]


class UnknownProfile(ValueError):
    """Raised for a profile that does not exist; the message lists those that do."""


def profile_named(name: str) -> Profile:
    """Return a profile; raises UnknownProfile."""
    for profile in PROFILES:
        if profile.name == name:
            return profile
    known = ", ".join(profile.name for profile in PROFILES)
    raise UnknownProfile(f"there is no profile {name!r}: use {known}")


def one_level_namespaces(registries: Registries) -> None:
    """Let namespaces have one level only."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        if len(sent_json(call)["namespace"]) > 1:
            raise problem.bad_request("Namespaces have one level here")
        return outcome

    wrap(registries, "createNamespace", around)


def no_endpoints(registries: Registries) -> None:
    """List no endpoints."""
    alter_body(
        registries,
        "getConfig",
        lambda body: {name: value for name, value in body.items() if name != "endpoints"},
    )


def _legacy(registries: Registries) -> None:
    no_endpoints(registries)
    default = frozenset(SERVED.default_endpoints)
    _hide(
        registries,
        (
            o.id
            for o in SERVED.operations.values()
            if not o.precedes_config and o.endpoint not in default
        ),
    )


def _fixture(registries: Registries) -> None:
    _hide(registries, _NOT_IN_THE_FIXTURE)
    for name in _DEFECTS_OF_THE_FIXTURE:
        defects()[name].install(registries)
    wrap(registries, "reportMetrics", _of_any_table)
    for operation_id in [*registries.operations]:
        alter_error(registries, operation_id, _unparsed)
    wrap_each(registries, registries.operations, _answered_200)
    wrap_each(registries, _CREATING, _in_any_namespace)
    alter_body(registries, "getConfig", _as_listed_there)


def _hide(registries: Registries, operation_ids: Iterable[str]) -> None:
    for operation_id in operation_ids:
        registries.operations.pop(operation_id, None)


def _unparsed(refused: Problem, reply: Reply) -> Reply:
    """What cannot be parsed ends as an exception, which the container answers."""
    if not refused.is_malformed:
        return reply
    return replies.error_reply(500, "RuntimeException", refused.message)


def _answered_200(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    outcome = faithful(state, call)
    if outcome.reply.status != 204:
        return outcome
    return msgspec.structs.replace(outcome, reply=Reply(200))


def _in_any_namespace(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Without its strict mode, the database asks nobody whether a namespace exists."""
    if state.namespace(call.namespace) is None:
        state = state.with_namespace(call.namespace, {})
    return faithful(state, call)


def _of_any_table(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    try:
        return faithful(state, call)
    except Problem as refused:
        if refused.status != 404:
            raise
        return Outcome(state, Reply(200))


def _as_listed_there(body: dict[str, Any]) -> dict[str, Any]:
    kept = [each for each in body["endpoints"] if each not in _WRITTEN_OTHERWISE]
    return body | {"endpoints": [*_FIXTURES_ENDPOINTS, *kept]}


PROFILES = (
    # Apache's REST fixture 1.10 as its jar comes.
    Profile("fixture-1.10", _fixture),
    # A server of before Iceberg 1.7: it lists no endpoints, and has those that clients assume.
    Profile("legacy-no-endpoints", _legacy),
    # A server whose namespaces have one level, as those of most databases.
    Profile("single-level-namespaces", one_level_namespaces),
)
