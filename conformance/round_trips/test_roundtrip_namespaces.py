"""Checks that the next load shows the properties of namespaces that were accepted."""

from collections.abc import Mapping, Sequence
from typing import Any

from icecheck.client.catalog import Catalog
from icecheck.client.given import arrange, given_namespace
from icecheck.conformance.kit.bisection import Pieces, expect_kept, send_in_pieces
from icecheck.findings.shared_symptoms import (
    ANSWER_DIFFERS_FROM_LOAD,
    EFFECT_MISSING,
    EFFECT_ON_ANOTHER,
)
from icecheck.judging.check import generated_check
from icecheck.objects.arranging import given_namespace_at, require
from icecheck.objects.edge_values import KEYS, STRINGS, string_map
from icecheck.objects.reading import CHANGE_REPORT, object_in, properties_of
from icecheck.replies.expect import Reply
from icecheck.targets.target import Namespace

_NEEDS = ("namespace-properties",)
_BEFORE = "icecheck.before"


def _given_bystander(catalog: Catalog, namespace: Namespace) -> tuple[Namespace, dict[str, Any]]:
    """Make a namespace with a look-alike name, and return it with its properties."""
    beside = given_namespace_at(catalog, (*namespace[:-1], f"{namespace[-1]}x"))
    mine = {"icecheck.hostile": "mine", "7": "mine"}
    arrange(catalog, "updateProperties", lambda: catalog.update_properties(beside, updates=mine))
    return beside, properties_of(catalog, beside, mine)


def _expect_as_before(
    catalog: Catalog, namespace: Namespace, before: Mapping[str, Any], what: str
) -> None:
    reply = catalog.load_namespace_metadata(namespace).expect(200)
    expect_kept(reply, before, _properties(reply), EFFECT_ON_ANOTHER.of("properties"), what)


def _properties(reply: Reply) -> dict[str, Any]:
    found = object_in(reply).get("properties")
    return found if isinstance(found, dict) else {}


def _expect_reported(reply: Reply, member: str, keys: Sequence[str]) -> None:
    """Judge that the answer to a change lists these keys as they were sent."""
    listed = object_in(reply).get(member) or []
    reported = {key: key in listed for key in keys}
    expect_kept(reply, dict.fromkeys(keys, True), reported, CHANGE_REPORT)


@generated_check(
    "roundtrip.namespace-properties.created", proves="roundtrip.namespace-created", needs=_NEEDS
)
def test_properties_of_a_creation(catalog: Catalog) -> None:
    """A namespace has every property that its creation gave it, key and value as sent."""
    require(catalog, "createNamespace", "loadNamespaceMetadata")
    given_namespace(catalog)  # a catalog without namespaces refuses more than values

    def send(pairs: Pieces) -> Reply:
        namespace = catalog.new_namespace_name()
        reply = catalog.create_namespace(namespace, dict(pairs))
        if not reply.ok:
            return reply
        loaded = catalog.load_namespace_metadata(namespace).expect(200)
        expect_kept(loaded, dict(pairs), _properties(loaded), EFFECT_MISSING.of("properties"))
        if told := _properties(reply):
            expect_kept(reply, dict(pairs), told, ANSWER_DIFFERS_FROM_LOAD, "as answered")
        return reply

    send_in_pieces([*string_map().items()], send)


@generated_check(
    "roundtrip.namespace-properties.updated", proves="roundtrip.namespace-updated", needs=_NEEDS
)
def test_properties_of_an_update(catalog: Catalog) -> None:
    """A namespace has every property that an update set, and nothing else has changed."""
    require(catalog, "createNamespace", "loadNamespaceMetadata")
    first = {_BEFORE: "kept", "icecheck.value": "kept"}
    namespace = given_namespace(catalog, first)
    beside, others = _given_bystander(catalog, namespace)
    due = properties_of(catalog, namespace, first)

    def send(pairs: Pieces) -> Reply:
        reply = catalog.update_properties(namespace, updates=dict(pairs))
        if reply.ok:
            due.update(dict(pairs))
            _expect_reported(reply, "updated", [key for key, _ in pairs])
        return reply

    send_in_pieces([*string_map().items()], send)
    _expect_as_before(catalog, namespace, due, "what was set, refused and left alone")
    # The same keys again: the new value replaces the old one.
    values = [each.value for each in STRINGS]
    known = [key for key in string_map() if key in due]
    again = {key: values[(n + 7) % len(values)] for n, key in enumerate(known)}
    send_in_pieces([*again.items()], send)
    _expect_as_before(catalog, namespace, due, "what was set again")
    _expect_as_before(catalog, beside, others, "another namespace")


@generated_check(
    "roundtrip.namespace-properties.removed", proves="roundtrip.namespace-removed", needs=_NEEDS
)
def test_removed_properties(catalog: Catalog) -> None:
    """A removal removes only the keys that it names, not keys that look like them."""
    require(catalog, "createNamespace", "loadNamespaceMetadata")
    namespace = given_namespace(catalog, {_BEFORE: "kept"})
    beside, others = _given_bystander(catalog, namespace)
    pairs = [(each.value, f"of {each.what}") for each in KEYS]
    send_in_pieces(pairs, lambda some: catalog.update_properties(namespace, updates=dict(some)))
    due = properties_of(catalog, namespace, (_BEFORE, *(key for key, _ in pairs)))
    there = [key for key, _ in pairs if key in due]

    def remove(some: Pieces) -> Reply:
        keys = [key for key, _ in some]
        reply = catalog.update_properties(namespace, removals=keys)
        if reply.ok:
            for key in keys:
                due.pop(key, None)
            _expect_reported(reply, "removed", keys)
        return reply

    send_in_pieces([(key, "") for key in there[1::2]], remove)
    reply = catalog.load_namespace_metadata(namespace).expect(200)
    found = _properties(reply)
    shown = {key: found.get(key) for key in (*there, *due)}
    wanted = {key: due.get(key) for key in (*there, *due)}
    expect_kept(reply, wanted, shown, EFFECT_MISSING.of("properties"), "after a removal")
    _expect_as_before(catalog, beside, others, "another namespace")
