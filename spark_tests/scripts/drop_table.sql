-- check: spark.drop-table
-- title: A dropped table is gone, and its name starts afresh
-- proves: client.spark.drop-table

CREATE TABLE {table} (id INT) USING iceberg;

INSERT INTO {table} VALUES (1);

DROP TABLE {table};

SELECT * FROM {table};
-- expect-error: AnalysisException

DROP TABLE IF EXISTS {table};

CREATE TABLE {table} (id INT, name STRING) USING iceberg;

SELECT * FROM {table};
-- expect: no rows

SELECT count(*) FROM {table}.snapshots;
-- expect:
-- 0
