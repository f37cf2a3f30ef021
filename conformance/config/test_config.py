"""Checks of getConfig: the configuration that a client reads before any other request."""

import re
from collections.abc import Callable
from typing import Any

from icecheck.client.catalog import NO_BODY, Catalog, Table
from icecheck.client.given import given_namespace, given_table
from icecheck.contract import Operation
from icecheck.findings.shared_symptoms import ENDPOINT_NOT_SERVED, SCHEMA
from icecheck.findings.symptoms import ANOTHER_THING, Severity, declare
from icecheck.judging.check import check
from icecheck.objects.reading import not_applicable, object_in
from icecheck.replies.expect import NotOffered, Reply
from icecheck.replies.matching import ABSENT, show
from icecheck.targets.target import Namespace

_CONFIG_OF_ANOTHER_WAREHOUSE = declare(
    "config-of-another-warehouse",
    "Answers with the configuration of another warehouse than the one named",
    Severity.FALSE_OR_LOST,
    ANOTHER_THING,
)
_ENDPOINT_FORMAT = declare(
    "endpoint-format", "Lists an endpoint that is not a verb, a space and a path", Severity.SHAPE
)
_ENDPOINT_SPELLING = declare(
    "endpoint-spelling",
    "Spells an endpoint otherwise than the document",
    Severity.SHAPE,
    "Java's client: takes the endpoint for one that is not offered",
)

_VERBS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_NOT_SERVED = frozenset({404, 405, 501})
# These paths name something that the check does not make: a 404 is then correct.
_MAY_BE_MISSING = ("{view}", "{plan-id}", "/tasks", "/credentials")


@check("getConfig.answered", proves=("getConfig.200", "getConfig.both-maps"))
def test_the_configuration_is_answered(catalog: Catalog) -> None:
    """The configuration is a JSON object that holds defaults and overrides, two maps of strings."""
    reply = _ask(catalog).expect(200)
    body = reply.json()
    if not isinstance(body, dict):
        raise reply.violation(SCHEMA.of("type"), "a JSON object", show(body))
    for member in ("defaults", "overrides"):
        value = body.get(member, ABSENT)
        if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
            kind = "required" if value is ABSENT else "type"
            expected = "a map of strings"
            raise reply.violation(SCHEMA.of(kind), expected, show(value), pointer=f"/{member}")


@check("getConfig.warehouse-parameter")
def test_the_named_warehouse_is_configured(catalog: Catalog) -> None:
    """A request that names a warehouse is accepted, and gets the same warehouse each time.

    Whatever others ask meanwhile: without a warehouse, and for one that is not known.
    """
    if catalog.target.warehouse is None:
        raise NotOffered("the run names no warehouse: add --warehouse NAME")
    before = _prefix(catalog.session.config)
    for meanwhile in ((), (None, catalog.new_name())):
        for asked in meanwhile:
            catalog.get_config(asked)
        reply = _ask(catalog).expect(200)
        now = _prefix(object_in(reply))
        if now != before:
            raise reply.violation(
                _CONFIG_OF_ANOTHER_WAREHOUSE,
                f"the prefix {show(before)}",
                show(now),
                detail="the same warehouse was named at the start of the run",
            )


@check("getConfig.prefix-serves")
def test_the_announced_prefix_is_served(catalog: Catalog) -> None:
    """The routes answer under the prefix that the configuration announces."""
    prefix = _prefix(object_in(_ask(catalog).expect(200)))
    if not prefix:
        raise not_applicable("the configuration announces no prefix")
    catalog.call("listNamespaces", path=f"/v1/{prefix.strip('/')}/namespaces").expect(200)


