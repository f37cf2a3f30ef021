"""What a PyIceberg user does; run as ``python pyiceberg_client.py URL WAREHOUSE``."""

import sys
import urllib.request

import pyarrow as pa
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType
from pyiceberg.view.metadata import SQLViewRepresentation, ViewVersion

SPACE, ORDERS, MOVED, SHOWN = (
    "recorded_space",
    "recorded_orders",
    "recorded_moved",
    "recorded_shown",
)
SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=False),
    NestedField(2, "word", StringType(), required=False),
)


def main(url: str, warehouse: str) -> None:
    def step(name: str) -> None:
        urllib.request.urlopen(f"{url}/step/{name}").read()

    step("tables/connect")
    catalog = RestCatalog("recorded", uri=url, warehouse=warehouse)
    step("tables/create-namespace")
    catalog.create_namespace(SPACE)
    step("tables/create-table")
    catalog.create_table((SPACE, ORDERS), SCHEMA)
    step("tables/load")
    table = catalog.load_table((SPACE, ORDERS))
    step("tables/append")
    table.append(pa.table({"id": [1], "word": ["one"]}))
    assert table.scan().to_arrow().num_rows == 1
    step("tables/add-column")
    with table.update_schema() as update:
        update.add_column("more", StringType())
    assert [field.name for field in table.schema().fields] == ["id", "word", "more"]
    step("tables/list")
    assert (SPACE, ORDERS) in catalog.list_tables(SPACE)
    step("tables/rename")
    catalog.rename_table((SPACE, ORDERS), (SPACE, MOVED))
    step("tables/drop-table")
    catalog.drop_table((SPACE, MOVED))
    step("views/create-view")
    version = ViewVersion(
        version_id=1,
        schema_id=0,
        timestamp_ms=1,
        summary={},
        representations=[SQLViewRepresentation(type="sql", sql="SELECT 1 AS id", dialect="spark")],
        default_namespace=[SPACE],
    )
    catalog.create_view((SPACE, SHOWN), SCHEMA, version)
    step("views/load-view")
    catalog.load_view((SPACE, SHOWN))
    step("views/list-views")
    assert (SPACE, SHOWN) in catalog.list_views(SPACE)
    step("views/drop-view")
    catalog.drop_view((SPACE, SHOWN))
    step("tables/drop-namespace")
    catalog.drop_namespace(SPACE)


if __name__ == "__main__":
    main(*sys.argv[1:])
