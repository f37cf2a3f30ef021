"""The stages of a table's evolution: what each commits and what the metadata must then show.

They lead through states in which the current definition is not the last one added: schemas, specs
and orders in the middle, a branch ahead of main, a main that was rolled back, removed definitions.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.conformance.states import history_stages as history
from icecheck.conformance.states import layout_stages as layout
from icecheck.conformance.states.stages import Stage
from icecheck.judging.probes import has_capability
from icecheck.objects.committing import keeps_updates
from icecheck.objects.comparing import KEPT

Json = dict[str, Any]

_STRUCT = bodies.struct_field
_SPOT = {
    "type": "struct",
    "fields": [_STRUCT(5, "zone", "int", required=True), _STRUCT(6, "lon", "float")],
}
_TAGS = {"type": "list", "element-id": 8, "element": "string", "element-required": True}
_SIZES = {
    "type": "map", "key-id": 10, "key": "string", "value-id": 11, "value": "long",
    "value-required": False,
}  # fmt: skip
_COLUMNS = bodies.schema(
    _STRUCT(1, "id", "long", required=True),
    _STRUCT(2, "data", "string", doc="what it is"),
    _STRUCT(3, "at", "timestamptz", required=True),
    _STRUCT(4, "spot", _SPOT, required=True),
    _STRUCT(7, "tags", _TAGS),
    _STRUCT(9, "sizes", _SIZES),
    identifier_field_ids=[1, 3],
)


def life_body(
    name: str, *, stage_create: bool = False, version: int | None = None, plain: bool = False
) -> Json:
    """Return the body that creates a table for these stages.

    A ``plain`` table starts without partitions and sort order; the stages add them.
    """
    of_version = {} if version is None else {"format-version": str(version)}
    spec = bodies.partition_spec(bodies.partition_field(1, "bucket[4]", "id_bucket", 1000))
    return bodies.create_table_body(
        name,
        table_schema=_COLUMNS,
        spec=None if plain else spec,
        write_order=None if plain else bodies.sort_order(1),
        properties=KEPT | of_version,
        stage_create=stage_create,
    )


def stages_of(catalog: Catalog) -> Iterator[Stage]:
    """Yield the stages that a catalog can do, in order; one that it does not carry out is empty."""

    def kept(stage: Stage) -> Stage:
        def make(metadata: Mapping[str, Any]) -> Sequence[Json]:
            updates = stage.make(metadata)
            return updates if keeps_updates(catalog, updates) else ()

        return replace(stage, make=make)

    return map(kept, _stages(catalog))


def _stages(catalog: Catalog) -> Iterator[Stage]:
    yield Stage("properties that look like numbers", layout.properties)
    yield Stage("a current schema that is not the last one", layout.schemas)
    yield Stage("a default spec that is not the last one", layout.specs)
    yield Stage("a default sort order that is not the last one", layout.orders)
    capabilities = ("metadata-only-snapshots", "snapshot-history")
    if all(has_capability(catalog, each) for each in capabilities):
        yield from _history(catalog)
    yield Stage("the last added of two made current", layout.last_of_two)
    # What follows makes others current, which hides what this has done.
    yield Stage("columns renamed, moved, made wider and dropped", layout.evolved, last=True)
    yield Stage("the first schema, spec and order again", layout.first_again, alone=True)
    yield Stage("the last schema and the last spec removed", layout.last_gone, alone=True)
    yield Stage("another location", layout.moved, alone=True)
    yield Stage("a column of earlier specs and orders dropped", layout.narrower, alone=True)
    if has_capability(catalog, "format-version-3"):
        yield Stage("format version 3", layout.upgraded, late=True, last=True)
        yield Stage("defaults that differ from schema to schema", layout.defaults, late=True)
        yield Stage("two encryption keys", history.keys, late=True)
        yield Stage("one encryption key of two", history.one_key, late=True)
        if all(has_capability(catalog, each) for each in capabilities):
            yield Stage("a snapshot of format version 3", history.snapshot_on_main, late=True)
    yield Stage("a spec and an order of a column that is new", layout.of_new_column)
    yield Stage("no partitions and no order", layout.bare)
    yield Stage("one property less", layout.one_property_less)


def _history(catalog: Catalog) -> Iterator[Stage]:
    yield Stage("two snapshots, the first of an older schema", history.snapshots)
    branches = has_capability(catalog, "branches")
    if branches:
        yield Stage("a branch ahead of main", history.ahead)
    yield Stage("statistics of two snapshots", history.files)
    what = "statistics of the one and partition statistics of the other"
    yield Stage(what, history.fewer_files, last=True)
    if has_capability(catalog, "tags"):
        yield Stage("a tag of main and one of the branch", history.tagged, due=True)
    yield Stage("main rolled back", history.rolled_back)
    if branches:
        yield Stage("the branch removed", history.branch_gone)
        yield Stage("the snapshot of the branch removed", history.snapshot_gone)
