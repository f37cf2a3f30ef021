-- check: spark.create-existing
-- title: A table that exists is not created again, and keeps its rows
-- proves: client.spark.create-existing

CREATE TABLE {table} (id INT) USING iceberg;

INSERT INTO {table} VALUES (7);

CREATE TABLE {table} (other STRING) USING iceberg;
-- expect-error: TableAlreadyExistsException

CREATE TABLE IF NOT EXISTS {table} (other STRING) USING iceberg;

SELECT id FROM {table};
-- expect:
-- 7

-- The same through a staged creation: the data is written first, the commit must be refused.
CREATE TABLE {table} USING iceberg AS SELECT 8 AS id;
-- expect-error: TableAlreadyExistsException

SELECT id FROM {table};
-- expect:
-- 7
