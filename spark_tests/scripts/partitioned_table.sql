-- check: spark.partitioned-table
-- title: A table partitioned by two columns is written, pruned and cut by partition
-- proves: client.spark.partitioned-table

CREATE TABLE {table} (id INT, country STRING, day DATE) USING iceberg
PARTITIONED BY (country, day);

INSERT INTO {table} VALUES
  (1, 'FR', DATE '2024-03-01'), (2, 'DE', DATE '2024-03-01'),
  (3, 'FR', DATE '2024-03-02'), (4, 'FR', DATE '2024-03-01'), (5, NULL, DATE '2024-03-02');

SELECT partition.country, partition.day, record_count FROM {table}.partitions
ORDER BY partition.country NULLS FIRST, partition.day;
-- expect:
-- NULL | 2024-03-02 | 1
-- DE | 2024-03-01 | 1
-- FR | 2024-03-01 | 2
-- FR | 2024-03-02 | 1

SELECT id FROM {table} WHERE country = 'FR' AND day = DATE '2024-03-01' ORDER BY id;
-- expect:
-- 1
-- 4

-- Whole partitions go without reading a row.
DELETE FROM {table} WHERE country = 'FR';

SELECT id, country FROM {table} ORDER BY id;
-- expect:
-- 2 | DE
-- 5 | NULL

SELECT operation FROM {table}.snapshots ORDER BY committed_at;
-- expect:
-- append
-- delete
