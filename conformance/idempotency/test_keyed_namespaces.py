"""Checks of keys on requests about namespaces: successes and refusals are answered again."""

from typing import Any

from icecheck.client.catalog import Catalog
from icecheck.client.given import arrange, given_dropped, given_namespace, given_table
from icecheck.conformance.idempotency.keys import require_keys
from icecheck.conformance.idempotency.repeating import (
    Keyed,
    again,
    another_object,
    carried_out_again,
    first,
    keyed,
    taken_for_another,
    violation,
)
from icecheck.findings.symptoms import Severity, declare
from icecheck.judging.check import check
from icecheck.objects.reading import not_applicable, object_in
from icecheck.replies.expect import Blocked, Reply
from icecheck.targets.target import Namespace

_REMOVED_IS_MISSING = declare(
    "removed-is-missing-again",
    "Tells of a key that a change of properties removed as missing, when the change comes again",
    Severity.SHAPE,
    "whoever removes properties over a bad network: takes what was removed for a mistake",
)
_KEY, _SET = "icecheck.keyed", "icecheck.set"


def _keyed_creation(catalog: Catalog, namespace: Namespace, *, upper_case: bool = False) -> Keyed:
    body = {"namespace": [*namespace], "properties": {}}
    return keyed(catalog, "createNamespace", body=body, upper_case=upper_case)


@check("idempotency.success-replayed")
def test_successes_are_answered_again(catalog: Catalog) -> None:
    """The creation and the drop of a namespace are answered again as they were."""
    require_keys(catalog)
    namespace = catalog.new_namespace_name()
    creation = _keyed_creation(catalog, namespace)
    created = first(catalog, creation)
    if object_in(created).get("namespace") != [*namespace]:
        raise taken_for_another(creation, created)
    repeated = again(catalog, creation, created)
    if object_in(repeated).get("namespace") != object_in(created).get("namespace"):
        raise another_object(creation, repeated, "another namespace", "/namespace")
    drop = keyed(catalog, "dropNamespace", {"namespace": namespace})
    dropped = drop.send(catalog)
    if dropped.status == 404:
        raise taken_for_another(creation, dropped)
    again(catalog, drop, arrange(catalog, "dropNamespace", lambda: dropped))
    there = _loaded(catalog, namespace)
    if there.ok:
        raise taken_for_another(drop, there)
    _expect_found_in_upper_case(catalog)


def _expect_found_in_upper_case(catalog: Catalog) -> None:
    """Judge that a key in upper case, as the document's example, is found again if it is taken."""
    creation = _keyed_creation(catalog, catalog.new_namespace_name(), upper_case=True)
    created = creation.send(catalog)
    if created.ok:
        again(catalog, creation, created)


@check("idempotency.refusal-replayed")
def test_refusals_are_answered_again(catalog: Catalog) -> None:
    """A conflict is answered again, when nothing is in the way any more, and nothing is done."""
    require_keys(catalog)
    _expect_taken_for_good(catalog)
    if catalog.claims("createTable") and catalog.claims("dropTable"):
        _expect_full_for_good(catalog)


def _expect_taken_for_good(catalog: Catalog) -> None:
    """Judge the creation of a namespace that exists, once that one is dropped."""
    namespace = given_namespace(catalog)
    creation = _keyed_creation(catalog, namespace)
    refused = creation.send(catalog)
    if refused.status != 409:
        why = f"createNamespace answered {refused.status} for a taken name"
        raise Blocked("createNamespace.409", why, exchange=refused.exchange.ordinal)
    arrange(catalog, "dropNamespace", lambda: catalog.drop_namespace(namespace))
    if _loaded(catalog, namespace).status != 404:
        raise not_applicable("the catalog shows a namespace for a while after it was dropped")
    again(catalog, creation, refused)
    there = _loaded(catalog, namespace)
    if there.ok:
        raise carried_out_again(creation, there, "is refused and makes one all the same")


def _expect_full_for_good(catalog: Catalog) -> None:
    """Judge the drop of a namespace that holds a table, once that one is dropped."""
    namespace = given_namespace(catalog)
    table = given_table(catalog, namespace)
    drop = keyed(catalog, "dropNamespace", {"namespace": namespace})
    refused = drop.send(catalog)
    if refused.status != 409:
        return  # the catalog drops what a namespace holds, or has another finding
    given_dropped(catalog, namespace, table.name)
    again(catalog, drop, refused)
    there = _loaded(catalog, namespace)
    if there.status == 404:
        raise carried_out_again(drop, there, "is refused and drops it all the same")


def _loaded(catalog: Catalog, namespace: Namespace) -> Reply:
    return catalog.load_namespace_metadata(namespace)


@check("idempotency.properties-replayed", needs=("namespace-properties",))
def test_removed_properties_are_removed_in_the_answer_again(catalog: Catalog) -> None:
    """A change of properties that comes again is answered as before, and takes nothing back."""
    require_keys(catalog)
    namespace = given_namespace(catalog, {_KEY: "there"})
    body = {"removals": [_KEY], "updates": {_SET: "first"}}
    removal = keyed(catalog, "updateProperties", {"namespace": namespace}, body)
    removed = first(catalog, removal)
    if _KEY not in (object_in(removed).get("removed") or ()):
        why = "a property that was there is not removed"
        raise Blocked("updateProperties.reports-removed", why, exchange=removed.exchange.ordinal)
    shown = _loaded(catalog, namespace).expect(200)
    if _KEY in _properties(shown) or _properties(shown).get(_SET) != "first":
        raise taken_for_another(removal, shown)
    _set(catalog, namespace, "second")
    repeated = again(catalog, removal, removed)
    told = object_in(repeated)
    if _KEY in (told.get("missing") or ()) or _KEY not in (told.get("removed") or ()):
        due, came = "the key is removed", "it is not"
        raise violation(removal, repeated, _REMOVED_IS_MISSING, due, came, pointer="/removed")
    shown = _loaded(catalog, namespace).expect(200)
    if _properties(shown).get(_SET) == "first":
        _set(catalog, namespace, "third")
        if _properties(_loaded(catalog, namespace).expect(200)).get(_SET) != "third":
            raise Blocked("updateProperties.set", "a property that was changed is not shown")
        raise carried_out_again(removal, shown, "undoes a later change")


def _set(catalog: Catalog, namespace: Namespace, value: str) -> None:
    """Set a property as another client."""
    updates = {_SET: value}
    arrange(
        catalog, "updateProperties", lambda: catalog.update_properties(namespace, updates=updates)
    )


def _properties(reply: Reply) -> dict[str, Any]:
    properties = object_in(reply).get("properties")
    return properties if isinstance(properties, dict) else {}
