-- check: spark.format-v3-deletion-vectors
-- title: Format version 3 deletes rows through deletion vectors
-- proves: client.spark.format-v3-deletion-vectors

CREATE TABLE {table} (id INT, name STRING) USING iceberg
TBLPROPERTIES ('format-version' = '3', 'write.delete.mode' = 'merge-on-read');
-- may-refuse: the catalog keeps no tables of format version 3

INSERT INTO {table} VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd');

DELETE FROM {table} WHERE id = 2;

SELECT content, file_format, record_count FROM {table}.delete_files;
-- expect:
-- 1 | PUFFIN | 1

-- The vector of a file is replaced, not added to.
DELETE FROM {table} WHERE id = 4;

SELECT content, file_format, record_count FROM {table}.delete_files;
-- expect:
-- 1 | PUFFIN | 2

SELECT id, name FROM {table} ORDER BY id;
-- expect:
-- 1 | a
-- 3 | c

SHOW TBLPROPERTIES {table} ('format-version');
-- expect:
-- format-version | 3
