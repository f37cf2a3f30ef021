"""What a Spark user does with a catalog, in SQL; a session of Spark is handed in."""

import urllib.request
from typing import Any

SPACE, ORDERS, MOVED = "recorded_space", "recorded_orders", "recorded_moved"
SHOWN = "recorded_shown"


def play(spark: Any, catalog: str, url: str) -> None:
    """Run the statements on a session in which ``catalog`` is the catalog at this URL."""

    def step(name: str) -> None:
        urllib.request.urlopen(f"{url}/step/{name}").read()

    orders, moved, shown = (f"{catalog}.{SPACE}.{name}" for name in (ORDERS, MOVED, SHOWN))
    step("tables/connect")
    spark.sql(f"USE {catalog}")
    step("tables/create-namespace")
    spark.sql(f"CREATE NAMESPACE {catalog}.{SPACE}")
    step("tables/create-table")
    spark.sql(f"CREATE TABLE {orders} (id BIGINT, word STRING) USING iceberg")
    step("tables/append")
    spark.sql(f"INSERT INTO {orders} VALUES (1, 'one')")
    step("tables/load")
    assert [row.word for row in spark.sql(f"SELECT * FROM {orders}").collect()] == ["one"]
    step("tables/add-column")
    spark.sql(f"ALTER TABLE {orders} ADD COLUMN more STRING")
    step("tables/list")
    listed = spark.sql(f"SHOW TABLES IN {catalog}.{SPACE}").collect()
    assert ORDERS in [row.tableName for row in listed]
    step("tables/rename")
    spark.sql(f"ALTER TABLE {orders} RENAME TO {SPACE}.{MOVED}")
    step("tables/drop-table")
    spark.sql(f"DROP TABLE {moved}")
    step("views/create-view")
    spark.sql(f"CREATE VIEW {shown} AS SELECT 1 AS id")
    step("views/load-view")
    assert [row.id for row in spark.sql(f"SELECT * FROM {shown}").collect()] == [1]
    step("views/drop-view")
    spark.sql(f"DROP VIEW {shown}")
    step("tables/drop-namespace")
    spark.sql(f"DROP NAMESPACE {catalog}.{SPACE}")
