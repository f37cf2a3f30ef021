"""Commits that change a table's definitions so that the current one is not the last added."""

from collections.abc import Mapping, Sequence
from typing import Any

from icecheck.client import bodies
from icecheck.objects import metadata_view as view
from icecheck.objects.after_updates import LAST_ADDED
from icecheck.objects.comparing import KEPT
from icecheck.objects.edge_values import string_map
from icecheck.objects.evolving import last_column_id, last_partition_id, schema_addition
from icecheck.replies.expect import Blocked

Json = dict[str, Any]
Metadata = Mapping[str, Any]
Updates = list[Json]

_STRUCT = bodies.struct_field
_LOOKS = ("", "null", "true", "0", "1e5", "007", "1.500", "9007199254740993")
_NUMBER_LIKE = {key: value for key, value in string_map().items() if value in _LOOKS}
"""Properties whose values look like other types than text."""


# ---- properties


def properties(_: Metadata) -> Updates:
    """Set properties whose values look like numbers, booleans and null."""
    return [bodies.set_properties(_NUMBER_LIKE)]


def one_property_less(_: Metadata) -> Updates:
    """Remove one of many properties."""
    first, *_rest = KEPT
    return [{"action": "remove-properties", "removals": [first]}]


# ---- schemas, specs, orders


def _next(metadata: Metadata, members: str, id_member: str) -> int:
    ids = [each.get(id_member) for each in metadata[members]]
    if not ids or None in ids:
        raise Blocked("loadTable.full-metadata", f"{members} are not shown, or without an id")
    return 1 + max(map(int, ids))


def _wider(metadata: Metadata) -> list[Json]:
    """Return two schemas, each with one more column."""
    schema, last = view.current_schema(metadata), last_column_id(metadata)
    if not schema:
        # No client can evolve a table whose current schema is not among its schemas.
        raise Blocked("loadTable.full-metadata", "the current schema is not among the schemas")
    new = _next(metadata, "schemas", "schema-id")
    return [
        {
            **schema,
            "schema-id": new + at,
            "fields": [*schema["fields"], _STRUCT(last + 1 + at, f"more_{last + 1 + at}", "int")],
        }
        for at in range(2)
    ]


def schemas(metadata: Metadata) -> Updates:
    """Add two schemas, and make the first one current before the second is added."""
    made = _wider(metadata)
    [zone] = [f["type"]["fields"][0]["id"] for f in made[0]["fields"] if f["name"] == "spot"]
    made[0]["identifier-field-ids"] = [*made[0].get("identifier-field-ids", []), zone]
    first, second = (schema_addition(metadata, each, *made) for each in made)
    return [first, {"action": "set-current-schema", "schema-id": LAST_ADDED}, second]


def evolved(metadata: Metadata) -> Updates:
    """Change columns, nested ones too, under their existing ids, and make the new schema current.

    Two columns swap names, one is dropped, the first becomes the last, types are widened, and fewer
    columns are required and in the identifier. Earlier schemas, specs and orders keep their
    meaning.
    """
    schema = view.current_schema(metadata)
    swapped = {"data": "tags", "tags": "data"}
    fields = [
        _later({**each, "name": swapped.get(each["name"], each["name"])})
        for each in schema["fields"]
        if each["name"] != "sizes"
    ]
    return _made_current(metadata, [_keyed_by_id([*fields[1:], fields[0]])])


def _keyed_by_id(fields: Sequence[Json]) -> Json:
    """Return a schema whose only identifier field is the column named "id"."""
    return bodies.schema(
        *fields, identifier_field_ids=[each["id"] for each in fields if each["name"] == "id"]
    )


_WIDER = {"int": "long", "float": "double"}


def _later(field: Json) -> Json:
    """Return the later version of a column: a wider type; its own fields optional and renamed."""
    inner = field["type"]
    if isinstance(inner, str):
        return {**field, "type": _WIDER.get(inner, inner)}
    if inner["type"] != "struct":
        return field
    fields = [
        _later({**each, "name": f"{each['name']}_later", "required": False, "doc": "later"})
        for each in inner["fields"]
    ]
    return {**field, "required": False, "type": {**inner, "fields": fields}}


