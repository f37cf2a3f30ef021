-- check: spark.functions
-- title: The catalog's functions give the values of partition transforms and filter by them
-- proves: client.spark.functions

CREATE TABLE {table} (id BIGINT, word STRING, price DECIMAL(6, 2), at TIMESTAMP) USING iceberg
PARTITIONED BY (bucket(16, id), day(at));

INSERT INTO {table} VALUES
  (34, 'iceberg', 14.27, TIMESTAMP '2024-03-01 05:30:00'),
  (-1, NULL, NULL, TIMESTAMP '1969-12-31 23:30:00');

-- The hash of 34 is 2017239379, which leaves 3 when divided by 16. Since 1970: 54 years,
-- 54 * 12 + 2 months, 19783 * 24 + 5 hours.
SELECT {catalog}.system.bucket(16, id), {catalog}.system.truncate(3, word),
  {catalog}.system.truncate(10, id), {catalog}.system.truncate(50, price)
FROM {table} ORDER BY id;
-- expect:
-- 8 | NULL | -10 | NULL
-- 3 | ice | 30 | 14.00

SELECT {catalog}.system.years(at), {catalog}.system.months(at), {catalog}.system.days(at),
  {catalog}.system.hours(at)
FROM {table} ORDER BY id;
-- expect:
-- -1 | -1 | 1969-12-31 | -1
-- 54 | 650 | 2024-03-01 | 474797

SELECT id FROM {table} WHERE {catalog}.system.days(at) = DATE '2024-03-01';
-- expect:
-- 34

SELECT id FROM {table} WHERE {catalog}.system.bucket(16, id) = 3;
-- expect:
-- 34

DELETE FROM {table} WHERE {catalog}.system.days(at) = DATE '1969-12-31';

SELECT id FROM {table};
-- expect:
-- 34

-- Without the catalog's name they are found in the current one.
USE {catalog}.{namespace};

SELECT system.iceberg_version() IS NOT NULL, system.bucket(16, id), system.hours(at) FROM {name};
-- expect:
-- true | 3 | 474797
