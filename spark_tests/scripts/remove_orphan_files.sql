-- check: spark.remove-orphan-files
-- title: CALL remove_orphan_files finds the one file that is not the table's, and removes it
-- proves: client.spark.remove-orphan-files
-- needs: snapshot-history

CREATE TABLE {table} (id INT) USING iceberg;

INSERT INTO {table} VALUES (1);

SELECT file_path, regexp_replace(file_path, '/[^/]*$', '') FROM {table}.files;
-- save: earliest, directory

INSERT INTO {table} VALUES (2);

-- Of the first snapshot's file the table knows by its history only.
DELETE FROM {table} WHERE id = 1;

INSERT INTO {table} VALUES (3);

INSERT OVERWRITE DIRECTORY '{directory}/strange' USING parquet SELECT 3 AS id;

-- In the form in which the table has its own: Spark gives a scheme to what has none.
SELECT concat('{directory}/strange/', regexp_replace(_metadata.file_path, '^.*/', ''))
FROM parquet.`{directory}/strange`;
-- save: strange

CREATE TEMPORARY VIEW listed AS
SELECT file_path, TIMESTAMP '2001-01-01 00:00:00' AS last_modified FROM {table}.files
UNION ALL SELECT '{earliest}', TIMESTAMP '2001-01-01 00:00:00'
UNION ALL SELECT '{strange}', TIMESTAMP '2001-01-01 00:00:00';

CALL {catalog}.system.remove_orphan_files(table => '{namespace}.{name}', dry_run => true,
  location => '{directory}', file_list_view => 'listed');
-- expect:
-- {strange}

SELECT id FROM parquet.`{directory}/strange`;
-- expect:
-- 3

CALL {catalog}.system.remove_orphan_files(table => '{namespace}.{name}',
  location => '{directory}', file_list_view => 'listed');
-- expect:
-- {strange}

REFRESH '{directory}/strange';

SELECT id FROM parquet.`{strange}`;
-- expect-error: AnalysisException

SELECT id FROM {table} ORDER BY id;
-- expect:
-- 2
-- 3

-- Files of the last three days are left alone. Nothing is removed here: a listing may show files of
-- others, if a catalog puts tables into one directory.
CALL {catalog}.system.remove_orphan_files(table => '{namespace}.{name}',
  dry_run => true, prefix_mismatch_mode => 'IGNORE', max_concurrent_deletes => 2);
-- expect: no rows

CALL {catalog}.system.remove_orphan_files(table => '{namespace}.{name}',
  dry_run => true, older_than => TIMESTAMP '2001-01-01 00:00:00', equal_schemes => map('file', 'file1'));
-- expect: no rows

SELECT id FROM {table} ORDER BY id;
-- expect:
-- 2
-- 3
