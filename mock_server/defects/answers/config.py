"""Defects of getConfig and of the list of endpoints."""

from collections.abc import Mapping

import msgspec

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.places import answer_of
from icecheck.mock_server.defects.kit.remembering import remembering
from icecheck.mock_server.defects.kit.requests import Json
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_body,
    alter_call,
    refuse_as,
    wrap,
)

declare_each(
    ("config-ignores-warehouse", "getConfig.warehouse-parameter",
     "The warehouse parameter is ignored: everybody gets the default one.",
     "Everybody works in the default warehouse.",
     by(alter_call, "getConfig", lambda call: msgspec.structs.replace(call, query={}))),
)  # fmt: skip


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


declare_each(
    ("config-without-overrides", "getConfig.both-maps",
     "The configuration leaves out overrides when there are none.",
     "PyIceberg refuses the configuration.",
     by(alter_body, "getConfig", lambda body: {"defaults": body["defaults"]})),
    ("config-numbers", "getConfig.200",
     "Values of the configuration are numbers where they look like one.",
     "Clients that expect strings fail.",
     by(alter_body, "getConfig", lambda body: body | {"defaults": {"clients": 4}})),
    ("config-endpoints-with-colon", "getConfig.endpoint-format",
     "Endpoints are listed as VERB:/path.", "Spark cannot even create the catalog.",
     by(_rewrite_endpoints, " /", ":/")),
    ("config-endpoints-without-prefix", "getConfig.endpoint-spelling",
     "Endpoints are listed as this server routes them, without the prefix.",
     "Spark takes every operation for unsupported.", by(_rewrite_endpoints, "/{prefix}", "")),
    ("config-endpoints-are-urls", "getConfig.endpoint-spelling",
     "Endpoints are listed with the scheme and host of this server.",
     "Spark takes every operation for unsupported.",
     by(_rewrite_endpoints, " /", " https://catalog.example.com/")),
    ("config-endpoint-of-config-bare", "getConfig.endpoint-spelling-of-config",
     "The configuration lists its own endpoint without the leading slash.",
     "Who compares the list with the document finds an endpoint that is not there.",
     by(_rewrite_endpoints, " /v1/config", " v1/config")),
    ("config-endpoints-are-words", "getConfig.endpoint-format",
     "Operations are listed by what they do, not by their paths.",
     "Clients cannot tell which endpoint is meant.",
     by(alter_body, "getConfig",
        lambda body: body | {"endpoints": [*body["endpoints"], "GET it"]})),
    ("config-endpoints-in-the-singular", "getConfig.endpoint-nearly-spelled",
     "Endpoints are listed by names of the server's own, which are nearly those of the document.",
     "Spark believes that no table can be loaded.",
     by(_rewrite_endpoints, "/tables/{table}", "/table/{table}")),
    ("config-endpoints-without-version", "getConfig.endpoint-spelling",
     "Endpoints are listed as they stand behind a gateway, which adds the version.",
     "Spark believes that nothing is offered.", by(_rewrite_endpoints, " /v1/", " /")),
)  # fmt: skip


@defect(
    "config-of-the-last-warehouse",
    on=remembering(list, wrap, "getConfig"),
    breaks="getConfig.warehouse-parameter",
    suffering="Whoever starts beside somebody else works in their warehouse.",
)
def _of_the_last_warehouse(
    asked: list[Mapping[str, str]], faithful: Faithful, state: WarehouseState, call: Call
) -> Outcome:
    """The configuration of the warehouse that was asked for before is answered."""
    asked.append(call.query)
    return faithful(state, msgspec.structs.replace(call, query=asked[-2:][0]))


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


# ------------------------------------------------- what the document has since 1.11.0


def _announce(registries: Registries, separator: str) -> None:
    """Announce other text than what is understood between levels."""

    def announced(body: Json) -> Json:
        return body | {"overrides": body["overrides"] | {"namespace-separator": separator}}

    alter_body(registries, "getConfig", announced)


@defect(
    "config-separator-of-nothing-by-default",
    on=answer_of("getConfig"),
    breaks="getConfig.separator-not-empty",
    suffering="Clients that have no separator of their own do not start.",
)
def _separator_of_nothing(body: Json) -> Json:
    """A setting that nobody has set is announced as a default, empty."""
    overrides = {k: v for k, v in body["overrides"].items() if k != "namespace-separator"}
    defaults = body["defaults"] | {"namespace-separator": ""}
    return body | {"defaults": defaults, "overrides": overrides}


declare_each(
    ("config-separator-empty", "getConfig.separator-not-empty",
     "The separator of levels is announced as empty text, for none.",
     "Java's client and PyIceberg do not start.", by(_announce, "")),
    ("config-separator-raw", "getConfig.separator-encoded",
     "The separator of levels is announced as the character that it is.",
     "Clients put it into paths as it is announced.", by(_announce, "\x1d")),
    ("config-separator-half-encoded", "getConfig.separator-encoded",
     "The separator of levels is announced with a percent sign and half of its code.",
     "Clients put it into paths as it is announced.", by(_announce, "%D")),
    ("config-unknown-warehouse-400", "getConfig.404",
     "A warehouse that does not exist is a bad request, as before 1.11.0.",
     "A user who has misspelled the warehouse looks for a mistake of the client.",
     by(refuse_as, "getConfig", 404, 400, "BadRequestException")),
    ("config-unknown-warehouse-500", "getConfig.404",
     "A warehouse that does not exist is an internal error.",
     "A user who has misspelled the warehouse waits for the server to recover.",
     by(refuse_as, "getConfig", 404, 500, "InternalServerError")),
    ("config-unknown-warehouse-not-found", "getConfig.type-of-missing-warehouse",
     "Whatever is not found has one type of error, a warehouse too.",
     "Who tells by the type what is missing takes the URL for wrong.",
     by(refuse_as, "getConfig", 404, 404, "NotFoundException")),
    ("config-unknown-warehouse-is-a-namespace", "getConfig.type-of-missing-warehouse",
     "The refusal of a warehouse that does not exist says that a namespace is missing.",
     "Who tells by the type what is missing makes a namespace.",
     by(refuse_as, "getConfig", 404, 404, "NoSuchNamespaceException")),
)  # fmt: skip
