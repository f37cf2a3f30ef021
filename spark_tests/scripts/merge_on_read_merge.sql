-- check: spark.merge-on-read-merge
-- title: MERGE with merge-on-read gives the rows that copy-on-write would
-- proves: client.spark.merge-on-read-merge

CREATE TABLE {table} (id INT, name STRING, country STRING) USING iceberg
PARTITIONED BY (country)
TBLPROPERTIES ('format-version' = '2', 'write.merge.mode' = 'merge-on-read');

INSERT INTO {table} VALUES (1, 'a', 'FR'), (2, 'b', 'FR'), (3, 'c', 'DE');

MERGE INTO {table} t
USING (SELECT * FROM VALUES (2, 'B', 'DE'), (3, NULL, NULL), (4, 'd', 'FR') AS v (id, name, country)) s
ON t.id = s.id
WHEN MATCHED AND s.name IS NULL THEN DELETE
WHEN MATCHED THEN UPDATE SET *
WHEN NOT MATCHED THEN INSERT *;

SELECT id, name, country FROM {table} ORDER BY id;
-- expect:
-- 1 | a | FR
-- 2 | B | DE
-- 4 | d | FR

SELECT sum(record_count) FROM {table}.delete_files;
-- expect:
-- 2

CALL {catalog}.system.rewrite_data_files(table => '{namespace}.{name}',
  options => map('rewrite-all', 'true'));

SELECT id, name, country FROM {table} ORDER BY id;
-- expect:
-- 1 | a | FR
-- 2 | B | DE
-- 4 | d | FR
