-- check: spark.drop-column
-- title: A dropped column is gone, and its values do not come back with its name
-- proves: client.spark.drop-column

-- The last column is dropped: a catalog that then gives its field id again brings its values back.
CREATE TABLE {table} (id INT, name STRING, secret STRING) USING iceberg;

INSERT INTO {table} VALUES (1, 'a', 'old');

ALTER TABLE {table} DROP COLUMN secret;

SELECT * FROM {table};
-- expect:
-- 1 | a

ALTER TABLE {table} ADD COLUMN secret STRING;

SELECT * FROM {table};
-- expect:
-- 1 | a | NULL

INSERT INTO {table} VALUES (2, 'b', 'new');

SELECT id, secret FROM {table} ORDER BY id;
-- expect:
-- 1 | NULL
-- 2 | new