@check("getConfig.endpoint-format")
def test_endpoints_are_verb_and_path(catalog: Catalog) -> None:
    """Each listed endpoint is an HTTP verb, one space and a path."""
    reply = _ask(catalog).expect(200)
    listed = _listed(reply)
    prefix = _prefix(object_in(reply))
    known = {_shape(o.endpoint) for o in catalog.session.contract.operations.values()}
    wrong = [
        entry
        for entry in listed
        if not _is_verb_and_path(entry)
        # What names an endpoint of the document, and names it otherwise, is misspelled.
        or (" /" not in entry and _shape(entry, prefix) not in known)
    ]
    if wrong:
        raise reply.violation(
            _ENDPOINT_FORMAT,
            "an HTTP verb, one space, a path",
            show(wrong[0]),
            pointer="/endpoints",
            detail=f"{len(wrong)} of {len(listed)} entries",
        )


@check("getConfig.endpoint-spelling")
def test_endpoints_are_spelled_as_documented(catalog: Catalog) -> None:
    """A listed endpoint of the document is spelled as the document spells it."""
    _expect_spelled(catalog, _is_respelled, before_config=False)


@check("getConfig.endpoint-spelling-of-config")
def test_endpoints_before_the_list_are_spelled_as_documented(catalog: Catalog) -> None:
    """A listed endpoint that clients ask before they have the list is spelled as documented."""
    _expect_spelled(catalog, _is_alike, before_config=True)


@check("getConfig.endpoint-nearly-spelled", proves="getConfig.endpoint-nearly-spelled")
def test_no_endpoint_is_nearly_one_of_the_document(catalog: Catalog) -> None:
    """No listed endpoint is one of the document but for plurals, or for several things at once."""
    _expect_spelled(catalog, _is_only_alike, before_config=False)


def _expect_spelled(
    catalog: Catalog, alike: Callable[[str, str, str], bool], *, before_config: bool
) -> None:
    reply = _ask(catalog).expect(200)
    listed = [entry for entry in _listed(reply) if _is_verb_and_path(entry)]
    prefix = _prefix(object_in(reply))
    documented = [
        operation.endpoint
        for operation in catalog.session.contract.operations.values()
        if operation.precedes_config is before_config and operation.endpoint not in listed
    ]
    own = {operation.endpoint for operation in catalog.session.contract.operations.values()}
    for entry in (each for each in listed if each not in own):
        for due in documented:
            if alike(entry, due, prefix):
                raise reply.violation(
                    _ENDPOINT_SPELLING, show(due), show(entry), pointer="/endpoints"
                )


@check(
    "getConfig.endpoints-served",
    proves=("getConfig.listed-endpoints-served", "getConfig.default-endpoints-served"),
)
def test_what_clients_are_told_is_served(catalog: Catalog) -> None:
    """Every listed endpoint is served, or every default one where none is listed."""
    reply = _ask(catalog).expect(200)
    listed = object_in(reply).get("endpoints")
    offer = catalog.session.offer
    claimed = offer.claimed_endpoints(catalog.contract) if listed is None else _listed(reply)
    operations = [
        operation
        for operation in catalog.session.contract.operations.values()
        if operation.endpoint in claimed and not operation.precedes_config
    ]
    table = given_table(catalog, given_namespace(catalog))
    # Operations that remove something come last.
    operations.sort(key=lambda o: (o.method == "DELETE", "{table}" not in o.path))
    missing = [
        f"{operation.endpoint} answered {answer.status}"
        for operation in operations
        if (answer := _probe(catalog, operation, table)).status in _unserved(operation)
    ]
    if missing:
        told = (
            "the configuration lists" if listed is not None else "the document's default list has"
        )
        raise reply.violation(
            ENDPOINT_NOT_SERVED,
            f"an answer of every endpoint that {told}",
            "404, 405 or 501",
            detail="; ".join(missing),
        )


def _ask(catalog: Catalog) -> Reply:
    return catalog.get_config(catalog.target.warehouse)


def _prefix(config: dict[str, Any]) -> str:
    """Return the announced prefix as clients read it: overrides before defaults."""
    for member in ("overrides", "defaults"):
        values = config.get(member)
        if isinstance(values, dict) and isinstance(values.get("prefix"), str):
            return str(values["prefix"])
    return ""


