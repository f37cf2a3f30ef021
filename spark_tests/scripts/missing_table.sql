-- check: spark.missing-table
-- title: What does not exist is reported as missing, by statement
-- proves: client.spark.missing-table

SELECT * FROM {table};
-- expect-error: AnalysisException

INSERT INTO {table} VALUES (1);
-- expect-error: AnalysisException

DROP TABLE {table};
-- expect-error: AnalysisException

DROP TABLE IF EXISTS {table};

ALTER TABLE {table} RENAME TO {namespace}.{name2};
-- expect-error: AnalysisException

CREATE TABLE {catalog}.{namespace2}.{name} (id INT) USING iceberg;
-- expect-error: NoSuchNamespaceException

SHOW TABLES IN {catalog}.{namespace2};
-- expect-error: NoSuchNamespaceException

SHOW TABLES IN {catalog}.{namespace};
-- expect: no rows
