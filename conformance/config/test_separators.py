"""Checks of what a configuration announces to stand between levels, and of paths and parents then.

A client sends what is announced, an older one 0x1F: a server understands both (1.11.0, L275-L277,
L1954-L1956). What one of the two does not find is judged only where something else shows it.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import shared_namespaces, shared_table
from icecheck.client.shared_objects import LentNamespace
from icecheck.findings.symptoms import Severity, declare
from icecheck.judging.check import check
from icecheck.judging.probes import has_capability
from icecheck.objects.reading import (
    LISTING,
    expect_levels,
    namespaces_in,
    not_applicable,
    object_in,
)
from icecheck.objects.views import View, shared_view
from icecheck.replies.expect import Blocked, Reply
from icecheck.replies.matching import ABSENT, show
from icecheck.targets.offer import UNIT_SEPARATOR
from icecheck.targets.target import Namespace

_SEPARATOR_NOT_ENCODED = declare(
    "separator-not-encoded",
    "Announces what separates the levels of namespaces otherwise than percent-encoded",
    Severity.SHAPE,
)
_SEPARATOR_EMPTY = declare(
    "separator-empty",
    "Announces that nothing separates the levels of namespaces",
    Severity.REFUSED,
    "Java's client, PyIceberg, iceberg-cpp: refuse it and do not start",
)

_NAME = "namespace-separator"
_NESTED = "nested-namespaces"
_UNIT = "\x1f"
# RFC 3986 leaves letters, digits, hyphen, dot, underscore and tilde as they are; forms, which are
# URL-encoded too, leave an asterisk, and write a space as a plus sign.
_ENCODED = re.compile(r"([A-Za-z0-9._~*+-]|%[0-9A-Fa-f]{2})*")


@check("getConfig.separator-encoded")
def test_the_separator_is_announced_encoded(catalog: Catalog) -> None:
    """What separates the levels of namespaces is announced percent-encoded."""
    reply, member, announced = _told(catalog)
    if not _ENCODED.fullmatch(announced):
        raise reply.violation(
            _SEPARATOR_NOT_ENCODED,
            "percent-encoded text",
            show(announced),
            pointer=f"/{member}/{_NAME}",
        )


@check("getConfig.separator-not-empty")
def test_the_separator_is_not_empty(catalog: Catalog) -> None:
    """What is announced to separate the levels of namespaces is not empty."""
    reply, member, announced = _told(catalog)
    if not announced:
        raise reply.violation(
            _SEPARATOR_EMPTY, "a separator, or none announced", '""', pointer=f"/{member}/{_NAME}"
        )


def _told(catalog: Catalog) -> tuple[Reply, str, str]:
    """Return the config, the member of it that counts, and the separator there, as clients do."""
    reply = catalog.get_config(catalog.target.warehouse).expect(200)
    config = object_in(reply)
    for member in ("overrides", "defaults"):
        values = config.get(member)
        said: Any = values.get(_NAME, ABSENT) if isinstance(values, dict) else ABSENT
        if isinstance(said, str):
            return reply, member, said
        if said is not ABSENT:
            raise not_applicable("what is announced is no text: another check judges that")
    raise not_applicable("the configuration announces no separator of levels")


# ---- paths and parents


@check("names.announced-separator")
def test_the_announced_separator_separates(catalog: Catalog) -> None:
    """In a path the levels of a namespace may be separated by what the configuration announces."""
    _expect_found(catalog, _announced(catalog), UNIT_SEPARATOR)


@check("names.both-separators")
def test_the_unit_separator_separates_too(catalog: Catalog) -> None:
    """In a path the levels may be separated by %1F too where another separator is announced."""
    _expect_found(catalog, UNIT_SEPARATOR, _another_announced(catalog))
    for kind in ("table", "view"):
        _expect_loaded_too(catalog, kind)


@check("listNamespaces.both-separators")
def test_a_parent_is_joined_by_the_unit_separator_too(catalog: Catalog) -> None:
    """A parent joined by the unit separator is understood where another one is announced."""
    _another_announced(catalog)
    tree = _tree(catalog)
    outer = (*tree.path, tree.holds[0])
    due = [(*outer, tree.holds[3])]
    reply = catalog.call("listNamespaces", query=[("parent", _UNIT.join(outer))])
    listed = namespaces_in(reply) if reply.ok else []
    if listed == due:
        return
    announced = catalog.list_namespaces(outer)
    if not announced.ok or namespaces_in(announced) != due:
        why = "not even a parent that is joined as announced lists its child"
        raise Blocked("listNamespaces.multipart-parent", why)
    what = "a parent of several levels, joined by 0x1F"
    reply.expect(200, detail=what)
    raise reply.violation(
        LISTING,
        "the namespace's only child",
        "another list",
        detail=f"below {what}: {show(listed)}",
    )


def _announced(catalog: Catalog) -> str:
    announced = catalog.session.offer.announced_separator
    if announced is None:
        raise not_applicable("the configuration announces no separator of levels")
    return announced


def _another_announced(catalog: Catalog) -> str:
    """Return the announced separator; end the check if it is none beside the unit separator."""
    announced = _announced(catalog)
    if announced.upper() in {UNIT_SEPARATOR, _UNIT}:
        raise not_applicable("the configuration announces the unit separator itself")
    return announced


def _tree(catalog: Catalog) -> LentNamespace:
    """Return a namespace that holds others; end the check where the catalog has one level only.

    One that seems to lose the levels may not have understood what separates them.
    """
    unkept = catalog.session.unkept
    if not has_capability(catalog, _NESTED) and _NESTED not in unkept:
        raise not_applicable(f"the catalog has no {_NESTED}")
    return shared_namespaces(catalog)


def _expect_found(catalog: Catalog, separator: str, other: str) -> None:
    """Judge that a namespace is found by its levels with this separator between them."""
    tree = _tree(catalog)
    namespace = (*tree.path, tree.holds[0])
    reply = _load(catalog, namespace, separator)
    if _shows(reply, namespace):
        return
    if not _is_there(catalog, namespace, other):
        raise Blocked("createNamespace.nested", "no request shows a namespace of several levels")
    reply.expect(200, detail=f"{separator} between the levels")
    expect_levels(reply, namespace)


def _expect_loaded_too(catalog: Catalog, kind: str) -> None:
    """Judge that a table or a view is found under the unit separator, where the catalog has any."""
    load, create = f"load{kind.title()}", f"create{kind.title()}"
    if not (catalog.claims(load) and catalog.claims(create)):
        return
    shared: Table | View = shared_table(catalog) if kind == "table" else shared_view(catalog)
    if len(shared.namespace) < 2:
        return
    values: dict[str, str | Namespace] = {"namespace": shared.namespace, kind: shared.name}
    reply = _sent(catalog, load, values, UNIT_SEPARATOR)
    if not reply.ok and not catalog.call(load, values).ok:
        raise Blocked(f"{load}.200", f"no request shows the {kind}")
    reply.expect(200, detail=f"a {kind}, with {UNIT_SEPARATOR} between the levels")


def _load(catalog: Catalog, namespace: Namespace, separator: str) -> Reply:
    return _sent(catalog, "loadNamespaceMetadata", {"namespace": namespace}, separator)


def _sent(
    catalog: Catalog, operation_id: str, values: Mapping[str, str | Namespace], separator: str
) -> Reply:
    """Send an operation to a path whose levels have this separator between them."""
    offer = replace(catalog.session.offer, separator=separator)
    path = offer.path(catalog.contract.operations[operation_id].path, values)
    return catalog.call(operation_id, path=path)


def _shows(reply: Reply, namespace: Namespace) -> bool:
    return reply.ok and object_in(reply).get("namespace") == [*namespace]


def _is_there(catalog: Catalog, namespace: Namespace, other: str) -> bool:
    """Return whether something else shows a namespace: the other separator, or a list."""
    if _shows(_load(catalog, namespace, other), namespace):
        return True
    parent = namespace[:-1]
    if len(parent) > 1 or not catalog.claims("listNamespaces"):
        return False
    reply = catalog.list_namespaces(parent)
    return reply.ok and namespace in namespaces_in(reply)
