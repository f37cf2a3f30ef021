"""Checks of the updates of a table's identity, format version, location and properties."""

from typing import Any

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_table, shared_table
from icecheck.findings.shared_symptoms import EFFECT_MISSING
from icecheck.findings.verdict import SkipKind
from icecheck.judging.check import check
from icecheck.judging.probes import has_capability
from icecheck.objects import metadata_view as view
from icecheck.objects.committing import (
    commit,
    creation_updates,
    expect_effect,
    expect_loaded,
    expect_refused,
    given_table_of,
)
from icecheck.objects.evolving import number
from icecheck.objects.reading import not_applicable, refused
from icecheck.replies.expect import NotOffered
from icecheck.replies.matching import ABSENT, ANY_INTEGER, Matcher

Json = dict[str, Any]

ANOTHER_UUID = "9c12d441-03fe-4693-9a96-a0705ddf69c1"
UNKNOWN_FORMAT_VERSION = 99
ODD_VALUE = "\N{PENGUIN}"
"""A character of four bytes in UTF-8 and two code units in UTF-16."""

# Old version, new version, and what only the metadata of the new one must have. That of version 3
# should have next-row-id too, which the schema check of every answer judges (erratum E40).
UPGRADES: tuple[tuple[int, int, Json], ...] = (
    (1, 2, {"last-sequence-number": ANY_INTEGER}),
    (2, 3, {}),
)


@check("update.assign-uuid", proves="update.assign-uuid.effect", needs=("stage-create",))
def test_assign_uuid(catalog: Catalog) -> None:
    """The uuid assigned by the commit that creates a table is the table's uuid."""
    staged = given_table(catalog, stage_create=True)
    if catalog.keeps("createTable.stage-creates-nothing"):
        updates = creation_updates(staged.metadata)
        create = [{"type": "assert-create"}]
        catalog.update_table(staged.namespace, staged.name, updates, create).expect(200)
    else:
        # The table is there: the uuid that it was staged with can be assigned to it once more.
        updates = [{"action": "assign-uuid", "uuid": staged.uuid}]
        again = catalog.update_table(staged.namespace, staged.name, updates)
        if refused(again, "the table's own uuid"):
            raise not_applicable("the catalog assigns no uuid to a table that is there")
    reply = catalog.load_table(staged.namespace, staged.name).expect(200)
    if not view.same_uuid(staged.uuid).accepts(view.metadata_in(reply).get("table-uuid")):
        raise reply.violation(
            EFFECT_MISSING.of("table-uuid"), "the uuid that was assigned", "another uuid"
        )


@check("update.assign-uuid.reassign", proves="update.assign-uuid.reassign-refused")
def test_reassign_uuid(catalog: Catalog) -> None:
    """An existing table cannot be given another uuid."""
    updates = [{"action": "assign-uuid", "uuid": ANOTHER_UUID}]
    expect_refused(catalog, shared_table(catalog), updates, 400)


@check("update.upgrade-format-version", proves="update.upgrade-format-version.effect")
def test_upgrade_format_version(catalog: Catalog) -> None:
    """upgrade-format-version raises the format version and completes the metadata for it."""
    offered = [
        upgrade
        for upgrade in UPGRADES
        if all(has_capability(catalog, f"format-version-{version}") for version in upgrade[:2])
    ]
    if not offered:
        raise NotOffered("the catalog has one format version only", SkipKind.NOT_APPLICABLE)
    for lower, higher, members in offered:
        table = given_table_of(catalog, lower)
        expect_effect(
            catalog,
            table,
            [{"action": "upgrade-format-version", "format-version": higher}],
            {"format-version": higher, **members},
            what="format-version",
        )


@check(
    "update.upgrade-format-version.downgrade",
    proves="update.upgrade-format-version.downgrade-refused",
)
def test_downgrade_format_version(catalog: Catalog) -> None:
    """The format version cannot be lowered."""
    table = shared_table(catalog)
    lower = number(table, "format-version") - 1
    updates = [{"action": "upgrade-format-version", "format-version": lower}]
    expect_refused(catalog, table, updates, 400)


@check(
    "update.upgrade-format-version.unknown", proves="update.upgrade-format-version.unknown-refused"
)
def test_unknown_format_version(catalog: Catalog) -> None:
    """The format version cannot be raised to one that does not exist."""
    updates = [
        {"action": "upgrade-format-version", "format-version": UNKNOWN_FORMAT_VERSION},
    ]
    expect_refused(catalog, shared_table(catalog), updates, 400)


@check("update.set-location", proves="update.set-location.effect")
def test_set_location(catalog: Catalog) -> None:
    """set-location changes the table's location."""
    table = given_table(catalog)
    location = f"{str(table.metadata.get('location', '')).rstrip('/')}_moved"
    there = Matcher("the new location", lambda v: view.place(v) == view.place(location))
    updates = [{"action": "set-location", "location": location}]
    expect_effect(
        catalog,
        table,
        updates,
        {"location": there},
        what="location",
        capability="table-relocation",
    )


@check("update.set-properties", proves="update.set-properties.effect")
def test_set_properties(catalog: Catalog) -> None:
    """set-properties adds and replaces the named properties and leaves the others alone."""
    table = given_table(catalog, properties={"kept": "1", "replaced": "1"})
    table = expect_effect(
        catalog,
        table,
        [{"action": "set-properties", "updates": {"replaced": " 2 ", "Added": "3"}}],
        {"properties": {"kept": "1", "replaced": " 2 ", "Added": "3"}},
        what="properties",
    )
    # A catalog may refuse characters that it cannot store, but may not store others instead.
    odd = {"odd": ODD_VALUE}
    if commit(catalog, table, [{"action": "set-properties", "updates": odd}]).ok:
        expect_loaded(catalog, table, {"properties": odd}, what="properties")


@check("update.set-properties.not-a-string", proves="update.set-properties.values-are-strings")
def test_property_values_are_strings(catalog: Catalog) -> None:
    """A property value that is an object or a list is refused."""
    table = shared_table(catalog)
    for value in ({"a": "b"}, ["a"]):
        updates = [{"action": "set-properties", "updates": {"icecheck": value}}]
        expect_refused(catalog, table, updates, 400, detail=f"the value {value!r}")


@check("update.remove-properties", proves="update.remove-properties.effect")
def test_remove_properties(catalog: Catalog) -> None:
    """remove-properties removes the named properties and leaves the others alone."""
    gone = {"gone": "1", "also": "1"}
    table = given_table(catalog, properties={**gone, "gone.not": "2", "kept": "3"})
    expect_effect(
        catalog,
        table,
        [{"action": "remove-properties", "removals": [*gone]}],
        {"properties": {**dict.fromkeys(gone, ABSENT), "gone.not": "2", "kept": "3"}},
        what="removed-properties",
    )
