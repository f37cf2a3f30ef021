-- check: spark.partition-evolution
-- title: Partitioning changes four times, and rows of every layout are read together
-- proves: client.spark.partition-evolution

CREATE TABLE {table} (id INT, country STRING, at TIMESTAMP) USING iceberg;

INSERT INTO {table} VALUES (1, 'FR', TIMESTAMP '2024-01-01 10:00:00');

ALTER TABLE {table} ADD PARTITION FIELD country;

INSERT INTO {table} VALUES (2, 'DE', TIMESTAMP '2024-01-02 10:00:00');

ALTER TABLE {table} ADD PARTITION FIELD days(at) AS on_day;

INSERT INTO {table} VALUES (3, 'FR', TIMESTAMP '2024-01-03 10:00:00');

ALTER TABLE {table} REPLACE PARTITION FIELD on_day WITH months(at) AS in_month;

ALTER TABLE {table} DROP PARTITION FIELD country;

INSERT INTO {table} VALUES (4, 'FR', TIMESTAMP '2024-02-03 10:00:00');

SELECT id FROM {table} WHERE country = 'FR' ORDER BY id;
-- expect:
-- 1
-- 3
-- 4

SELECT id FROM {table} WHERE at >= TIMESTAMP '2024-01-02 00:00:00'
AND at < TIMESTAMP '2024-02-01 00:00:00' ORDER BY id;
-- expect:
-- 2
-- 3

-- Four files, each under the layout of its time.
SELECT count(DISTINCT spec_id), sum(record_count) FROM {table}.files;
-- expect:
-- 4 | 4

-- Months since 1970: 54 * 12 + 1.
SELECT record_count FROM {table}.partitions WHERE partition.in_month = 649;
-- expect:
-- 1

-- Fields are named after their transforms, and dropped by these.
ALTER TABLE {table} ADD PARTITION FIELD bucket(16, id);

ALTER TABLE {table} ADD PARTITION FIELD truncate(2, country);

ALTER TABLE {table} ADD PARTITION FIELD year(at);

ALTER TABLE {table} ADD PARTITION FIELD bucket(4, country) AS shard;

INSERT INTO {table} VALUES (34, 'iceberg', TIMESTAMP '2025-03-01 00:00:00');

SELECT partition.id_bucket_16, partition.country_trunc_2, partition.at_year FROM {table}.files
WHERE partition.shard IS NOT NULL;
-- expect:
-- 3 | ic | 55

ALTER TABLE {table} DROP PARTITION FIELD bucket(16, id);

ALTER TABLE {table} DROP PARTITION FIELD truncate(2, country);

ALTER TABLE {table} DROP PARTITION FIELD year(at);

ALTER TABLE {table} DROP PARTITION FIELD shard;

ALTER TABLE {table} REPLACE PARTITION FIELD in_month WITH hour(at);

INSERT INTO {table} VALUES (6, 'DE', TIMESTAMP '2025-03-02 00:00:00');

-- Hours since 1970: 20149 * 24.
SELECT partition.at_hour FROM {table}.partitions WHERE partition.at_hour IS NOT NULL;
-- expect:
-- 483576

SELECT count(*), sum(id) FROM {table};
-- expect:
-- 6 | 50
