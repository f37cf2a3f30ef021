"""The stages of a table's evolution: what each commits and what the metadata must then show.

They lead through states in which the current definition is not the last one added: schemas, specs
and orders in the middle, a branch ahead of main, a main that was rolled back, removed definitions.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.conformance.evolution import history_stages as history
from icecheck.conformance.evolution import layout_stages as layout
from icecheck.conformance.evolution.layout_stages import Growth
from icecheck.judging.probes import has_capability
from icecheck.objects import metadata_view as view
from icecheck.objects.round_trip import KEPT
from icecheck.replies.expect import SHAPE_ERRORS

__all__ = [
    "Stage",
    "as_assigned",
    "grown",
    "in_groups",
    "life_body",
    "stages_of",
    "together",
]

Json = dict[str, Any]
Metadata = Mapping[str, Any]

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


@dataclass(frozen=True, slots=True)
class Stage:
    """One commit of a table's evolution, made for the current metadata.

    An ``alone`` stage uses ids from an earlier answer, or is often refused; a ``late`` stage uses a
    late addition to the document, which not every catalog supports; a ``due`` stage must be
    accepted if the stages before it were. After a ``last`` stage a new commit begins: what follows
    is refused where this one had no effect.
    """

    what: str
    make: Callable[[Metadata], Growth]
    alone: bool = False
    late: bool = False
    due: bool = False
    last: bool = False


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


def grown(stage: Stage, metadata: Metadata) -> Growth | None:
    """Return the updates of a stage for a table; None if the metadata do not have what it needs."""
    try:
        growth = stage.make(metadata)
    except SHAPE_ERRORS:
        return None
    return growth if growth.updates else None


def together(stages: Iterable[Stage]) -> Stage:
    """Return a stage that does the work of these stages, in order, in one commit."""
    taken = [*stages]

    def make(metadata: Metadata) -> Growth:
        updates: list[Json] = []
        due: Json = {}
        free: list[str] = []
        for stage in taken:
            growth = grown(stage, {**metadata, **due})
            if growth is not None:
                updates += growth.updates
                due |= growth.due
                free = [m for m in (*free, *growth.free) if m not in growth.due]
        return Growth(updates, due, tuple(free))

    due = all(stage.due for stage in taken)
    return Stage(" + ".join(stage.what for stage in taken), make, due=due)


def in_groups(stages: Iterable[Stage], size: int) -> Iterator[Stage]:
    """Yield stages that each combine at most ``size`` of these stages."""
    taken: list[Stage] = []
    for stage in stages:
        taken.append(stage)
        if stage.last or len(taken) == size:
            yield together(taken)
            taken = []
    if taken:
        yield together(taken)


def stages_of(catalog: Catalog) -> Iterator[Stage]:
    """Yield the stages that a catalog can do, in order."""
    yield Stage("properties that look like numbers", layout.properties)
    yield Stage("a current schema that is not the last one", layout.schemas)
    yield Stage("a default spec that is not the last one", layout.specs)
    yield Stage("a default sort order that is not the last one", layout.orders)
    capabilities = ("metadata-only-snapshots", "snapshot-history")
    if all(has_capability(catalog, each) for each in capabilities):
        yield from _history(catalog)
    yield Stage("the last added of two made current", layout.last_of_two)
    yield Stage("columns renamed, moved, made wider and dropped", layout.evolved)
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
    if has_capability(catalog, "tags"):
        yield Stage("a tag of main and one of the branch", history.tagged, due=True)
    yield Stage("statistics of two snapshots", history.files)
    yield Stage("main rolled back", history.rolled_back)
    yield Stage("statistics of the one and partition statistics of the other", history.fewer_files)
    if branches:
        yield Stage("the branch removed", history.branch_gone)
        yield Stage("the snapshot of the branch removed", history.snapshot_gone)


# ---- ids that the server assigns


def _of_spec(spec: Metadata) -> Any:
    return [
        (f.get("source-id"), f.get("transform"), f.get("name")) for f in spec.get("fields") or []
    ]


_DEFINITIONS: Sequence[tuple[str, str, str, Callable[[Any], Any]]] = (
    ("schemas", "schema-id", "current-schema-id", view.shape),
    ("partition-specs", "spec-id", "default-spec-id", _of_spec),
    ("sort-orders", "order-id", "default-sort-order-id", lambda order: order.get("fields")),
)


def as_assigned(before: Metadata, due: Metadata, after: Metadata) -> Json:
    """Return due members with the ids that the server has assigned to new definitions.

    New definitions are found by their content; a server need not take the ids that a client
    proposes.
    """
    found = dict(due)
    for members, id_member, pointer, content in _DEFINITIONS:
        old = {each.get(id_member) for each in before.get(members) or []}
        new = [each for each in after.get(members) or [] if each.get(id_member) not in old]
        ids: dict[Any, Any] = {}
        for sent in due.get(members) or []:
            if sent.get(id_member) in old:
                continue
            same = [
                each.get(id_member)
                for each in new
                if content(each) == content(sent) and each.get(id_member) not in ids.values()
            ]
            ids[sent.get(id_member)] = same[0] if same else sent.get(id_member)
        if members in due:
            found[members] = [
                {**each, id_member: ids.get(each.get(id_member), each.get(id_member))}
                for each in due[members]
            ]
        if pointer in due:
            found[pointer] = ids.get(due[pointer], due[pointer])
    return found
