-- check: spark.partition-transforms
-- title: Hidden partitioning by bucket, truncate, year, month, day and hour
-- proves: client.spark.partition-transforms

CREATE TABLE {table} (id BIGINT, name STRING, at TIMESTAMP) USING iceberg
PARTITIONED BY (bucket(16, id), truncate(3, name), day(at));

INSERT INTO {table} VALUES
  (34, 'iceberg', TIMESTAMP '2024-03-01 23:59:59'), (34, 'ice', TIMESTAMP '1969-12-31 23:00:00');

-- The hash of 34 is 2017239379, which leaves 3 when divided by 16.
SELECT partition.id_bucket, partition.name_trunc, partition.at_day, record_count
FROM {table}.partitions ORDER BY partition.at_day;
-- expect:
-- 3 | ice | 1969-12-31 | 1
-- 3 | ice | 2024-03-01 | 1

SELECT name FROM {table} WHERE id = 34 AND at >= TIMESTAMP '2024-03-01 00:00:00';
-- expect:
-- iceberg

CREATE TABLE {table2} (y TIMESTAMP, m TIMESTAMP, h TIMESTAMP, word STRING) USING iceberg
PARTITIONED BY (years(y), month(m), hour(h), bucket(16, word));

INSERT INTO {table2} VALUES
  (TIMESTAMP '2024-03-01 05:30:00', TIMESTAMP '2024-03-01 05:30:00',
   TIMESTAMP '2024-03-01 05:30:00', 'iceberg');

-- Since 1970: 54 years, 54 * 12 + 2 months, 19783 * 24 + 5 hours. The hash of the word is
-- 1210000089, which leaves 9 when divided by 16.
SELECT partition.y_year, partition.m_month, partition.h_hour, partition.word_bucket
FROM {table2}.partitions;
-- expect:
-- 54 | 650 | 474797 | 9

SELECT word FROM {table2} WHERE h < TIMESTAMP '2024-03-01 05:00:00';
-- expect: no rows
