-- check: spark.widen-column
-- title: INT, FLOAT and DECIMAL columns widen, and old and new values are read together
-- proves: client.spark.widen-column

CREATE TABLE {table} (id INT, ratio FLOAT, price DECIMAL(5, 2)) USING iceberg;

INSERT INTO {table} VALUES (1, 1.5, 999.99);

ALTER TABLE {table} ALTER COLUMN id TYPE BIGINT;

ALTER TABLE {table} ALTER COLUMN ratio TYPE DOUBLE;

ALTER TABLE {table} ALTER COLUMN price TYPE DECIMAL(12, 2);

INSERT INTO {table} VALUES (3000000000, 0.1, 1234567890.12);

SELECT id, ratio, price FROM {table} ORDER BY id;
-- expect:
-- 1 | 1.5 | 999.99
-- 3000000000 | 0.1 | 1234567890.12

SELECT id FROM {table} WHERE id > 2147483647;
-- expect:
-- 3000000000

DESCRIBE TABLE {table};
-- expect-including:
-- id | bigint | NULL
-- ratio | double | NULL
-- price | decimal(12,2) | NULL
