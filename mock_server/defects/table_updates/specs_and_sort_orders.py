"""Defects of the updates of partition specs and sort orders."""

from typing import Any

from msgspec import structs

from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.places import table_update
from icecheck.mock_server.defects.kit.updating import (
    FaithfulUpdate,
    alter_update,
    change_also,
    ignore_update,
    refuse_updates_where,
    store_minus_one,
    swallow_refusals,
)
from icecheck.mock_server.metadata.builder import Draft

_LAST_ADDED = -1
_FIRST_PARTITION_FIELD_ID = 1000


# ---- partition specs


@defect(
    "update-partition-field-ids-start-over",
    on=table_update("add-spec"),
    breaks="update.add-spec.field-ids-assigned",
    suffering="Values of one partition field are read as those of another.",
)
def _partition_field_ids_start_over(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """Field ids are counted from 1000 in every spec."""
    fields = tuple(
        structs.replace(field, field_id=_FIRST_PARTITION_FIELD_ID + index)
        for index, field in enumerate(update.spec.fields)
    )
    faithful(structs.replace(update, spec=structs.replace(update.spec, fields=fields)), draft)


declare_each(
    ("update-added-spec-becomes-default", "update.add-spec.effect",
     "add-spec also makes the spec the default.",
     "Data is written by a spec that nobody has chosen.",
     by(change_also, "add-spec",
        lambda _, after, _update: {"default_spec_id": after.partition_specs[-1].spec_id})),
    ("update-last-partition-id-stays", "update.add-spec.last-partition-id",
     "last-partition-id is not carried forward.",
     "The next partition field gets an id that is in use.",
     by(change_also, "add-spec",
        lambda before, _after, _update: {"last_partition_id": before.last_partition_id})),
    ("update-remove-specs-removes-all", "update.remove-partition-specs.effect",
     "remove-partition-specs removes every spec that is not the default.",
     "Manifests of other specs cannot be read any more.",
     by(
         alter_update,
         "remove-partition-specs",
         lambda _faithful, _update, draft: draft.change(
             partition_specs=tuple(
                 each
                 for each in draft.metadata.partition_specs
                 if each.spec_id == draft.metadata.default_spec_id
             )
         ),
     )),
    ("update-spec-id-demanded", "update.add-spec.spec-id-optional",
     "A spec without spec-id is refused, as the reference does.",
     "Clients that leave the spec id to the server cannot evolve partitions.",
     by(refuse_updates_where, "add-spec", lambda update, _: update.spec.spec_id is None)),
    ("update-last-added-spec-unknown", "update.set-default-spec.last-added",
     "The spec id -1 is looked up like any other.", "Every partition evolution fails.",
     by(refuse_updates_where, "set-default-spec", lambda update, _: update.spec_id == _LAST_ADDED)),
    ("update-minus-one-is-a-spec", "update.set-default-spec.last-added-without-one-refused",
     "The spec id -1 in a commit without a spec is stored as it comes.",
     "No writer finds the spec to write by.",
     by(store_minus_one, "set-default-spec", "spec_id", "default_spec_id", "added_spec_ids")),
    ("update-spec-over-nothing-skipped", "update.add-spec.unknown-column-refused",
     "A spec over an unknown column is accepted and left out.",
     "A client believes that the table is partitioned.",
     by(swallow_refusals, "add-spec", lambda update: len(update.spec.fields) == 1)),
    ("update-unknown-spec-skipped", "update.set-default-spec.unknown-id-refused",
     "Making an unknown spec the default is accepted and left out.",
     "A client writes by another spec than it was told.", by(swallow_refusals, "set-default-spec")),
    ("update-remove-default-spec-skipped", "update.remove-partition-specs.default-refused",
     "Removing the default spec is accepted and left out.",
     "A client is told that a spec is gone which is still in use.",
     by(swallow_refusals, "remove-partition-specs")),
)  # fmt: skip


# ---- sort orders


declare_each(
    ("update-added-order-becomes-default", "update.add-sort-order.effect",
     "add-sort-order also makes the order the default.",
     "Writers sort by an order that nobody has chosen.",
     by(change_also, "add-sort-order",
        lambda _, after, _update: {"default_sort_order_id": after.sort_orders[-1].order_id})),
    ("update-last-added-order-unknown", "update.set-default-sort-order.last-added",
     "The sort order id -1 is looked up like any other.", "ALTER TABLE WRITE ORDERED BY fails.",
     by(refuse_updates_where, "set-default-sort-order",
        lambda update, _: update.sort_order_id == _LAST_ADDED)),
    ("update-minus-one-is-an-order",
     "update.set-default-sort-order.last-added-without-one-refused",
     "The sort order id -1 in a commit without an order is stored as it comes.",
     "No writer finds the order to sort by.",
     by(store_minus_one, "set-default-sort-order", "sort_order_id", "default_sort_order_id",
        "added_sort_order_ids")),
    ("update-order-by-nothing-skipped", "update.add-sort-order.unknown-column-refused",
     "A sort order over an unknown column is accepted and left out.",
     "A client believes that the table is sorted.", by(swallow_refusals, "add-sort-order")),
    ("update-unknown-order-skipped", "update.set-default-sort-order.unknown-id-refused",
     "Making an unknown sort order the default is accepted and left out.",
     "A client writes by another sort order than it was told.",
     by(swallow_refusals, "set-default-sort-order")),
    ("update-spec-without-field-ids-left-out", "update.add-spec.effect",
     "A spec whose fields have no ids is not understood, and left out.",
     "A partition spec that was added is not there.",
     by(ignore_update, "add-spec",
        lambda update, _: any(field.field_id is None for field in update.spec.fields))),
)  # fmt: skip
