"""Checks of the updates of partition specs and sort orders."""

from collections.abc import Iterator
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import given_commit, given_table, shared_table
from icecheck.findings.shared_symptoms import EFFECT_MISSING
from icecheck.findings.symptoms import Severity, declare
from icecheck.judging.check import check
from icecheck.objects import metadata_view as view
from icecheck.objects.committing import (
    expect_effect,
    expect_last_added,
    expect_refused,
    given_table_since,
    shared_table_since,
    with_ids,
)
from icecheck.objects.evolving import (
    column_id,
    last_partition_id,
    number,
    sort_order_id_of,
    spec_id_of,
)
from icecheck.replies.expect import Violation, equal
from icecheck.replies.matching import Matcher, containing

_PARTITION_FIELD_ID_SHARED = declare(
    "partition-field-id-shared",
    "Gives several partition fields one id",
    Severity.FALSE_OR_LOST,
    "every client: it takes one partition field for another",
)
_PARTITION_FIELD_ID_MISSING = declare(
    "partition-field-id-missing",
    "Takes a partition field without an id, and gives it none",
    Severity.FALSE_OR_LOST,
    "Spark, Flink, Trino (Java client): tell the fields of partitions by their ids",
)

UNKNOWN_ID = 4711
LAST_ADDED_SPEC = {"action": "set-default-spec", "spec-id": -1}
LAST_ADDED_ORDER = {"action": "set-default-sort-order", "sort-order-id": -1}

# Each transform in the document, on a column of a suitable type.
TRANSFORMS = (
    ("identity", "string"),
    ("year", "date"),
    ("month", "date"),
    ("day", "timestamp"),
    ("hour", "timestamptz"),
    ("bucket[256]", "long"),
    ("truncate[16]", "string"),
)

Json = dict[str, Any]


def add_spec(table: Table, name: str, ordinal: int = 1) -> Json:
    """Return add-spec with one field on the id column; each ordinal gives another field."""
    field_id = last_partition_id(table.metadata) + ordinal
    transform = f"bucket[{ordinal + 1}]"
    field = bodies.partition_field(column_id(table, "id"), transform, name, field_id)
    return {"action": "add-spec", "spec": bodies.partition_spec(field, spec_id=ordinal)}


def partitioned_columns() -> Json:
    """Return a schema with a column for each transform of ``TRANSFORMS``."""
    fields = [
        bodies.struct_field(at, f"c{at}", type_)
        for at, (_, type_) in enumerate(TRANSFORMS, start=1)
    ]
    return bodies.schema(*fields)


def add_order(table: Table, column: str, order_id: int = 1) -> Json:
    """Return add-sort-order by one column, as Spark sends it."""
    order = bodies.sort_order(column_id(table, column), order_id=order_id)
    return {"action": "add-sort-order", "sort-order": order}


# ---- partition specs (version 1 numbers their fields per spec)


@check("update.add-spec", proves="update.add-spec.effect")
def test_add_spec(catalog: Catalog) -> None:
    """add-spec adds a partition spec and leaves the default one the default."""
    table = given_table_since(catalog, 2)
    update = add_spec(table, "id_bucket")
    expect_effect(
        catalog,
        table,
        [update],
        {
            "partition-specs": containing({"fields": update["spec"]["fields"]}),
            "default-spec-id": number(table, "default-spec-id"),
        },
        what="partition-spec",
    )


@check("update.add-spec.spec-id-optional")
def test_spec_id_is_optional(catalog: Catalog) -> None:
    """A partition spec may be sent without spec-id."""
    table = given_table_since(catalog, 2)
    update = add_spec(table, "id_bucket")
    fields = update["spec"]["fields"]
    expect_effect(
        catalog,
        table,
        [{"action": "add-spec", "spec": {"fields": fields}}],
        {"partition-specs": containing({"fields": fields})},
        what="partition-spec",
    )


@check("update.add-spec.transforms")
def test_every_transform(catalog: Catalog) -> None:
    """A partition spec with every transform of the document is added as it was sent."""
    table = given_table_since(catalog, 2, table_schema=partitioned_columns())
    first_id = last_partition_id(table.metadata) + 1
    fields = [
        bodies.partition_field(column_id(table, f"c{at}"), transform, f"part_{at}", first_id + at)
        for at, (transform, _) in enumerate(TRANSFORMS, start=1)
    ]
    expect_effect(
        catalog,
        table,
        [{"action": "add-spec", "spec": bodies.partition_spec(*fields, spec_id=1)}],
        {"partition-specs": containing({"fields": fields})},
        what="transforms",
    )


