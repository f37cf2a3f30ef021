"""Ways in which servers get updates of partition specs and sort orders wrong."""

from typing import Any

from msgspec import structs

from icecheck.mock_server.builder import Draft
from icecheck.mock_server.context import Registries
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.versions import (
    Faithful,
    alter_update,
    ignore_update,
    swallow_refusals,
)
from icecheck.mock_server.problem import bad_request

_LAST_ADDED = -1
_FIRST_PARTITION_FIELD_ID = 1000


# ---- partition specs


@defect(
    "update-added-spec-becomes-default",
    breaks="update.add-spec.effect",
    suffering="Data is written by a spec that nobody has chosen.",
)
def _added_spec_becomes_default(registries: Registries) -> None:
    """add-spec also makes the spec the default."""

    def default(faithful: Faithful, update: Any, draft: Draft) -> None:
        faithful(update, draft)
        draft.change(default_spec_id=draft.metadata.partition_specs[-1].spec_id)

    alter_update(registries, "add-spec", default)


@defect(
    "update-spec-id-demanded",
    breaks="update.add-spec.spec-id-optional",
    suffering="Clients that leave the spec id to the server cannot evolve partitions.",
)
def _spec_id_demanded(registries: Registries) -> None:
    """A spec without spec-id is refused, as the reference does."""

    def demanding(faithful: Faithful, update: Any, draft: Draft) -> None:
        if update.spec.spec_id is None:
            raise bad_request("Cannot parse missing int: spec-id")
        faithful(update, draft)

    alter_update(registries, "add-spec", demanding)


@defect(
    "update-partition-field-ids-start-over",
    breaks="update.add-spec.field-ids-assigned",
    suffering="Values of one partition field are read as those of another.",
)
def _partition_field_ids_start_over(registries: Registries) -> None:
    """Field ids are counted from 1000 in every spec."""

    def from_1000(faithful: Faithful, update: Any, draft: Draft) -> None:
        fields = tuple(
            structs.replace(field, field_id=_FIRST_PARTITION_FIELD_ID + index)
            for index, field in enumerate(update.spec.fields)
        )
        faithful(structs.replace(update, spec=structs.replace(update.spec, fields=fields)), draft)

    alter_update(registries, "add-spec", from_1000)


@defect(
    "update-last-partition-id-stays",
    breaks="update.add-spec.last-partition-id",
    suffering="The next partition field gets an id that is in use.",
)
def _last_partition_id_stays(registries: Registries) -> None:
    """last-partition-id is not carried forward."""

    def stays(faithful: Faithful, update: Any, draft: Draft) -> None:
        before = draft.metadata.last_partition_id
        faithful(update, draft)
        draft.change(last_partition_id=before)

    alter_update(registries, "add-spec", stays)


@defect(
    "update-spec-over-nothing-skipped",
    breaks="update.add-spec.unknown-column-refused",
    suffering="A client believes that the table is partitioned.",
)
def _spec_over_nothing_skipped(registries: Registries) -> None:
    """A spec over an unknown column is accepted and left out."""
    swallow_refusals(registries, "add-spec")


@defect(
    "update-last-added-spec-unknown",
    breaks="update.set-default-spec.last-added",
    suffering="Every partition evolution fails.",
)
def _last_added_spec_unknown(registries: Registries) -> None:
    """The spec id -1 is looked up like any other."""

    def looked_up(faithful: Faithful, update: Any, draft: Draft) -> None:
        if update.spec_id == _LAST_ADDED:
            raise bad_request("Cannot set default partition spec to unknown spec: -1")
        faithful(update, draft)

    alter_update(registries, "set-default-spec", looked_up)


