-- check: spark.rename-table
-- title: A renamed table keeps its rows, and its old name is free
-- proves: client.spark.rename-table

CREATE TABLE {table} (id INT) USING iceberg;

INSERT INTO {table} VALUES (1);

ALTER TABLE {table} RENAME TO {namespace}.{name2};
-- may-refuse: the catalog does not rename tables

SELECT id FROM {table2};
-- expect:
-- 1

SELECT id FROM {table};
-- expect-error: AnalysisException

INSERT INTO {table2} VALUES (2);

CREATE TABLE {table} (other STRING) USING iceberg;

SELECT * FROM {table};
-- expect: no rows

-- The name is taken: both tables stay as they are.
ALTER TABLE {table} RENAME TO {namespace}.{name2};
-- expect-error: TableAlreadyExistsException

SELECT id FROM {table2} ORDER BY id;
-- expect:
-- 1
-- 2
