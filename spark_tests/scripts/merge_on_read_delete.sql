-- check: spark.merge-on-read-delete
-- title: DELETE and UPDATE with merge-on-read write delete files beside the data
-- proves: client.spark.merge-on-read-delete

CREATE TABLE {table} (id INT, name STRING) USING iceberg
TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read',
  'write.update.mode' = 'merge-on-read');

INSERT INTO {table} VALUES (1, 'a'), (2, 'b'), (3, 'c');

DELETE FROM {table} WHERE id = 1;

-- The data file stays whole; one position is deleted from it.
SELECT content, record_count FROM {table}.files;
-- expect:
-- 0 | 3
-- 1 | 1

UPDATE {table} SET name = 'B' WHERE id = 2;

SELECT content, sum(record_count) FROM {table}.files GROUP BY content ORDER BY content;
-- expect:
-- 0 | 4
-- 1 | 2

SELECT id, name FROM {table} ORDER BY id;
-- expect:
-- 2 | B
-- 3 | c

SELECT count(*) FROM {table};
-- expect:
-- 2
