"""Checks of namespace properties: set, removed, unchanged, and reported in answers."""

from typing import Any

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace, lent_namespace
from icecheck.findings.shared_symptoms import EFFECT_ON_ANOTHER
from icecheck.findings.symptoms import Severity, declare
from icecheck.judging.check import check
from icecheck.objects.reading import (
    CHANGE_REPORT,
    NO_PROPERTIES,
    expect_properties,
    expect_properties_unchanged,
    object_in,
    properties_of,
)
from icecheck.replies.expect import Reply, Violation, equal
from icecheck.replies.matching import ABSENT, ANY_OBJECT, containing, lacking, one_of, show

_MISSING_NO_LIST = declare(
    "missing-no-list", "Reports the missing keys otherwise than as a list", Severity.SHAPE
)

_NEEDS = ("namespace-properties",)
_KEYS = ("team", "note", "added")
"""The keys of the shared namespace, and of changes to it that are refused."""
# No catalog gives these keys a meaning; some give one to owner, comment and location.


@check(
    "updateProperties.set", proves=("updateProperties.200", "updateProperties.set"), needs=_NEEDS
)
def test_updates_are_set(catalog: Catalog) -> None:
    """Properties under updates are added, or replaced where they exist."""
    namespace = given_namespace(catalog, {"team": "first"})
    updates = {"team": "second", "note": "with spaces, and = signs"}
    catalog.update_properties(namespace, updates=updates).expect(200)
    expect_properties(catalog, namespace, updates)


@check("updateProperties.remove", needs=_NEEDS)
def test_removals_are_removed(catalog: Catalog) -> None:
    """Properties under removals are gone afterwards."""
    short_lived = {"note": "short-lived", "also": "short-lived"}
    namespace = given_namespace(catalog, {"team": "icecheck", **short_lived})
    expect_properties(catalog, namespace, short_lived)
    catalog.update_properties(namespace, removals=[*short_lived]).expect(200)
    expect_properties(catalog, namespace, dict.fromkeys(short_lived))
    # Remove the last property too: an empty map must also be stored.
    catalog.update_properties(namespace, removals=["team"]).expect(200)
    expect_properties(catalog, namespace, {"team": None})


@check("updateProperties.others-untouched", needs=_NEEDS)
def test_other_properties_are_left_alone(catalog: Catalog) -> None:
    """Properties that a change does not name keep their values."""
    kept = {"a": "1", "b": "2"}
    namespace = given_namespace(catalog, {**kept, "c": "3"})
    catalog.update_properties(namespace, updates={"d": "4"}, removals=["c"]).expect(200)
    found = properties_of(catalog, namespace)
    for key, value in kept.items():
        if found.get(key) != value:
            raise Violation(
                EFFECT_ON_ANOTHER.of("properties"),
                "properties that a change does not name, as they were",
                "others",
                detail=f"{key} is {show(found.get(key, ABSENT))}, and was {show(value)}",
                exchange=catalog.exchanges[-1].ordinal,
            )


@check("updateProperties.members-optional", needs=_NEEDS)
def test_a_change_needs_only_one_member(catalog: Catalog) -> None:
    """A change with only updates, or with only removals, is carried out."""
    namespace = given_namespace(catalog)
    names = {"namespace": namespace}
    body: dict[str, Any] = {"updates": {"team": "icecheck", "note": "short-lived"}}
    catalog.call("updateProperties", names, body=body).expect(200, detail="only updates")
    body = {"removals": ["note"]}
    catalog.call("updateProperties", names, body=body).expect(200, detail="only removals")
    expect_properties(catalog, namespace, {"team": "icecheck", "note": None})


@check("updateProperties.reports-updated", needs=_NEEDS)
def test_the_keys_set_are_reported(catalog: Catalog) -> None:
    """The answer lists the keys that were set, each once, not those removed, none as missing."""
    namespace = given_namespace(catalog, {"team": "first", "note": "short-lived"})
    updates = {"team": "second", "purpose": "new"}
    reply = catalog.update_properties(namespace, updates=updates, removals=["note"]).expect(200)
    reply.expect_json({"updated": containing("team", "purpose")}, symptom=CHANGE_REPORT)
    reply.expect_json({"updated": lacking("note")}, symptom=CHANGE_REPORT)
    updated = object_in(reply)["updated"]
    if any(updated.count(key) > 1 for key in updated):
        raise reply.violation(CHANGE_REPORT, "each key once", "a key twice", pointer="/updated")
    _expect_none_missing(reply)


