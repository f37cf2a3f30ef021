-- check: spark.subqueries
-- title: DELETE and UPDATE choose their rows by a query of another table
-- proves: client.spark.subqueries

CREATE TABLE {table} (oid INT, status STRING) USING iceberg;

INSERT INTO {table} VALUES (1, 'new'), (2, 'new'), (3, 'new'), (4, 'new'), (5, 'new');

CREATE TABLE {table2} (oid INT) USING iceberg;

INSERT INTO {table2} VALUES (2), (4);

UPDATE {table} AS t1 SET status = 'returned'
WHERE EXISTS (SELECT oid FROM {table2} WHERE t1.oid = oid);

SELECT oid, status FROM {table} ORDER BY oid;
-- expect:
-- 1 | new
-- 2 | returned
-- 3 | new
-- 4 | returned
-- 5 | new

UPDATE {table} SET status = 'early' WHERE oid < (SELECT min(oid) FROM {table2});

DELETE FROM {table} AS t1 WHERE EXISTS (SELECT oid FROM {table2} WHERE t1.oid = oid);

DELETE FROM {table} WHERE oid > (SELECT max(oid) FROM {table2});

SELECT oid, status FROM {table} ORDER BY oid;
-- expect:
-- 1 | early
-- 3 | new

DELETE FROM {table} WHERE oid NOT IN (SELECT oid + 1 FROM {table2});

SELECT oid FROM {table};
-- expect:
-- 3