@check("update.add-spec.field-ids-assigned")
def test_field_ids_are_assigned(catalog: Catalog) -> None:
    """Partition fields sent without field-id get ids that no other field has."""
    by_id = bodies.partition_spec(bodies.partition_field(1, "bucket[4]", "id_bucket", 1000))
    table = given_table_since(catalog, 2, spec=by_id)
    by_data = bodies.partition_field(column_id(table, "data"), "truncate[2]", "data_trunc")
    after = expect_effect(
        catalog,
        table,
        [{"action": "add-spec", "spec": bodies.partition_spec(by_data, spec_id=1)}],
        {"partition-specs": containing({"fields": [by_data]})},
        what="partition-spec",
    )
    meanings: dict[Any, set[Any]] = {}
    for field_id, meaning in partition_field_ids(after):
        meanings.setdefault(field_id, set()).add(meaning)
    told = str(sorted(partition_field_ids(after), key=str))
    due = "an id of its own for every partition field"
    if None in meanings:
        raise Violation(_PARTITION_FIELD_ID_MISSING, due, "a field without an id", detail=told)
    if any(len(found) > 1 for found in meanings.values()):
        shared = "an id that two fields share"
        raise Violation(_PARTITION_FIELD_ID_SHARED, due, shared, detail=told)


def partition_field_ids(table: Table) -> Iterator[tuple[Any, tuple[Any, Any]]]:
    """Yield the id of each partition field of each spec, with its source column and transform."""
    for spec in table.metadata.get("partition-specs") or ():
        for field in spec.get("fields") or ():
            yield field.get("field-id"), (field.get("source-id"), field.get("transform"))


@check("update.add-spec.last-partition-id")
def test_last_partition_id_follows(catalog: Catalog) -> None:
    """last-partition-id is at least the highest field id of an added spec."""
    table = given_table_since(catalog, 2)
    least = last_partition_id(table.metadata) + 1
    at_least = Matcher(f"at least {least}", lambda v: isinstance(v, int) and v >= least)
    expect_effect(
        catalog,
        table,
        [add_spec(table, "id_bucket")],
        {"last-partition-id": at_least},
        what="last-partition-id",
    )


@check("update.add-spec.unknown-column", proves="update.add-spec.unknown-column-refused")
def test_spec_over_an_unknown_column(catalog: Catalog) -> None:
    """A partition spec over a column that does not exist is refused."""
    table = shared_table_since(catalog, 2)
    field_id = last_partition_id(table.metadata) + 1
    field = bodies.partition_field(UNKNOWN_ID, "identity", "nothing", field_id)
    update = {"action": "add-spec", "spec": bodies.partition_spec(field, spec_id=1)}
    expect_refused(catalog, table, [update], 400)


@check("update.set-default-spec", proves="update.set-default-spec.effect")
def test_set_default_spec(catalog: Catalog) -> None:
    """set-default-spec makes the spec with that id the default."""
    table = given_table_since(catalog, 2)
    table = given_commit(catalog, table, [add_spec(table, "id_bucket")])
    spec_id = spec_id_of(table, "id_bucket")
    expect_effect(
        catalog,
        table,
        [{"action": "set-default-spec", "spec-id": spec_id}],
        {"default-spec-id": spec_id},
        what="default-spec-id",
    )


@check("update.set-default-spec.last-added")
def test_set_last_added_spec(catalog: Catalog) -> None:
    """Spec id -1 makes the spec the default that the same commit added last."""
    table = given_table_since(catalog, 2)
    one, two = (add_spec(table, f"bucket_{ordinal}", ordinal) for ordinal in (1, 2))
    # Another check judges the ids of its fields.
    without_id = {k: v for k, v in two["spec"]["fields"][0].items() if k != "field-id"}
    after = expect_effect(
        catalog,
        table,
        [one, two, LAST_ADDED_SPEC],
        {"partition-specs": containing({"fields": [without_id]})},
        what="partition-spec",
    )
    default = [name for _, _, name in view.partition_fields(after.metadata)]
    equal(default, ["bucket_2"], symptom=EFFECT_MISSING.of("default-spec-id"))


@check(
    "update.set-default-spec.nothing-added",
    proves="update.set-default-spec.last-added-without-one-refused",
)
def test_last_added_without_a_spec(catalog: Catalog) -> None:
    """Spec id -1 in a commit that adds none is refused, or is the table's last added spec."""
    table, default = given_table_since(catalog, 2), "default-spec-id"
    expect_last_added(catalog, table, LAST_ADDED_SPEC, default, "partition-specs", "spec-id")


@check("update.set-default-spec.unknown-id", proves="update.set-default-spec.unknown-id-refused")
def test_unknown_spec_id(catalog: Catalog) -> None:
    """A spec that the table does not have cannot become the default."""
    updates = [{"action": "set-default-spec", "spec-id": UNKNOWN_ID}]
    expect_refused(catalog, shared_table_since(catalog, 2), updates)


