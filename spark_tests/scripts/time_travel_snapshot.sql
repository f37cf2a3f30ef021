-- check: spark.time-travel-snapshot
-- title: Every snapshot can be read by its id, with the columns of its time
-- proves: client.spark.time-travel-snapshot
-- needs: snapshot-history

CREATE TABLE {table} (id INT) USING iceberg;

INSERT INTO {table} VALUES (1);

SELECT snapshot_id FROM {table}.refs WHERE name = 'main';
-- save: first

INSERT INTO {table} VALUES (2);

SELECT snapshot_id FROM {table}.refs WHERE name = 'main';
-- save: second

ALTER TABLE {table} ADD COLUMN name STRING;

UPDATE {table} SET id = id + 100, name = 'new';

SELECT * FROM {table} VERSION AS OF {first};
-- expect:
-- 1

SELECT * FROM {table} VERSION AS OF {second} ORDER BY id;
-- expect:
-- 1
-- 2

SELECT id, name FROM {table} ORDER BY id;
-- expect:
-- 101 | new
-- 102 | new

SELECT id FROM {table} VERSION AS OF 1;
-- expect-error: IllegalArgumentException