def _listed(reply: Reply) -> list[Any]:
    listed = object_in(reply).get("endpoints")
    if listed is None:
        raise not_applicable("the configuration lists no endpoints")
    if not isinstance(listed, list):
        raise reply.violation(SCHEMA.of("type"), "a list", show(listed), pointer="/endpoints")
    return listed


def _is_verb_and_path(entry: Any) -> bool:
    if not isinstance(entry, str) or re.fullmatch(r"\S+ \S+", entry) is None:
        return False
    return entry.split(" ")[0] in _VERBS


def _without_version(endpoint: str) -> str:
    return endpoint.replace("/v1/", "/", 1)


def _with_one_slash(endpoint: str) -> str:
    verb, _, path = endpoint.partition(" ")
    return f"{verb} /{'/'.join(part for part in path.split('/') if part)}"


def _with_nameless_variables(endpoint: str) -> str:
    verb, _, path = endpoint.partition(" ")
    parts = (re.sub(r"^(\{.*\}|:.*|<.*>)$", "{}", part) for part in path.split("/"))
    return f"{verb} {'/'.join(parts)}"


_RESPELLINGS: tuple[Callable[[str], str], ...] = (
    lambda endpoint: re.sub(r" https?://[^/]*", " ", endpoint),
    _with_one_slash,
    _without_version,
    _with_nameless_variables,
    lambda endpoint: re.sub(r"[-_]", "", endpoint),
    str.lower,
)
"""What is left out where endpoints are compared: host, slashes, version, names of variables, dashes
and capitals. The prefix is another, and known from the config only.
"""


def _is_respelled(entry: str, due: str, prefix: str) -> bool:
    """Return whether an entry differs from an endpoint of the document in one way, all along."""
    if _without_prefix(entry, prefix) == _without_prefix(due, prefix):
        return True
    return any(respelled(entry) == respelled(due) for respelled in _RESPELLINGS)


def _is_alike(entry: str, due: str, prefix: str) -> bool:
    """Return whether an entry might be meant for an endpoint, however many ways it differs in."""
    return _shape(entry, prefix) == _shape(due)


def _is_only_alike(entry: str, due: str, prefix: str) -> bool:
    return _is_alike(entry, due, prefix) and not _is_respelled(entry, due, prefix)


def _without_prefix(endpoint: str, prefix: str) -> str:
    stated = f"/{prefix.strip('/')}/" if prefix else "/{prefix}/"
    return endpoint.replace("/{prefix}/", "/", 1).replace(stated, "/", 1)


def _shape(endpoint: str, prefix: str = "") -> tuple[str, ...]:
    """Return an endpoint's verb and path parts as one would confuse them, and without plurals."""
    plain = _without_prefix(endpoint, prefix)
    for respelled in _RESPELLINGS:
        plain = respelled(plain)
    verb, _, path = plain.partition(" ")
    return (verb, *(part.removesuffix("s") for part in path.split("/")))


def _probe(catalog: Catalog, operation: Operation, table: Table) -> Reply:
    """Send a minimal request that shows whether a route exists: mostly an empty object."""
    names: dict[str, str | Namespace] = {
        "namespace": table.namespace,
        "table": table.name,
        "view": catalog.new_name(),
        "plan-id": "no-such-plan",
    }
    if operation.id == "renameTable":
        # An empty identifier would be answered 404 as well.
        own = (table.namespace, table.name)
        return catalog.rename_table(own, (table.namespace, catalog.new_name()))
    if operation.id == "dropTable":
        names["table"] = given_table(catalog, table.namespace).name
    if operation.id == "dropNamespace":
        names["namespace"] = given_namespace(catalog)
    body = NO_BODY if operation.request_media_type is None else {}
    return catalog.call(operation.id, names, body=body)


def _unserved(operation: Operation) -> frozenset[int]:
    may_be_missing = any(part in operation.path for part in _MAY_BE_MISSING)
    return _NOT_SERVED - {404} if may_be_missing else _NOT_SERVED
