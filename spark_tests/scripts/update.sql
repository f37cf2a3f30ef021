-- check: spark.update
-- title: UPDATE rewrites the rows that match, and no other
-- proves: client.spark.update

CREATE TABLE {table} (id INT, name STRING, quantity INT) USING iceberg;

INSERT INTO {table} VALUES (1, 'a', 10), (2, 'b', 20), (3, 'c', NULL);

UPDATE {table} SET quantity = quantity + 1, name = upper(name) WHERE id >= 2;

SELECT id, name, quantity FROM {table} ORDER BY id;
-- expect:
-- 1 | a | 10
-- 2 | B | 21
-- 3 | C | NULL

UPDATE {table} SET quantity = 0 WHERE id = 99;

UPDATE {table} SET quantity = -1 WHERE quantity IS NULL;

SELECT id, quantity FROM {table} ORDER BY id;
-- expect:
-- 1 | 10
-- 2 | 21
-- 3 | -1
