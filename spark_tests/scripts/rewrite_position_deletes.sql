-- check: spark.rewrite-position-deletes
-- title: CALL rewrite_position_delete_files makes one delete file of two and brings no row back
-- proves: client.spark.rewrite-position-deletes

CREATE TABLE {table} (id INT) USING iceberg
TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read',
  'write.delete.granularity' = 'partition');

INSERT INTO {table} VALUES (1), (2), (3), (4);

DELETE FROM {table} WHERE id = 1;

DELETE FROM {table} WHERE id = 3;

SELECT content, record_count FROM {table}.delete_files;
-- expect:
-- 1 | 1
-- 1 | 1

SELECT pos FROM {table}.position_deletes ORDER BY pos;
-- expect:
-- 0
-- 2

-- Too few files for the default rewrite.
CALL {catalog}.system.rewrite_position_delete_files('{namespace}.{name}');

SELECT count(*) FROM {table}.delete_files;
-- expect:
-- 2

CALL {catalog}.system.rewrite_position_delete_files(table => '{namespace}.{name}',
  where => 'id < 100', options => map('min-input-files', '2', 'rewrite-all', 'true'));

SELECT content, record_count FROM {table}.delete_files;
-- expect:
-- 1 | 2

SELECT operation FROM {table}.snapshots ORDER BY committed_at DESC LIMIT 1;
-- expect:
-- replace

SELECT id FROM {table} ORDER BY id;
-- expect:
-- 2
-- 4
