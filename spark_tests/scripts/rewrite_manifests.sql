-- check: spark.rewrite-manifests
-- title: CALL rewrite_manifests makes one manifest of three and changes no file
-- proves: client.spark.rewrite-manifests

CREATE TABLE {table} (id INT) USING iceberg;

INSERT INTO {table} VALUES (1);

INSERT INTO {table} VALUES (2);

INSERT INTO {table} VALUES (3);

SELECT count(*) FROM {table}.manifests;
-- expect:
-- 3

CALL {catalog}.system.rewrite_manifests('{namespace}.{name}');
-- expect:
-- 3 | 1

SELECT existing_data_files_count, added_data_files_count FROM {table}.manifests;
-- expect:
-- 3 | 0

SELECT operation FROM {table}.snapshots ORDER BY committed_at DESC LIMIT 1;
-- expect:
-- replace

INSERT INTO {table} VALUES (4);

SELECT id FROM {table} ORDER BY id;
-- expect:
-- 1
-- 2
-- 3
-- 4
