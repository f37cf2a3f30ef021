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