def _two_specs(metadata: Metadata) -> list[Json]:
    by_name = {name: field_id for field_id, name in view.column_names(metadata).items()}
    last, new = last_partition_id(metadata), _next(metadata, "partition-specs", "spec-id")
    first, second, third = _field_ids(metadata)
    return [
        bodies.partition_spec(
            bodies.partition_field(by_name["id"], f"bucket[{last + new}]", f"id_{new}", first),
            spec_id=new,
        ),
        bodies.partition_spec(
            bodies.partition_field(by_name["data"], f"truncate[{last}]", f"data_{new}", second),
            bodies.partition_field(by_name["at"], "day", f"day_{new}", third),
            spec_id=new + 1,
        ),
    ]


def _field_ids(metadata: Metadata) -> tuple[int, int, int]:
    """Return the id of the first spec's field and those of the second spec's two fields.

    In format version 1 each spec numbers its fields from 1000.
    """
    if metadata["format-version"] < _SECOND_VERSION:
        return 1000, 1000, 1001
    last = last_partition_id(metadata)
    return last + 1, last + 2, last + 3


_SECOND_VERSION = 2


def specs(metadata: Metadata) -> Updates:
    """Add two specs, and make the first one the default before the second is added."""
    first, second = ({"action": "add-spec", "spec": each} for each in _two_specs(metadata))
    return [first, {"action": "set-default-spec", "spec-id": LAST_ADDED}, second]


def _two_orders(metadata: Metadata) -> list[Json]:
    by_name = {name: field_id for field_id, name in view.column_names(metadata).items()}
    new = max(1, _next(metadata, "sort-orders", "order-id"))
    direction = (
        "asc" if len(metadata["sort-orders"]) < 3 else "desc"
    )  # so that neither order exists already
    made = [
        bodies.sort_order(by_name[name], order_id=new + at)
        for at, name in enumerate(("data", "at"))
    ]
    for order in made:
        order["fields"][0]["direction"] = direction
        order["fields"][0]["null-order"] = "nulls-last"
    return made


def orders(metadata: Metadata) -> Updates:
    """Add two sort orders, and make the first one the default before the second is added."""
    first, second = (
        {"action": "add-sort-order", "sort-order": each} for each in _two_orders(metadata)
    )
    return [first, {"action": "set-default-sort-order", "sort-order-id": LAST_ADDED}, second]


def last_of_two(metadata: Metadata) -> Updates:
    """Add two of each definition, then make the last one of each current by -1."""
    schemas = _wider(metadata)
    current = {"action": "set-current-schema", "schema-id": metadata["current-schema-id"]}
    return [
        *(schema_addition(metadata, each, *schemas) for each in schemas),
        *({"action": "add-spec", "spec": each} for each in _two_specs(metadata)),
        *({"action": "add-sort-order", "sort-order": each} for each in _two_orders(metadata)),
        # The current schema is set again first: it is not the schema that was added last.
        current,
        {"action": "set-current-schema", "schema-id": LAST_ADDED},
        {"action": "set-default-sort-order", "sort-order-id": LAST_ADDED},
        {"action": "set-default-spec", "spec-id": LAST_ADDED},
    ]


def of_new_column(metadata: Metadata) -> Updates:
    """Add a column, a spec and a sort order of it in one commit; make all three current."""
    schema, _ = _wider(metadata)
    column = schema["fields"][-1]
    field_id, *_ = _field_ids(metadata)
    spec = bodies.partition_spec(
        bodies.partition_field(column["id"], "bucket[3]", f"{column['name']}_bucket", field_id),
        spec_id=_next(metadata, "partition-specs", "spec-id"),
    )
    order_id = max(1, _next(metadata, "sort-orders", "order-id"))
    order = bodies.sort_order(column["id"], order_id=order_id)
    return [
        schema_addition(metadata, schema),
        {"action": "set-current-schema", "schema-id": LAST_ADDED},
        {"action": "add-spec", "spec": spec},
        {"action": "set-default-spec", "spec-id": LAST_ADDED},
        {"action": "add-sort-order", "sort-order": order},
        {"action": "set-default-sort-order", "sort-order-id": LAST_ADDED},
    ]