@check("updateProperties.reports-removed", needs=_NEEDS)
def test_the_keys_removed_are_reported(catalog: Catalog) -> None:
    """The answer lists the keys that were removed, not those set, and none as missing."""
    namespace = given_namespace(catalog, {"team": "first", "note": "short-lived"})
    reply = catalog.update_properties(
        namespace, updates={"team": "second"}, removals=["note"]
    ).expect(200)
    reply.expect_json({"removed": containing("note")}, symptom=CHANGE_REPORT)
    reply.expect_json({"removed": lacking("team")}, symptom=CHANGE_REPORT)
    _expect_none_missing(reply)


def _expect_none_missing(reply: Reply) -> None:
    """Fail if a key is reported as missing although all that were to be removed were there."""
    if missing := object_in(reply).get("missing"):
        raise reply.violation(CHANGE_REPORT, "no key missing", show(missing), pointer="/missing")


@check("updateProperties.removed-really-existed", needs=_NEEDS)
def test_a_key_that_was_not_there_is_not_reported_removed(catalog: Catalog) -> None:
    """A key that did not exist is not reported as removed."""
    namespace = given_namespace(catalog, {"team": "icecheck"})
    reply = catalog.update_properties(namespace, removals=["never-set"]).expect(200)
    reply.expect_json({"removed": lacking("never-set")}, symptom=CHANGE_REPORT)


@check(
    "updateProperties.set-beside-missing",
    proves=("updateProperties.set", "updateProperties.remove"),
    needs=_NEEDS,
)
def test_the_rest_of_a_change_is_done_beside_a_key_that_is_missing(catalog: Catalog) -> None:
    """A change that is accepted sets and removes what it can, also where a key did not exist."""
    before = {"team": "first", "note": "short-lived"}
    namespace = given_namespace(catalog, before)
    removals = ["never-set", "note"]
    reply = catalog.update_properties(namespace, updates={"team": "second"}, removals=removals)
    expect_properties(catalog, namespace, {"team": "second", "note": None} if reply.ok else before)


@check("updateProperties.missing-is-a-list", needs=_NEEDS)
def test_missing_keys_come_as_a_list(catalog: Catalog) -> None:
    """The answer carries `missing` as a list, even when nothing was missing."""
    namespace = given_namespace(catalog)
    reply = catalog.update_properties(namespace, updates={"team": "icecheck"}).expect(200)
    missing = object_in(reply).get("missing", ABSENT)
    if not isinstance(missing, list):
        raise reply.violation(_MISSING_NO_LIST, "a list", show(missing), pointer="/missing")


@check("updateProperties.no-such-namespace", proves="updateProperties.404", needs=_NEEDS)
def test_properties_of_a_missing_namespace_are_refused(catalog: Catalog) -> None:
    """Changing properties of a namespace that does not exist is refused with 404."""
    namespace = catalog.new_namespace_name()
    catalog.update_properties(namespace, updates={"team": "icecheck"}).expect(404)


@check("updateProperties.overlap", proves="updateProperties.422", needs=_NEEDS)
def test_setting_and_removing_one_key_is_refused(catalog: Catalog) -> None:
    """A change that sets and removes the same key is refused with 422."""
    _overlap(catalog, _shared(catalog)).expect(422)


@check("updateProperties.overlap-changes-nothing", needs=_NEEDS)
def test_a_refused_overlap_changes_nothing(catalog: Catalog) -> None:
    """A change refused for naming a key twice changes no property, not even others it names."""
    namespace = _shared(catalog)
    before = properties_of(catalog, namespace)
    _overlap(catalog, namespace).expect_refused()
    expect_properties_unchanged(catalog, namespace, before, _KEYS)


