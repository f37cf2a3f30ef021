-- check: spark.drop-purge
-- title: DROP TABLE PURGE removes a table together with its files
-- proves: client.spark.drop-purge

CREATE TABLE {table} (id INT) USING iceberg;

INSERT INTO {table} VALUES (1), (2);

DROP TABLE {table} PURGE;

SHOW TABLES IN {catalog}.{namespace};
-- expect: no rows

SELECT * FROM {table};
-- expect-error: AnalysisException

CREATE TABLE {table} (id INT) USING iceberg;

INSERT INTO {table} VALUES (3);

SELECT id FROM {table};
-- expect:
-- 3
