-- check: spark.reorder-columns
-- title: Columns change places and keep their values
-- proves: client.spark.reorder-columns

CREATE TABLE {table} (a INT, b STRING, c INT) USING iceberg;

INSERT INTO {table} VALUES (1, 'two', 3);

ALTER TABLE {table} ALTER COLUMN c FIRST;

SELECT * FROM {table};
-- expect:
-- 3 | 1 | two

ALTER TABLE {table} ALTER COLUMN a AFTER b;

INSERT INTO {table} VALUES (30, 'twenty', 10);

SELECT * FROM {table} ORDER BY a;
-- expect:
-- 3 | two | 1
-- 30 | twenty | 10
