-- check: spark.insert-overwrite
-- title: INSERT OVERWRITE replaces the table, one partition, or the partitions written
-- proves: client.spark.insert-overwrite

CREATE TABLE {table} (id INT, country STRING) USING iceberg PARTITIONED BY (country);

INSERT INTO {table} VALUES (1, 'FR'), (2, 'DE'), (3, 'IT');

INSERT OVERWRITE {table} PARTITION (country = 'FR') SELECT 10;

SELECT id, country FROM {table} ORDER BY id;
-- expect:
-- 2 | DE
-- 3 | IT
-- 10 | FR

SET spark.sql.sources.partitionOverwriteMode = dynamic;

INSERT OVERWRITE {table} VALUES (20, 'DE'), (21, 'ES');

SELECT id, country FROM {table} ORDER BY id;
-- expect:
-- 3 | IT
-- 10 | FR
-- 20 | DE
-- 21 | ES

SET spark.sql.sources.partitionOverwriteMode = static;

INSERT OVERWRITE {table} VALUES (99, 'PT');

SELECT id, country FROM {table};
-- expect:
-- 99 | PT
