-- check: spark.dangling-deletes
-- title: CALL rewrite_data_files removes delete files that apply to no data file any more
-- proves: client.spark.dangling-deletes

CREATE TABLE {table} (id INT, country STRING) USING iceberg PARTITIONED BY (country)
TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read');

INSERT INTO {table} VALUES (1, 'FR'), (2, 'FR'), (3, 'FR');

INSERT INTO {table} VALUES (4, 'FR'), (5, 'FR');

DELETE FROM {table} WHERE id IN (2, 4);

CALL {catalog}.system.rewrite_data_files(table => '{namespace}.{name}',
  options => map('min-input-files', '2', 'rewrite-all', 'true',
    'use-starting-sequence-number', 'false', 'remove-dangling-deletes', 'true'));

SELECT content, record_count FROM {table}.files;
-- expect:
-- 0 | 3

SELECT id FROM {table} ORDER BY id;
-- expect:
-- 1
-- 3
-- 5

INSERT INTO {table} VALUES (6, 'FR'), (7, 'FR');

DELETE FROM {table} WHERE id = 6;

SELECT id FROM {table} ORDER BY id;
-- expect:
-- 1
-- 3
-- 5
-- 7
