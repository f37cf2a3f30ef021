-- check: spark.sorted-rewrite
-- title: CALL rewrite_data_files sorts rows, along one curve too, and takes a filter
-- proves: client.spark.sorted-rewrite

CREATE TABLE {table} (id INT, name STRING, country STRING) USING iceberg PARTITIONED BY (country);

INSERT INTO {table} VALUES (2, 'b', 'FR'), (9, 'z', 'DE');

INSERT INTO {table} VALUES (3, NULL, 'FR'), (8, 'y', 'DE');

INSERT INTO {table} VALUES (1, 'a', 'FR');

-- Too few files for the default rewrite: nothing is committed.
CALL {catalog}.system.rewrite_data_files('{namespace}.{name}');

SELECT count(*) FROM {table}.snapshots;
-- expect:
-- 3

CALL {catalog}.system.rewrite_data_files(table => '{namespace}.{name}', strategy => 'sort',
  sort_order => 'id DESC NULLS LAST,name ASC NULLS FIRST',
  where => 'country = "FR"', options => map('min-input-files', '2'));

SELECT partition.country, record_count FROM {table}.files ORDER BY 1, 2;
-- expect:
-- DE | 1
-- DE | 1
-- FR | 3

SELECT id, name FROM {table} WHERE country = 'FR' ORDER BY _pos;
-- expect:
-- 3 | NULL
-- 2 | b
-- 1 | a

CALL {catalog}.system.rewrite_data_files(table => '{namespace}.{name}', strategy => 'sort',
  sort_order => 'zorder(id,name)', options => map('rewrite-all', 'true'));

SELECT partition.country, record_count FROM {table}.files ORDER BY 1;
-- expect:
-- DE | 2
-- FR | 3

SELECT id, name, country FROM {table} ORDER BY id;
-- expect:
-- 1 | a | FR
-- 2 | b | FR
-- 3 | NULL | FR
-- 8 | y | DE
-- 9 | z | DE

SELECT operation FROM {table}.snapshots ORDER BY committed_at;
-- expect:
-- append
-- append
-- append
-- replace
-- replace