@check("update.remove-partition-specs", proves="update.remove-partition-specs.effect")
def test_remove_partition_specs(catalog: Catalog) -> None:
    """remove-partition-specs removes the named specs and leaves the others."""
    table = given_table_since(catalog, 2)
    added = [add_spec(table, f"bucket_{ordinal}", ordinal) for ordinal in (1, 2, 3)]
    first = number(table, "default-spec-id")
    table = given_commit(catalog, table, [*added, LAST_ADDED_SPEC])
    one, two, three = (spec_id_of(table, f"bucket_{ordinal}") for ordinal in (1, 2, 3))
    expect_effect(
        catalog,
        table,
        [{"action": "remove-partition-specs", "spec-ids": [one, two]}],
        {"partition-specs": with_ids("spec-id", first, three), "default-spec-id": three},
        what="removed-partition-spec",
    )


@check(
    "update.remove-partition-specs.default", proves="update.remove-partition-specs.default-refused"
)
def test_default_spec_stays(catalog: Catalog) -> None:
    """The default partition spec cannot be removed."""
    table = shared_table_since(catalog, 2)
    default = number(table, "default-spec-id")
    updates = [{"action": "remove-partition-specs", "spec-ids": [default]}]
    expect_refused(catalog, table, updates, 400)


# ---- sort orders


@check("update.add-sort-order", proves="update.add-sort-order.effect")
def test_add_sort_order(catalog: Catalog) -> None:
    """add-sort-order adds a sort order and leaves the default one the default."""
    table = given_table(catalog)
    update = add_order(table, "id")
    by_data = {
        "source-id": column_id(table, "data"),
        "transform": "truncate[2]",
        "direction": "desc",
        "null-order": "nulls-last",
    }
    update["sort-order"]["fields"].append(by_data)
    # The null order is sent beside the direction and does not follow from it.
    update["sort-order"]["fields"][0]["null-order"] = "nulls-last"
    expect_effect(
        catalog,
        table,
        [update],
        {
            "sort-orders": containing({"fields": update["sort-order"]["fields"]}),
            "default-sort-order-id": number(table, "default-sort-order-id"),
        },
        what="sort-orders",
    )


@check(
    "update.add-sort-order.unknown-column", proves="update.add-sort-order.unknown-column-refused"
)
def test_order_by_an_unknown_column(catalog: Catalog) -> None:
    """A sort order over a column that does not exist is refused."""
    update = {"action": "add-sort-order", "sort-order": bodies.sort_order(UNKNOWN_ID)}
    expect_refused(catalog, shared_table(catalog), [update], 400)


@check("update.set-default-sort-order", proves="update.set-default-sort-order.effect")
def test_set_default_sort_order(catalog: Catalog) -> None:
    """set-default-sort-order makes the order with that id the default."""
    table = given_table(catalog)
    table = given_commit(catalog, table, [add_order(table, "id")])
    order_id = sort_order_id_of(table, "id")
    expect_effect(
        catalog,
        table,
        [{"action": "set-default-sort-order", "sort-order-id": order_id}],
        {"default-sort-order-id": order_id},
        what="default-sort-order-id",
    )


@check("update.set-default-sort-order.last-added")
def test_set_last_added_sort_order(catalog: Catalog) -> None:
    """Sort order id -1 makes the order the default that the same commit added last."""
    table = given_table(catalog)
    one, two = (add_order(table, column, at) for at, column in enumerate(("id", "data"), 1))
    after = expect_effect(
        catalog,
        table,
        [one, two, LAST_ADDED_ORDER],
        {"sort-orders": containing({"fields": two["sort-order"]["fields"]})},
        what="sort-orders",
    )
    default = [column for column, *_ in view.sort_fields(after.metadata)]
    equal(default, ["data"], symptom=EFFECT_MISSING.of("default-sort-order-id"))


@check(
    "update.set-default-sort-order.nothing-added",
    proves="update.set-default-sort-order.last-added-without-one-refused",
)
def test_last_added_without_an_order(catalog: Catalog) -> None:
    """Sort order id -1 in a commit that adds none is refused, or is the table's last added one."""
    table, default = given_table(catalog), "default-sort-order-id"
    expect_last_added(catalog, table, LAST_ADDED_ORDER, default, "sort-orders", "order-id")


@check(
    "update.set-default-sort-order.unknown-id",
    proves="update.set-default-sort-order.unknown-id-refused",
)
def test_unknown_sort_order_id(catalog: Catalog) -> None:
    """A sort order that the table does not have cannot become the default."""
    updates = [{"action": "set-default-sort-order", "sort-order-id": UNKNOWN_ID}]
    expect_refused(catalog, shared_table(catalog), updates)
