"""Defects of getConfig and of the list of endpoints."""

import msgspec

from icecheck.mock_server.core.context import Call, Registries
from icecheck.mock_server.defects.kit.declaring import by, declare, defect
from icecheck.mock_server.defects.kit.places import answer_of, call_of
from icecheck.mock_server.defects.kit.requests import Json
from icecheck.mock_server.defects.kit.rewriting import alter_body

declare(
    "config-without-overrides",
    "The configuration leaves out overrides when there are none.",
    by(alter_body, "getConfig", lambda body: {"defaults": body["defaults"]}),
    breaks="getConfig.both-maps",
    suffering="PyIceberg refuses the configuration.",
)

declare(
    "config-numbers",
    "Values of the configuration are numbers where they look like one.",
    by(alter_body, "getConfig", lambda body: body | {"defaults": {"clients": 4}}),
    breaks="getConfig.200",
    suffering="Clients that expect strings fail.",
)


@defect(
    "config-ignores-warehouse",
    on=call_of("getConfig"),
    breaks="getConfig.warehouse-parameter",
    suffering="Everybody works in the default warehouse.",
)
def _ignores_warehouse(call: Call) -> Call:
    """The warehouse parameter is ignored: everybody gets the default one."""
    return msgspec.structs.replace(call, query={})


@defect(
    "config-wrong-prefix",
    on=answer_of("getConfig"),
    breaks="getConfig.prefix-serves",
    suffering="Every request of every client is answered 404.",
)
def _wrong_prefix(body: Json) -> Json:
    """The announced prefix is the one behind the gateway."""
    prefix = f"internal/{body['overrides']['prefix']}"
    return body | {"overrides": body["overrides"] | {"prefix": prefix}}


def _rewrite_endpoints(registries: Registries, *replacement: str) -> None:
    def rewritten(body: Json) -> Json:
        return body | {"endpoints": [e.replace(*replacement) for e in body["endpoints"]]}

    alter_body(registries, "getConfig", rewritten)


declare(
    "config-endpoints-with-colon",
    "Endpoints are listed as VERB:/path.",
    by(_rewrite_endpoints, " /", ":/"),
    breaks="getConfig.endpoint-format",
    suffering="Spark cannot even create the catalog.",
)

declare(
    "config-endpoints-without-prefix",
    "Endpoints are listed as this server routes them, without the prefix.",
    by(_rewrite_endpoints, "/{prefix}", ""),
    breaks="getConfig.endpoint-spelling",
    suffering="Spark takes every operation for unsupported.",
)

declare(
    "config-endpoints-are-words",
    "Operations are listed by what they do, not by their paths.",
    by(alter_body, "getConfig", lambda body: body | {"endpoints": [*body["endpoints"], "GET it"]}),
    breaks="getConfig.endpoint-format",
    suffering="Clients cannot tell which endpoint is meant.",
)

declare(
    "config-endpoint-of-config-bare",
    "The configuration lists its own endpoint without the leading slash.",
    by(_rewrite_endpoints, " /v1/config", " v1/config"),
    breaks="getConfig.endpoint-spelling-of-config",
    suffering="Who compares the list with the document finds an endpoint that is not there.",
)

declare(
    "config-endpoints-are-urls",
    "Endpoints are listed with the scheme and host of this server.",
    by(_rewrite_endpoints, " /", " https://catalog.example.com/"),
    breaks="getConfig.endpoint-spelling",
    suffering="Spark takes every operation for unsupported.",
)


@defect(
    "config-lists-unserved",
    breaks="getConfig.listed-endpoints-served",
    suffering="Clients call what does not exist instead of falling back.",
)
def _lists_unserved(registries: Registries) -> None:
    """An operation was removed, and the list of endpoints was forgotten."""
    served = registries.operations

    def kept(body: Json) -> Json:
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

    def silent(body: Json) -> Json:
        return {key: value for key, value in body.items() if key != "endpoints"}

    alter_body(registries, "getConfig", silent)
