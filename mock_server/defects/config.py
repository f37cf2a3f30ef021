"""Ways in which servers misinform clients about themselves."""

from typing import Any

import msgspec

from icecheck.mock_server.context import Call, Registries
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import alter_body, alter_call

Body = dict[str, Any]


@defect(
    "config-without-overrides",
    breaks="getConfig.both-maps",
    suffering="PyIceberg refuses the configuration.",
)
def _without_overrides(registries: Registries) -> None:
    """The configuration leaves out overrides when there are none."""
    alter_body(registries, "getConfig", lambda body: {"defaults": body["defaults"]})


@defect("config-numbers", breaks="getConfig.200", suffering="Clients that expect strings fail.")
def _numbers(registries: Registries) -> None:
    """Values of the configuration are numbers where they look like one."""
    alter_body(registries, "getConfig", lambda body: body | {"defaults": {"clients": 4}})


@defect(
    "config-ignores-warehouse",
    breaks="getConfig.warehouse-parameter",
    suffering="Everybody works in the default warehouse.",
)
def _ignores_warehouse(registries: Registries) -> None:
    """The warehouse parameter is ignored: everybody gets the default one."""

    def unnamed(call: Call) -> Call:
        return msgspec.structs.replace(call, query={})

    alter_call(registries, "getConfig", unnamed)


@defect(
    "config-wrong-prefix",
    breaks="getConfig.prefix-serves",
    suffering="Every request of every client is answered 404.",
)
def _wrong_prefix(registries: Registries) -> None:
    """The announced prefix is the one behind the gateway."""

    def behind_gateway(body: Body) -> Body:
        prefix = f"internal/{body['overrides']['prefix']}"
        return body | {"overrides": body["overrides"] | {"prefix": prefix}}

    alter_body(registries, "getConfig", behind_gateway)


def _rewrite_endpoints(registries: Registries, *replacement: str) -> None:
    def rewritten(body: Body) -> Body:
        return body | {"endpoints": [e.replace(*replacement) for e in body["endpoints"]]}

    alter_body(registries, "getConfig", rewritten)


@defect(
    "config-endpoints-with-colon",
    breaks="getConfig.endpoint-format",
    suffering="Spark cannot even create the catalog.",
)
def _with_colon(registries: Registries) -> None:
    """Endpoints are listed as VERB:/path."""
    _rewrite_endpoints(registries, " /", ":/")


@defect(
    "config-endpoints-without-prefix",
    breaks="getConfig.endpoint-spelling",
    suffering="Spark takes every operation for unsupported.",
)
def _without_prefix(registries: Registries) -> None:
    """Endpoints are listed as this server routes them, without the prefix."""
    _rewrite_endpoints(registries, "/{prefix}", "")


@defect(
    "config-lists-unserved",
    breaks="getConfig.listed-endpoints-served",
    suffering="Clients call what does not exist instead of falling back.",
)
def _lists_unserved(registries: Registries) -> None:
    """An operation was removed, and the list of endpoints was forgotten."""
    served = registries.operations

    def kept(body: Body) -> Body:
        forgotten = "HEAD /v1/{prefix}/namespaces/{namespace}"
        return body | {"endpoints": [*body["endpoints"], forgotten]}

    served.pop("namespaceExists", None)
    alter_body(registries, "getConfig", kept)


@defect(
    "config-silent-about-gaps",
    breaks="getConfig.default-endpoints-served",
    suffering="Clients assume the default endpoints and run into 404.",
)
def _silent_about_gaps(registries: Registries) -> None:
    """Metrics are not served, and no list of endpoints says so."""
    registries.operations.pop("reportMetrics", None)

    def silent(body: Body) -> Body:
        return {key: value for key, value in body.items() if key != "endpoints"}

    alter_body(registries, "getConfig", silent)