@check("updateProperties.malformed", proves="updateProperties.400", needs=_NEEDS)
def test_a_malformed_change_is_refused(catalog: Catalog) -> None:
    """A change whose body is no JSON, or whose members have the wrong form, is refused with 400."""
    namespace = _shared(catalog)
    names = {"namespace": namespace}
    before = properties_of(catalog, namespace)
    cut_off = b'{"updates": {"team": "second"}'
    catalog.call("updateProperties", names, body=cut_off).expect(400, detail="JSON that is cut off")
    body: dict[str, Any] = {"updates": ["team"]}
    catalog.call("updateProperties", names, body=body).expect(400, detail="updates as a list")
    body = {"removals": {"team": "first"}}
    catalog.call("updateProperties", names, body=body).expect(400, detail="removals as a map")
    expect_properties_unchanged(catalog, namespace, before, _KEYS)


@check("updateProperties.kept-or-refused", proves="updateProperties.406")
def test_properties_are_kept_or_refused(catalog: Catalog) -> None:
    """A catalog either keeps namespace properties or refuses to change them with 406."""
    namespace = given_namespace(catalog)
    reply = catalog.update_properties(namespace, updates={"team": "icecheck"}).expect(200, 406)
    if reply.ok:
        expect_properties(catalog, namespace, {"team": "icecheck"})


@check("loadNamespaceMetadata.all-properties", needs=_NEEDS)
def test_every_stored_property_is_returned(catalog: Catalog) -> None:
    """Loading a namespace returns every property stored on it, whenever it was stored."""
    stored = {"team": "icecheck", "a.dotted-key": "1"}
    namespace = given_namespace(catalog, stored)
    later = {"note": "added later"}
    catalog.update_properties(namespace, updates=later).expect(200)
    # A catalog may refuse a value as too long or as empty, but may not store another one.
    for unusual in ({"long": "x" * 300}, {"empty": ""}):
        if catalog.update_properties(namespace, updates=unusual).ok:
            stored |= unusual
    expect_properties(catalog, namespace, stored | later)


@check(
    "loadNamespaceMetadata.none-set",
    proves=("loadNamespaceMetadata.none-set", "loadNamespaceMetadata.unsupported-properties"),
)
def test_no_properties_are_an_empty_object_or_null(catalog: Catalog) -> None:
    """A namespace without properties has an empty object; null means they are not supported."""
    namespace = given_namespace(catalog)
    reply = catalog.load_namespace_metadata(namespace).expect(200)
    found = object_in(reply).get("properties", ABSENT)
    if not catalog.claims("updateProperties"):
        # Nothing tells whether properties are supported: both answers are lawful, and so are
        # properties that the server added (L304-L305).
        equal(found, one_of(ANY_OBJECT, None), symptom=NO_PROPERTIES)
        return
    tried = catalog.update_properties(namespace, updates={"team": "icecheck"})
    if tried.status == 406:
        # A map with entries shows properties of the server, which no client changes.
        if found in ({}, ABSENT):
            raise reply.violation(NO_PROPERTIES, "null", show(found), pointer="/properties")
        return
    _expect_an_object(reply, found)
    if tried.ok and catalog.update_properties(namespace, removals=["team"]).ok:
        reply = catalog.load_namespace_metadata(namespace).expect(200)
        _expect_an_object(reply, object_in(reply).get("properties", ABSENT))


def _expect_an_object(reply: Reply, found: Any) -> None:
    if not isinstance(found, dict):
        raise reply.violation(NO_PROPERTIES, show(ANY_OBJECT), show(found), pointer="/properties")


def _shared(catalog: Catalog) -> tuple[str, ...]:
    """Return a namespace with properties that checks share, for refused changes."""
    properties = {"team": "first", "note": "stays"}
    return lent_namespace(catalog, "properties", properties=properties).path


def _overlap(catalog: Catalog, namespace: tuple[str, ...]) -> Reply:
    return catalog.update_properties(
        namespace, updates={"team": "second", "added": "yes"}, removals=["team", "note"]
    )
