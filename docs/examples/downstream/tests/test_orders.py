"""The table of orders grows and loses nothing: on the mock, or on the catalog of --catalog-url."""

from pyiceberg.schema import Schema
from pyiceberg.types import DoubleType, NestedField

from orders import orders_table


def test_the_table_is_made_once_and_gets_new_columns(iceberg_catalog, iceberg_namespace):
    first = orders_table(iceberg_catalog, iceberg_namespace)
    amount = Schema(NestedField(1, "amount", DoubleType()))
    second = orders_table(iceberg_catalog, iceberg_namespace, amount)
    assert second.metadata.table_uuid == first.metadata.table_uuid
    assert second.schema().column_names == ["id", "customer", "amount"]
