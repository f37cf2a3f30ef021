-- check: spark.rewrite-manifests-sorted
-- title: CALL rewrite_manifests clusters manifests by a partition field
-- proves: client.spark.rewrite-manifests-sorted
-- engine: spark >= 4.1, iceberg >= 1.11

CREATE TABLE {table} (id INT, country STRING) USING iceberg PARTITIONED BY (country, bucket(2, id));

INSERT INTO {table} VALUES (1, 'FR'), (2, 'DE');

INSERT INTO {table} VALUES (3, 'FR'), (4, 'DE');

CALL {catalog}.system.rewrite_manifests(table => '{namespace}.{name}', sort_by => array('country'));

SELECT sum(existing_data_files_count), sum(added_data_files_count) FROM {table}.manifests;
-- expect:
-- 4 | 0

SELECT id FROM {table} WHERE country = 'DE' ORDER BY id;
-- expect:
-- 2
-- 4
