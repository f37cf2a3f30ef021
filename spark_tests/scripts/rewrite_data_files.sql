-- check: spark.rewrite-data-files
-- title: CALL rewrite_data_files makes one file of three and changes no row
-- proves: client.spark.rewrite-data-files

CREATE TABLE {table} (id INT) USING iceberg;

INSERT INTO {table} VALUES (1);

INSERT INTO {table} VALUES (2);

INSERT INTO {table} VALUES (3);

SELECT count(*) FROM {table}.files;
-- expect:
-- 3

CALL {catalog}.system.rewrite_data_files(table => '{namespace}.{name}',
  options => map('min-input-files', '2'));

SELECT record_count FROM {table}.files;
-- expect:
-- 3

SELECT id FROM {table} ORDER BY id;
-- expect:
-- 1
-- 2
-- 3

SELECT operation FROM {table}.snapshots ORDER BY committed_at DESC LIMIT 1;
-- expect:
-- replace
