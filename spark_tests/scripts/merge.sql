-- check: spark.merge
-- title: MERGE updates, deletes and inserts rows in one commit
-- proves: client.spark.merge

CREATE TABLE {table} (id INT, name STRING, quantity INT) USING iceberg;

INSERT INTO {table} VALUES (1, 'a', 10), (2, 'b', 20), (3, 'c', 30);

CREATE TABLE {table2} (id INT, name STRING, quantity INT, gone BOOLEAN) USING iceberg;

INSERT INTO {table2} VALUES (2, 'b2', 25, false), (3, 'c', 30, true), (4, 'd', 40, false);

MERGE INTO {table} t USING {table2} s ON t.id = s.id
WHEN MATCHED AND s.gone THEN DELETE
WHEN MATCHED THEN UPDATE SET name = s.name, quantity = s.quantity
WHEN NOT MATCHED THEN INSERT (id, name, quantity) VALUES (s.id, s.name, s.quantity);

SELECT id, name, quantity FROM {table} ORDER BY id;
-- expect:
-- 1 | a | 10
-- 2 | b2 | 25
-- 4 | d | 40

-- One commit for the INSERT and one for the MERGE.
SELECT count(*) FROM {table}.snapshots;
-- expect:
-- 2

MERGE INTO {table} t USING {table2} s ON t.id = s.id
WHEN NOT MATCHED BY SOURCE THEN UPDATE SET quantity = 0;

SELECT id, quantity FROM {table} ORDER BY id;
-- expect:
-- 1 | 0
-- 2 | 25
-- 4 | 40
