"""What a DuckDB user does with a catalog; run as ``python duckdb_client.py URL WAREHOUSE``."""

import importlib.util
import sys
import urllib.request
from pathlib import Path

import duckdb

SPACE, ORDERS, MOVED = "recorded_space", "recorded_orders", "recorded_moved"
LINES, PARTS = "recorded_lines", "recorded_parts"


def main(url: str, warehouse: str) -> None:
    def step(name: str) -> None:
        urllib.request.urlopen(f"{url}/step/{name}").read()

    sql = duckdb.connect()
    for extension in ("avro", "httpfs", "iceberg"):
        package = Path(str(importlib.util.find_spec(f"duckdb_extension_{extension}").origin)).parent
        sql.load_extension(str(next(package.rglob("*.duckdb_extension"))))
    step("tables/connect")
    sql.execute(
        f"ATTACH '{warehouse}' AS cat (TYPE iceberg, ENDPOINT '{url}', AUTHORIZATION_TYPE 'none')"
    )
    step("tables/create-namespace")
    sql.execute(f"CREATE SCHEMA cat.{SPACE}")
    step("tables/create-table")
    sql.execute(f"CREATE TABLE cat.{SPACE}.{ORDERS} (id BIGINT, word VARCHAR)")
    step("tables/append")
    sql.execute(f"INSERT INTO cat.{SPACE}.{ORDERS} VALUES (1, 'one')")
    step("tables/load")
    assert sql.execute(f"SELECT count(*) FROM cat.{SPACE}.{ORDERS}").fetchone() == (1,)
    step("tables/add-column")
    sql.execute(f"ALTER TABLE cat.{SPACE}.{ORDERS} ADD COLUMN more VARCHAR")
    step("tables/list")
    listed = sql.execute("SELECT table_name FROM duckdb_tables() WHERE database_name = 'cat'")
    assert (ORDERS,) in listed.fetchall()
    step("tables/rename")
    sql.execute(f"ALTER TABLE cat.{SPACE}.{ORDERS} RENAME TO {MOVED}")
    step("tables/drop-table")
    sql.execute(f"DROP TABLE cat.{SPACE}.{MOVED}")
    step("transactions/create-tables")
    sql.execute(f"CREATE TABLE cat.{SPACE}.{LINES} (id BIGINT)")
    sql.execute(f"CREATE TABLE cat.{SPACE}.{PARTS} (id BIGINT)")
    step("transactions/commit")
    sql.execute("BEGIN")
    sql.execute(f"INSERT INTO cat.{SPACE}.{LINES} VALUES (1)")
    sql.execute(f"INSERT INTO cat.{SPACE}.{PARTS} VALUES (2)")
    sql.execute("COMMIT")
    step("transactions/drop-tables")
    sql.execute(f"DROP TABLE cat.{SPACE}.{LINES}")
    sql.execute(f"DROP TABLE cat.{SPACE}.{PARTS}")
    step("tables/drop-namespace")
    sql.execute(f"DROP SCHEMA cat.{SPACE}")


if __name__ == "__main__":
    main(*sys.argv[1:])
