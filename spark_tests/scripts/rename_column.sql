-- check: spark.rename-column
-- title: A renamed column keeps its values, and its old name is free again
-- proves: client.spark.rename-column

CREATE TABLE {table} (id INT, before STRING) USING iceberg;

INSERT INTO {table} VALUES (1, 'kept');

ALTER TABLE {table} RENAME COLUMN before TO after;

SELECT id, after FROM {table};
-- expect:
-- 1 | kept

SELECT before FROM {table};
-- expect-error: AnalysisException

-- Another column under the old name is another field: it must not find the old values.
ALTER TABLE {table} ADD COLUMN before STRING;

INSERT INTO {table} VALUES (2, 'x', 'y');

SELECT id, after, before FROM {table} ORDER BY id;
-- expect:
-- 1 | kept | NULL
-- 2 | x | y
