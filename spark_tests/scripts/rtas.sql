-- check: spark.rtas
-- title: A table is replaced by the result of a query, and its past can still be read
-- proves: client.spark.rtas

CREATE TABLE {table} USING iceberg AS SELECT 1 AS id, 'old' AS word;

SELECT snapshot_id FROM {table}.refs WHERE name = 'main';
-- save: before

REPLACE TABLE {table} USING iceberg PARTITIONED BY (country)
AS SELECT id + 1 AS id, 'FR' AS country FROM {table};

SELECT * FROM {table};
-- expect:
-- 2 | FR

SELECT * FROM {table} VERSION AS OF {before};
-- expect:
-- 1 | old

REPLACE TABLE {table2} USING iceberg AS SELECT 1 AS id;
-- expect-error: CannotReplaceMissingTableException

CREATE OR REPLACE TABLE {table2} USING iceberg AS SELECT id FROM {table};

SELECT * FROM {table2};
-- expect:
-- 2
