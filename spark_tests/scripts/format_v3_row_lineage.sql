-- check: spark.format-v3-row-lineage
-- title: Rows of format version 3 keep their ids when they are updated
-- proves: client.spark.format-v3-row-lineage

CREATE TABLE {table} (id INT, name STRING) USING iceberg TBLPROPERTIES ('format-version' = '3');
-- may-refuse: the catalog keeps no tables of format version 3

INSERT INTO {table} VALUES (1, 'a'), (2, 'b'), (3, 'c');

INSERT INTO {table} VALUES (4, 'd');

-- Ids are given by file and position: 0 to 2 by the first commit, 3 by the second.
SELECT id, _row_id, _last_updated_sequence_number FROM {table} ORDER BY id;
-- expect:
-- 1 | 0 | 1
-- 2 | 1 | 1
-- 3 | 2 | 1
-- 4 | 3 | 2

UPDATE {table} SET name = 'changed' WHERE id = 2;

SELECT id, name, _row_id, _last_updated_sequence_number FROM {table} ORDER BY id;
-- expect:
-- 1 | a | 0 | 1
-- 2 | changed | 1 | 3
-- 3 | c | 2 | 1
-- 4 | d | 3 | 2

ALTER TABLE {table} ADD COLUMN note STRING;

-- Rows of a later commit never get the id of an earlier row.
INSERT INTO {table} VALUES (5, 'e', 'n');

SELECT count(DISTINCT _row_id), count(*) FROM {table};
-- expect:
-- 5 | 5
