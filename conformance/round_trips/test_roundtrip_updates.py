"""Checks of every update of a table with edge values: it is kept, and nothing else changes.

There is a check for each action. The table has several of everything, so that there is something
that must stay; the bystander has nearly its name. The values are in ``edge_*.py``, the judgement in
``round_trip.py``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import arrange, given_dropped, given_loaded
from icecheck.conformance.round_trips import edge_history as history
from icecheck.conformance.round_trips import edge_layout as layout
from icecheck.conformance.round_trips import edge_updates as plain
from icecheck.conformance.round_trips.edge_columns import TABLE_SCHEMA
from icecheck.findings.shared_symptoms import EFFECT_MISSING
from icecheck.judging.check import generated_check
from icecheck.judging.probes import has_capability
from icecheck.objects.committing import (
    RENAME_CHANGED_THE_TABLE,
    commit,
    given_table_of,
    given_table_since,
    keeps_updates,
)
from icecheck.objects.comparing import KEPT, ODD_KEPT
from icecheck.objects.evolving import column_id, last_column_id, last_partition_id, schema_addition
from icecheck.objects.reading import not_applicable
from icecheck.objects.round_trip import Make, expect_as_before, judge_changes
from icecheck.replies.expect import equal

Json = dict[str, Any]
Sending = Callable[[Catalog, Table], list[Make]]

SNAPSHOTS = 6
ROWS = 10
KEYS = {"key-1": "+/+/", "key-2": "AA==", "key-3": "Zm9v", "root": "/w=="}
ODD_KEYS = {"Key-1": "AA==", "key-1 ": "AQ=="}
FORMAT_VERSIONS = (1, 2, 3)
LOGS = ("snapshot-log", "metadata-log")
HISTORY = ("metadata-only-snapshots", "snapshot-history")


# ---- a table with several objects of each kind


def given_rich_table(catalog: Catalog, version: int = 2) -> Table:
    """Make a table of at least this format version with several objects of each kind."""
    of_version = given_table_of if version > 2 else given_table_since
    table = of_version(catalog, version, table_schema=TABLE_SCHEMA)
    parts = [_kept(KEPT), _kept(ODD_KEPT), _several_layouts(table)]
    if has_capability(catalog, HISTORY[0]):
        snapshots = _several_snapshots(table)
        ids = [each["snapshot"]["snapshot-id"] for each in snapshots]
        parts += [
            [*snapshots, bodies.snapshot_ref(ids[-1])],
            _several_refs(catalog, ids),
            # A catalog may take the one kind and not the other, which errata E14 is about.
            *_several_files(table, ids),
        ]
    if table.metadata.get("format-version") == FORMAT_VERSIONS[-1]:
        parts += [_keys(KEYS), _keys(ODD_KEYS)]
    _grow(catalog, table, [part for part in parts if keeps_updates(catalog, part)])
    return given_loaded(catalog, table)


def _grow(catalog: Catalog, table: Table, parts: Sequence[Sequence[Json]]) -> None:
    """Commit updates that add to a table; if all at once are refused, part by part."""
    with catalog.arranging():
        if not commit(catalog, table, [each for part in parts for each in part]).ok:
            for part in parts if len(parts) > 1 else ():
                commit(catalog, table, part)


def _kept(properties: Mapping[str, str]) -> list[Json]:
    return [bodies.set_properties(properties)]


def _several_layouts(table: Table) -> list[Json]:
    last, field_id = last_column_id(table.metadata), last_partition_id(table.metadata)
    by_id, by_data = (column_id(table, name) for name in ("id", "data"))
    (schema,) = table.metadata.get("schemas") or [{}]
    updates: list[Json] = []
    for at in range(1, 6):
        column = bodies.struct_field(last + at, f"more_{at}", "string", doc=f"{at}")
        wider = {**schema, "schema-id": at, "fields": [*schema.get("fields", []), column]}
        field = bodies.partition_field(by_id, f"bucket[{at}]", f"part_{at}", field_id + at)
        order = bodies.sort_order(by_data, by_id, order_id=at + 1)
        order["fields"][0] |= {"transform": f"truncate[{at}]", "null-order": "nulls-last"}
        updates += [
            schema_addition(table.metadata, wider),
            {"action": "add-spec", "spec": bodies.partition_spec(field, spec_id=at)},
            {"action": "add-sort-order", "sort-order": order},
        ]
    return updates


def _several_snapshots(table: Table) -> list[Json]:
    updates: list[Json] = []
    ids: list[int] = []
    for ordinal in range(1, SNAPSHOTS + 1):
        parent = ids[-1] if ids else None
        made = bodies.snapshot(table.metadata, ordinal, parent=parent)
        if "added-rows" in made:
            made |= {"first-row-id": ordinal * ROWS, "added-rows": ROWS}
        ids.append(made["snapshot-id"])
        updates.append({"action": "add-snapshot", "snapshot": made})
    return updates


def _several_refs(catalog: Catalog, ids: Sequence[int]) -> list[Json]:
    updates: list[Json] = []
    for capability, kind in (("branches", "branch"), ("tags", "tag")):
        if has_capability(catalog, capability):
            updates += [
                bodies.snapshot_ref(ids[0], f"{kind}/a", kind, max_ref_age_ms=2**31 + 1),
                bodies.snapshot_ref(ids[0], f"{kind}/A", kind, max_ref_age_ms=1),
                bodies.snapshot_ref(ids[-1], f"{kind}_main", kind),
            ]
    return updates


def _several_files(table: Table, ids: Sequence[int]) -> tuple[list[Json], list[Json]]:
    statistics: list[Json] = []
    of_partitions: list[Json] = []
    for at, each in enumerate(ids, start=1):
        file = bodies.statistics_file(table.metadata, each, at)
        file["blob-metadata"] *= 2
        statistics.append(bodies.set_statistics(file))
        of_partitions.append(
            bodies.set_partition_statistics(
                bodies.partition_statistics_file(table.metadata, each, at)
            )
        )
    return statistics, of_partitions


def _keys(keys: Mapping[str, str]) -> list[Json]:
    added = [
        {"key-id": name, "encrypted-key-metadata": encoded, "properties": {"of": name}}
        for name, encoded in keys.items()
    ]
    return [{"action": "add-encryption-key", "encryption-key": key} for key in added]


# ---- the checks


def _declare(
    action: str, title: str, sending: Sending, *, needs: tuple[str, ...] = (), version: int = 2
) -> None:
    def roundtrip(catalog: Catalog) -> None:
        newest = has_capability(catalog, f"format-version-{version}") if version > 2 else False
        table = given_rich_table(catalog, version if newest else 2)
        judge_changes(catalog, table, sending(catalog, table))

    snake = action.replace("-", "_")
    roundtrip.__name__ = roundtrip.__qualname__ = f"test_{snake}_round_trip"
    roundtrip.__doc__ = f"{title}, and all else stays as it was."
    check_id = f"roundtrip.updateTable.{action}"
    declare = generated_check(check_id, needs=needs)
    globals()[roundtrip.__name__] = declare(roundtrip)


_declare(
    "assign-uuid",
    "A table that is assigned its own uuid is the same table",
    lambda _catalog, table: plain.assign_uuid(table),
)
_declare(
    "add-schema",
    "Added schemas come back as they were sent, whatever their columns are",
    lambda _catalog, table: layout.add_schema(table),
    version=3,
)
_declare(
    "set-current-schema",
    "Each schema becomes the current one",
    lambda _catalog, table: layout.set_current_schema(table),
)
_declare(
    "remove-schemas",
    "Only the schemas that are named are removed",
    lambda _catalog, table: layout.remove_schemas(table),
)
_declare(
    "add-spec",
    "Added partition specs come back as they were sent",
    lambda _catalog, table: layout.add_spec(table),
)
_declare(
    "set-default-spec",
    "Each partition spec becomes the default one",
    lambda _catalog, table: layout.set_default_spec(table),
)
_declare(
    "remove-partition-specs",
    "Only the partition specs that are named are removed",
    lambda _catalog, table: layout.remove_specs(table),
)
_declare(
    "add-sort-order",
    "Added sort orders come back as they were sent",
    lambda _catalog, table: layout.add_sort_order(table),
)
_declare(
    "set-default-sort-order",
    "Each sort order becomes the default one",
    lambda _catalog, table: layout.set_default_order(table),
)
_declare(
    "set-location",
    "A new location comes back as it was sent",
    lambda _catalog, table: plain.set_location(table),
)
_declare(
    "set-properties",
    "Keys and values of properties come back as they were sent",
    lambda catalog, _table: plain.set_properties(catalog),
)
_declare(
    "remove-properties",
    "Only the properties that are named are removed",
    lambda catalog, _table: plain.remove_properties(catalog),
)
_declare(
    "add-snapshot",
    "Added snapshots come back as they were sent",
    lambda catalog, _table: history.add_snapshot(catalog),
    needs=HISTORY,
)
_declare(
    "remove-snapshots",
    "Only the snapshots that are named are removed",
    lambda _catalog, table: history.remove_snapshots(table),
    needs=HISTORY,
)
_declare(
    "set-snapshot-ref",
    "Branches and tags come back as they were set",
    lambda _catalog, table: history.set_refs(table, ("branch", "tag")),
    needs=(*HISTORY, "branches", "tags"),
)
_declare(
    "remove-snapshot-ref",
    "Only the ref that is named is removed",
    lambda _catalog, table: history.remove_refs(table),
    needs=(*HISTORY, "branches", "tags"),
)
_declare(
    "set-statistics",
    "Statistics come back as they were set",
    lambda _catalog, table: history.set_statistics_of(table),
    needs=HISTORY,
)
_declare(
    "remove-statistics",
    "Only the statistics of the snapshot that is named are removed",
    lambda _catalog, table: history.remove_statistics(table),
    needs=HISTORY,
)
_declare(
    "set-partition-statistics",
    "Partition statistics come back as they were set",
    lambda _catalog, table: history.set_partition_statistics_of(table),
    needs=HISTORY,
)
_declare(
    "remove-partition-statistics",
    "Only the partition statistics of the snapshot that is named are removed",
    lambda _catalog, table: history.remove_partition_statistics(table),
    needs=HISTORY,
)
_declare(
    "add-encryption-key",
    "Added encryption keys come back as they were sent",
    lambda _catalog, table: history.add_encryption_key(table),
    needs=("format-version-3",),
    version=3,
)
_declare(
    "remove-encryption-key",
    "Only the encryption key that is named is removed",
    lambda _catalog, table: history.remove_encryption_key(table),
    needs=("format-version-3",),
    version=3,
)


@generated_check("roundtrip.updateTable.upgrade-format-version")
def test_upgrade_format_version_round_trip(catalog: Catalog) -> None:
    """A table of a higher format version is the table that it was."""
    versions = [v for v in FORMAT_VERSIONS if has_capability(catalog, f"format-version-{v}")]
    if len(versions) < 2:
        raise not_applicable("the catalog has one format version only")
    lowest = given_table_of(catalog, versions[0], table_schema=TABLE_SCHEMA)
    _grow(catalog, lowest, [_kept(KEPT)])
    rich = versions[-2] > 1
    steps = plain.upgrade(versions)
    judge_changes(catalog, given_loaded(catalog, lowest), steps[:-1] if rich else steps)
    if rich:
        judge_changes(catalog, given_rich_table(catalog), steps[-1:])


# ---- a table under another name


def _newest(catalog: Catalog) -> int:
    newest = FORMAT_VERSIONS[-1]
    return newest if has_capability(catalog, f"format-version-{newest}") else newest - 1


@generated_check("roundtrip.registerTable")
def test_register_table_round_trip(catalog: Catalog) -> None:
    """A table that is dropped and registered again has everything that it had."""
    table = given_rich_table(catalog, _newest(catalog))
    if table.metadata_location is None:
        raise not_applicable("the catalog tells no metadata location")
    given_dropped(catalog, table.namespace, table.name)
    again = replace(table, name=catalog.new_name())
    reply = catalog.register_table(again.namespace, again.name, table.metadata_location)
    if 400 <= reply.status < 500:
        raise not_applicable("the catalog registers no file of a table that was dropped")
    arrange(catalog, "registerTable", lambda: reply)
    symptom = EFFECT_MISSING.of("registered-metadata")
    expect_as_before(catalog, again, symptom, "registered again")
    loaded = given_loaded(catalog, again).metadata
    for log in LOGS:
        kept = table.metadata.get(log) or []
        equal((loaded.get(log) or [])[: len(kept)], kept, symptom=symptom, detail=f"the {log}")


@generated_check("roundtrip.renameTable")
def test_rename_table_round_trip(catalog: Catalog) -> None:
    """A table that is renamed has everything that it had."""
    table = given_rich_table(catalog, _newest(catalog))
    renamed = replace(table, name=catalog.new_name())
    ends = [(each.namespace, each.name) for each in (table, renamed)]
    arrange(catalog, "renameTable", lambda: catalog.rename_table(*ends))
    expect_as_before(catalog, renamed, RENAME_CHANGED_THE_TABLE, "renamed")
