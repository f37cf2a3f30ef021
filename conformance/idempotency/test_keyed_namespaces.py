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
    keyed_creation,
    not_carried_out,
)
from icecheck.judging.check import check
from icecheck.objects.reading import not_applicable, object_in
from icecheck.replies.expect import Blocked, Reply
from icecheck.targets.target import Namespace

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
        raise not_carried_out(creation, created)
    repeated = again(catalog, creation, created)
    if object_in(repeated).get("namespace") != object_in(created).get("namespace"):
        raise another_object(creation, repeated, "another namespace", "/namespace")
    _expect_dropped_once(catalog, namespace, creation)


def _expect_dropped_once(catalog: Catalog, namespace: Namespace, creation: Keyed) -> None:
    """Judge a drop that comes again, and the creation before it once the namespace is gone."""
    drop = keyed(catalog, "dropNamespace", {"namespace": namespace})
    dropped = drop.send(catalog)
    there = _loaded(catalog, namespace)
    if dropped.status == 404 == there.status:
        raise not_carried_out(creation, there)
    arrange(catalog, "dropNamespace", lambda: dropped)
    if there.ok:
        raise not_carried_out(drop, there)
    creation.send(catalog)
    # A key in upper case, as in the document's example, is found again if it is taken.
    another = _keyed_creation(catalog, namespace, upper_case=True)
    remade = another.send(catalog)
    there = _loaded(catalog, namespace)
    if there.ok and 400 <= remade.status < 500:
        raise carried_out_again(creation, there, "makes what was dropped since")
    if not remade.ok or not there.ok:
        again(catalog, drop, dropped)
        return  # a catalog may keep the names of what is dropped for a while, or take no such key
    again(catalog, another, remade)
    again(catalog, drop, dropped)
    there = _loaded(catalog, namespace)
    if there.status == 404:
        raise carried_out_again(drop, there, "drops what has the name since")


@check("idempotency.refusal-replayed")
def test_refusals_are_answered_again(catalog: Catalog) -> None:
    """A conflict is answered again, when nothing is in the way any more, and nothing is done."""
    require_keys(catalog)
    namespace = given_namespace(catalog)
    creation = _keyed_creation(catalog, namespace)
    refused = creation.send(catalog)
    if refused.status != 409:
        why = f"createNamespace answered {refused.status} for a taken name"
        raise Blocked("createNamespace.409", why, exchange=refused.exchange.ordinal)
    if not _is_gone_with_table(catalog, namespace):
        arrange(catalog, "dropNamespace", lambda: catalog.drop_namespace(namespace))
    if _loaded(catalog, namespace).status != 404:
        raise not_applicable("the catalog shows a namespace for a while after it was dropped")
    again(catalog, creation, refused)
    there = _loaded(catalog, namespace)
    if there.ok:
        raise carried_out_again(creation, there, "is refused and makes one all the same")


def _is_gone_with_table(catalog: Catalog, namespace: Namespace) -> bool:
    """Judge what a table is in the way of, once that is dropped: its creation, and a drop.

    Returns whether the namespace is gone: a catalog may drop what a namespace holds with it.
    """
    if not (catalog.claims("createTable") and catalog.claims("dropTable")):
        return False
    table = given_table(catalog, namespace)
    creation = keyed_creation(catalog, namespace, table.name)
    taken = creation.send(catalog)
    drop = keyed(catalog, "dropNamespace", {"namespace": namespace})
    full = drop.send(catalog)
    if full.ok:
        return True
    given_dropped(catalog, namespace, table.name)
    if taken.status == 409:  # another check judges that
        again(catalog, creation, taken)
        there = catalog.load_table(namespace, table.name)
        if there.ok:
            raise carried_out_again(creation, there, "is refused and makes one all the same")
    if full.status == 409:
        again(catalog, drop, full)
        there = _loaded(catalog, namespace)
        if there.status == 404:
            raise carried_out_again(drop, there, "is refused and drops it all the same")
    return False


def _loaded(catalog: Catalog, namespace: Namespace) -> Reply:
    return catalog.load_namespace_metadata(namespace)


@check("idempotency.properties-replayed", needs=("namespace-properties",))
def test_a_change_of_properties_is_answered_again(catalog: Catalog) -> None:
    """A change of properties that comes again is answered as before, and takes nothing back."""
    require_keys(catalog)
    namespace = given_namespace(catalog, {_KEY: "there"})
    body = {"removals": [_KEY], "updates": {_SET: "first"}}
    change = keyed(catalog, "updateProperties", {"namespace": namespace}, body)
    changed = first(catalog, change)
    shown = _loaded(catalog, namespace).expect(200)
    if _KEY in _properties(shown) or _properties(shown).get(_SET) != "first":
        raise not_carried_out(change, shown)
    _set(catalog, namespace, "second")
    again(catalog, change, changed)
    shown = _loaded(catalog, namespace).expect(200)
    if _properties(shown).get(_SET) == "first":
        _set(catalog, namespace, "third")
        if _properties(_loaded(catalog, namespace).expect(200)).get(_SET) != "third":
            raise Blocked("updateProperties.set", "a property that was changed is not shown")
        raise carried_out_again(change, shown, "undoes a later change")


def _set(catalog: Catalog, namespace: Namespace, value: str) -> None:
    """Set a property as another client."""
    updates = {_SET: value}
    arrange(
        catalog, "updateProperties", lambda: catalog.update_properties(namespace, updates=updates)
    )


def _properties(reply: Reply) -> dict[str, Any]:
    properties = object_in(reply).get("properties")
    return properties if isinstance(properties, dict) else {}
