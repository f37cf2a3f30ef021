-- check: spark.truncate
-- title: TRUNCATE empties a table and keeps its history
-- proves: client.spark.truncate

CREATE TABLE {table} (id INT) USING iceberg;

INSERT INTO {table} VALUES (1), (2);

SELECT snapshot_id FROM {table}.refs WHERE name = 'main';
-- save: before

TRUNCATE TABLE {table};

SELECT * FROM {table};
-- expect: no rows

SELECT id FROM {table} VERSION AS OF {before} ORDER BY id;
-- expect:
-- 1
-- 2