def first_again(metadata: Metadata) -> Updates:
    """Make the first schema, spec and sort order current again, by their ids."""
    schema, spec, order = (
        metadata[each][0] for each in ("schemas", "partition-specs", "sort-orders")
    )
    return [
        {"action": "set-current-schema", "schema-id": schema["schema-id"]},
        {"action": "set-default-spec", "spec-id": spec["spec-id"]},
        {"action": "set-default-sort-order", "sort-order-id": order["order-id"]},
    ]


def last_gone(metadata: Metadata) -> Updates:
    """Remove the schema and spec with the highest column and field ids, which stay assigned."""
    schema, spec = metadata["schemas"][-1], metadata["partition-specs"][-1]
    return [
        {"action": "remove-schemas", "schema-ids": [schema["schema-id"]]},
        {"action": "remove-partition-specs", "spec-ids": [spec["spec-id"]]},
    ]


def narrower(metadata: Metadata) -> Updates:
    """Drop a column that earlier specs and orders use and the default ones do not."""
    schema = view.current_schema(metadata)
    [dropped] = [each["id"] for each in schema["fields"] if each["name"] == "at"]
    used = [*view.default_spec(metadata)["fields"], *view.default_sort_order(metadata)["fields"]]
    if dropped in {each["source-id"] for each in used}:
        return []
    fields = [each for each in schema["fields"] if each["id"] != dropped]
    return _made_current(metadata, [_keyed_by_id(fields)])


def defaults(metadata: Metadata) -> Updates:
    """Add columns with defaults, one of them nested, then change their write defaults."""
    schema, last = view.current_schema(metadata), last_column_id(metadata)

    def with_defaults(write: int) -> Json:
        inner = _STRUCT(last + 3, "inner", "long", initial_default=7, write_default=write)
        outer = _STRUCT(last + 2, "outer", {"type": "struct", "fields": [inner]})
        own = _STRUCT(last + 1, "own", "long", initial_default=0, write_default=write)
        return {**schema, "fields": [*schema["fields"], own, outer]}

    # Small numbers: other checks judge the rounding of large ones, which would end this check here.
    return _made_current(metadata, [with_defaults(41), with_defaults(0)])


def _made_current(metadata: Metadata, schemas: Sequence[Json]) -> Updates:
    """Add schemas, and make each one current after it is added."""
    new = _next(metadata, "schemas", "schema-id")
    made = [{**each, "schema-id": new + at} for at, each in enumerate(schemas)]
    updates: list[Json] = []
    for each in made:
        updates += [
            schema_addition(metadata, each, *made),
            {"action": "set-current-schema", "schema-id": LAST_ADDED},
        ]
    return updates


def bare(metadata: Metadata) -> Updates:
    """Make a table unpartitioned and unsorted by an existing spec and order, or by new ones."""
    updates: Updates = []
    spec_ids = [each["spec-id"] for each in metadata["partition-specs"] if not each["fields"]]
    if not spec_ids:
        spec = bodies.partition_spec(spec_id=_next(metadata, "partition-specs", "spec-id"))
        updates.append({"action": "add-spec", "spec": spec})
    spec_id = spec_ids[0] if spec_ids else LAST_ADDED
    updates.append({"action": "set-default-spec", "spec-id": spec_id})
    order_id = 0
    if all(each["fields"] for each in metadata["sort-orders"]):
        order_id = LAST_ADDED
        updates.append({"action": "add-sort-order", "sort-order": bodies.sort_order()})
    return [*updates, {"action": "set-default-sort-order", "sort-order-id": order_id}]


def moved(metadata: Metadata) -> Updates:
    """Give the table another location."""
    location = f"{str(metadata['location']).rstrip('/')}_moved"
    return [{"action": "set-location", "location": location}]


def upgraded(metadata: Metadata) -> Updates:
    """Raise the format version to 3."""
    if metadata["format-version"] > 2:
        return []
    return [{"action": "upgrade-format-version", "format-version": 3}]
