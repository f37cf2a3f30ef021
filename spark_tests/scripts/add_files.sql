-- check: spark.add-files
-- title: CALL add_files makes files of another writer a part of the table
-- proves: client.spark.add-files

CREATE TABLE {table} (id INT, word STRING) USING iceberg TBLPROPERTIES ('format-version' = '2');

INSERT INTO {table} VALUES (1, 'a');

SELECT regexp_replace(file_path, '/[^/]*$', '') FROM {table}.files;
-- save: directory

INSERT OVERWRITE DIRECTORY '{directory}/ready' USING parquet SELECT 'b' AS word, 2 AS id;

CALL {catalog}.system.add_files(table => '{namespace}.{name}',
  source_table => '`parquet`.`{directory}/ready`');
-- expect:
-- 1 | NULL

SELECT id, word FROM {table} ORDER BY id;
-- expect:
-- 1 | a
-- 2 | b

-- Files that the table has already are refused.
CALL {catalog}.system.add_files(table => '{namespace}.{name}',
  source_table => '`parquet`.`{directory}/ready`');
-- expect-error: IllegalStateException

-- The files were written without field ids: the table's default name mapping tells them.
ALTER TABLE {table} RENAME COLUMN word TO label;

UPDATE {table} SET label = 'B' WHERE id = 2;

SELECT id, label FROM {table} ORDER BY id;
-- expect:
-- 1 | a
-- 2 | B

-- Of a partitioned directory the files of one partition are taken.
CREATE TABLE {table2} (word STRING, id INT) USING iceberg PARTITIONED BY (id)
TBLPROPERTIES ('format-version' = '2');

INSERT OVERWRITE DIRECTORY '{directory}/parted/id=5' USING parquet SELECT 'five' AS word;

INSERT OVERWRITE DIRECTORY '{directory}/parted/id=6' USING parquet SELECT 'six' AS word;

CALL {catalog}.system.add_files(table => '{namespace}.{name2}',
  source_table => '`parquet`.`{directory}/parted`', partition_filter => map('id', '6'),
  check_duplicate_files => false, parallelism => 2);

SELECT id, word FROM {table2};
-- expect:
-- 6 | six
