"""Updates of a table's identity, location and properties that a careless server changes.

Each function returns the changes that ``round_trip.judge_changes`` makes one by one.
"""

from collections.abc import Sequence
from typing import Any

from icecheck.client.catalog import Catalog, Table
from icecheck.objects.comparing import KEPT
from icecheck.objects.edge_values import in_halves, shuffled, string_map
from icecheck.objects.round_trip import Change, Make, together

Json = dict[str, Any]


# ---- identity, version, location


def assign_uuid(table: Table) -> list[Make]:
    """Assign the uuid that the table already has."""
    update = {"action": "assign-uuid", "uuid": table.uuid}
    change = Change("the table's own uuid", [update], lambda _before, _after: {})
    return [lambda _table: change]


def upgrade(versions: Sequence[int]) -> list[Make]:
    """Raise the format version step by step, and set it to the current one."""

    def make(version: int) -> Make:
        def named(_before: Json, after: Json) -> Json:
            # The server chooses the first values of members that are new in a version.
            own = {m: after.get(m) for m in ("last-sequence-number", "next-row-id")}
            return {"format-version": version, **own}

        update = {"action": "upgrade-format-version", "format-version": version}
        return lambda _table: Change(f"format version {version}", [update], named)

    return [make(version) for version in versions]


def set_location(table: Table) -> list[Make]:
    """Move the table to locations that look like another spelling."""
    root = str(table.metadata.get("location", "")).rstrip("/")

    def make(what: str, end: str) -> Make:
        update = {"action": "set-location", "location": f"{root}{end}"}
        return lambda _table: Change(
            what, [update], lambda _before, _after: {"location": update["location"]}
        )

    return [
        make("a location with a capital", "_Moved"),
        make("a location with a blank", "_a b"),
        make("a location with a percent sign", "_a%20b%2F"),
        make("a location with letters beyond ASCII", "_caf\u00e9_cafe\u0301"),
        make("a location with a plus and an equals sign", "/day=1+1"),
    ]


# ---- properties


def set_properties(catalog: Catalog) -> list[Make]:
    """Set every edge value, then other values for the same keys, then a few of them alone."""
    every = string_map()
    turned = dict(zip(every, [*reversed(every.values())], strict=True))
    orders = [
        shuffled([*items.items()], catalog.session.seed, f"set-properties.{at}")
        for at, items in enumerate((every, turned))
    ]
    alone = [[("icecheck.value.0", "")], [("icecheck.hostile.case", "alone")], []]
    return [
        *(_properties(items) for items in orders),
        together(*(_properties(items) for items in alone)),
    ]


def _properties(items: Sequence[tuple[str, str]]) -> Make:
    updates = dict(items)

    def make(_table: Table) -> Change:
        halves = in_halves(items) if len(items) > 1 else ()
        return Change(
            "values and keys of properties",
            [{"action": "set-properties", "updates": updates}],
            lambda before, _after: {"properties": {**(before.get("properties") or {}), **updates}},
            tuple(_properties(half) for half in halves),
        )

    return make


def remove_properties(catalog: Catalog) -> list[Make]:
    """Remove one key, then some of the others, beside keys that are easily taken for equal."""
    keys = [key for key in string_map() if not key.startswith("icecheck.value.")]
    order = shuffled(keys, catalog.session.seed, "remove-properties")

    def make(*at: int | None) -> Make:
        def removing(table: Table) -> Change | None:
            there = table.metadata.get("properties") or {}
            gone = [key for key in order if key in there][slice(*at)]
            if not gone:
                return None

            def named(before: Json, _after: Json) -> Json:
                properties = before.get("properties") or {}
                return {"properties": {k: v for k, v in properties.items() if k not in gone}}

            update = {"action": "remove-properties", "removals": gone}
            return Change("keys of properties", [update], named)

        return removing

    every = [*(KEPT | string_map()).items()]
    return [_properties(every), make(1), make(0, None, 2), make(0, None, 2)]
