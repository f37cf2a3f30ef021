-- check: spark.rewrite-manifests-by
-- title: CALL rewrite_manifests takes a partition spec and leaves the manifests of others
-- proves: client.spark.rewrite-manifests-by

CREATE TABLE {table} (id INT, country STRING) USING iceberg PARTITIONED BY (country);

INSERT INTO {table} VALUES (1, 'FR');

INSERT INTO {table} VALUES (2, 'DE');

ALTER TABLE {table} ADD PARTITION FIELD bucket(4, id) AS shard;

INSERT INTO {table} VALUES (3, 'FR');

INSERT INTO {table} VALUES (4, 'DE');

SELECT partition_spec_id, count(*) FROM {table}.manifests GROUP BY 1 ORDER BY 1;
-- expect:
-- 0 | 1
-- 1 | 2

CALL {catalog}.system.rewrite_manifests(table => '{namespace}.{name}', spec_id => 1,
  use_caching => true);
-- expect:
-- 2 | 1

SELECT partition_spec_id, count(*) FROM {table}.manifests GROUP BY 1 ORDER BY 1;
-- expect:
-- 0 | 1
-- 1 | 1

SELECT id FROM {table} WHERE country = 'DE' ORDER BY id;
-- expect:
-- 2
-- 4