@defect(
    "update-no-added-spec-is-fine",
    breaks="update.set-default-spec.last-added-without-one-refused",
    suffering="A client that forgot its spec is told that all went well.",
)
def _no_added_spec_is_fine(registries: Registries) -> None:
    """The spec id -1 in a commit without a spec keeps the default one."""
    ignore_update(
        registries,
        "set-default-spec",
        lambda update, draft: update.spec_id == _LAST_ADDED and not draft.added_spec_ids,
    )


@defect(
    "update-unknown-spec-skipped",
    breaks="update.set-default-spec.unknown-id-refused",
    suffering="A client writes by another spec than it was told.",
)
def _unknown_spec_skipped(registries: Registries) -> None:
    """Making an unknown spec the default is accepted and left out."""
    swallow_refusals(registries, "set-default-spec")


@defect(
    "update-remove-specs-removes-all",
    breaks="update.remove-partition-specs.effect",
    suffering="Manifests of other specs cannot be read any more.",
)
def _remove_specs_removes_all(registries: Registries) -> None:
    """remove-partition-specs removes every spec that is not the default."""

    def all_others(_faithful: Faithful, _update: Any, draft: Draft) -> None:
        specs = draft.metadata.partition_specs
        kept = tuple(s for s in specs if s.spec_id == draft.metadata.default_spec_id)
        draft.change(partition_specs=kept)

    alter_update(registries, "remove-partition-specs", all_others)


@defect(
    "update-remove-default-spec-skipped",
    breaks="update.remove-partition-specs.default-refused",
    suffering="A client is told that a spec is gone which is still in use.",
)
def _remove_default_spec_skipped(registries: Registries) -> None:
    """Removing the default spec is accepted and left out."""
    swallow_refusals(registries, "remove-partition-specs")


# ---- sort orders


@defect(
    "update-added-order-becomes-default",
    breaks="update.add-sort-order.effect",
    suffering="Writers sort by an order that nobody has chosen.",
)
def _added_order_becomes_default(registries: Registries) -> None:
    """add-sort-order also makes the order the default."""

    def default(faithful: Faithful, update: Any, draft: Draft) -> None:
        faithful(update, draft)
        draft.change(default_sort_order_id=draft.metadata.sort_orders[-1].order_id)

    alter_update(registries, "add-sort-order", default)


@defect(
    "update-order-by-nothing-skipped",
    breaks="update.add-sort-order.unknown-column-refused",
    suffering="A client believes that the table is sorted.",
)
def _order_by_nothing_skipped(registries: Registries) -> None:
    """A sort order over an unknown column is accepted and left out."""
    swallow_refusals(registries, "add-sort-order")


@defect(
    "update-last-added-order-unknown",
    breaks="update.set-default-sort-order.last-added",
    suffering="ALTER TABLE WRITE ORDERED BY fails.",
)
def _last_added_order_unknown(registries: Registries) -> None:
    """The sort order id -1 is looked up like any other."""

    def looked_up(faithful: Faithful, update: Any, draft: Draft) -> None:
        if update.sort_order_id == _LAST_ADDED:
            raise bad_request("Cannot set default sort order to unknown sort order: -1")
        faithful(update, draft)

    alter_update(registries, "set-default-sort-order", looked_up)


@defect(
    "update-no-added-order-is-fine",
    breaks="update.set-default-sort-order.last-added-without-one-refused",
    suffering="A client that forgot its sort order is told that all went well.",
)
def _no_added_order_is_fine(registries: Registries) -> None:
    """The sort order id -1 in a commit without an order keeps the default one."""
    ignore_update(
        registries,
        "set-default-sort-order",
        lambda update, draft: (
            update.sort_order_id == _LAST_ADDED and not draft.added_sort_order_ids
        ),
    )


@defect(
    "update-unknown-order-skipped",
    breaks="update.set-default-sort-order.unknown-id-refused",
    suffering="A client writes by another sort order than it was told.",
)
def _unknown_order_skipped(registries: Registries) -> None:
    """Making an unknown sort order the default is accepted and left out."""
    swallow_refusals(registries, "set-default-sort-order")
