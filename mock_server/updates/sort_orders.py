"""Updates of a table's sort orders."""

from msgspec import Struct, structs

from icecheck.mock_server.metadata.binding import UNSORTED_ORDER_ID, bound_sort_order
from icecheck.mock_server.metadata.builder import Draft, named_id, next_id
from icecheck.mock_server.metadata.column_types import Int32
from icecheck.mock_server.metadata.requested import RequestedSortOrder
from icecheck.mock_server.updates.registry import table_update

_FIRST_SORTED_ORDER_ID = 1


@table_update
class AddSortOrderUpdate(
    Struct, frozen=True, gc=False, tag="add-sort-order", tag_field="action", rename="kebab"
):
    """Add a sort order bound to the current schema, which does not make it the default.

    The unsorted order is always 0; sorted ones are numbered from 1 by the server.
    """

    sort_order: RequestedSortOrder

    def apply(self, draft: Draft) -> None:
        """Append the order, or reuse one with equal fields: then nothing changes."""
        orders = draft.metadata.sort_orders
        order = bound_sort_order(self.sort_order, draft.columns(), UNSORTED_ORDER_ID)
        for existing in orders:
            if existing.fields == order.fields:
                is_after_new = draft.last_added_sort_order_id in draft.added_sort_order_ids
                draft.last_added_sort_order_id = existing.order_id if is_after_new else None
                return
        order_id = UNSORTED_ORDER_ID
        if order.fields:
            order_id = next_id((o.order_id for o in orders), _FIRST_SORTED_ORDER_ID)
        draft.added_sort_order_ids.add(order_id)
        draft.last_added_sort_order_id = order_id
        draft.change(sort_orders=(*orders, structs.replace(order, order_id=order_id)))


@table_update
class SetDefaultSortOrderUpdate(
    Struct,
    frozen=True,
    gc=False,
    tag="set-default-sort-order",
    tag_field="action",
    rename="kebab",
):
    """Make a sort order the default; -1 means the one that this commit added last."""

    sort_order_id: Int32

    def apply(self, draft: Draft) -> None:
        """Move the pointer; refuse (400) an unknown id, and -1 if no order was added."""
        known = [order.order_id for order in draft.metadata.sort_orders]
        order_id = named_id(self.sort_order_id, draft.last_added_sort_order_id, known, "sort order")
        if order_id != draft.metadata.default_sort_order_id:
            draft.change(default_sort_order_id=order_id)
