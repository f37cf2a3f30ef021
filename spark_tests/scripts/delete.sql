-- check: spark.delete
-- title: DELETE removes the rows that match, down to an empty table
-- proves: client.spark.delete

CREATE TABLE {table} (id INT, name STRING) USING iceberg;

INSERT INTO {table} VALUES (1, 'a'), (2, 'b'), (3, NULL), (4, 'd');

DELETE FROM {table} WHERE id = 2;

DELETE FROM {table} WHERE name IS NULL;

SELECT id, name FROM {table} ORDER BY id;
-- expect:
-- 1 | a
-- 4 | d

DELETE FROM {table};

SELECT * FROM {table};
-- expect: no rows

INSERT INTO {table} VALUES (5, 'e');

SELECT id FROM {table};
-- expect:
-- 5
