"""Keeps the table of orders: made if it is missing, and given the columns that it lacks."""

from pyiceberg.catalog import Catalog
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import LongType, NestedField, StringType

COLUMNS = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "customer", StringType()),
)


def orders_table(catalog: Catalog, namespace: str, columns: Schema = COLUMNS) -> Table:
    """Return the table of orders with at least these columns."""
    table = catalog.create_table_if_not_exists(f"{namespace}.orders", columns)
    with table.update_schema() as update:
        update.union_by_name(columns)
    return table
