-- check: spark.metadata-tables
-- title: Snapshots, history, refs, files, manifests and entries are read as tables
-- proves: client.spark.metadata-tables

CREATE TABLE {table} (id INT, name STRING) USING iceberg;

INSERT INTO {table} VALUES (1, 'a'), (2, 'b');

INSERT INTO {table} VALUES (3, 'c');

DELETE FROM {table} WHERE id = 3;

SELECT operation, parent_id IS NULL, summary['total-records'] FROM {table}.snapshots
ORDER BY committed_at;
-- expect:
-- append | true | 2
-- append | false | 3
-- delete | false | 2

SELECT count(*), count_if(is_current_ancestor) FROM {table}.history;
-- expect:
-- 3 | 3

SELECT name, type FROM {table}.refs;
-- expect:
-- main | BRANCH

SELECT content, file_format, record_count FROM {table}.files;
-- expect:
-- 0 | PARQUET | 2

-- The manifest of the first commit is still as it was written; that of the second was rewritten.
SELECT sum(added_data_files_count), sum(deleted_data_files_count) FROM {table}.manifests;
-- expect:
-- 1 | 1

-- 1 is added, 2 is deleted.
SELECT status, data_file.record_count FROM {table}.entries;
-- expect:
-- 1 | 2
-- 2 | 1

SELECT _file IS NOT NULL, _pos FROM {table} ORDER BY id;
-- expect:
-- true | 0
-- true | 1

-- The last metadata file in the log is the one that holds the current snapshot.
SELECT latest_snapshot_id = (SELECT snapshot_id FROM {table}.refs WHERE name = 'main')
FROM {table}.metadata_log_entries ORDER BY timestamp DESC, latest_sequence_number DESC LIMIT 1;
-- expect:
-- true

-- Of the files and manifests that every snapshot ever had, only some are current.
SELECT count(DISTINCT file_path) FROM {table}.data_files;
-- expect:
-- 1

SELECT count(DISTINCT file_path) FROM {table}.all_data_files;
-- expect:
-- 2

SELECT count(DISTINCT file_path) FROM {table}.all_files;
-- expect:
-- 2

SELECT count(DISTINCT path) FROM {table}.all_manifests;
-- expect:
-- 3

SELECT count(DISTINCT snapshot_id) FROM {table}.all_entries;
-- expect:
-- 3

SELECT record_count, file_count FROM {table}.partitions;
-- expect:
-- 2 | 1

SELECT file_path FROM {table}.delete_files;
-- expect: no rows

SELECT file_path FROM {table}.all_delete_files;
-- expect: no rows

SELECT pos FROM {table}.position_deletes;
-- expect: no rows
