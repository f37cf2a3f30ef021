-- check: spark.all-types
-- title: Every type that Spark can write is read back as written
-- proves: client.spark.all-types

CREATE TABLE {table} (
  k INT,
  a_boolean BOOLEAN,
  an_int INT,
  a_long BIGINT,
  a_float FLOAT,
  a_double DOUBLE,
  a_decimal DECIMAL(20, 4),
  a_date DATE,
  a_timestamp TIMESTAMP,
  a_local_timestamp TIMESTAMP_NTZ,
  a_string STRING,
  a_varchar VARCHAR(8),
  a_binary BINARY,
  a_struct STRUCT<x: INT, y: STRING>,
  an_array ARRAY<INT>,
  a_map MAP<STRING, BIGINT>
) USING iceberg;

INSERT INTO {table} VALUES
  (1, true, -2147483648, 9223372036854775807, 1.5, -2.25, 1234567890.1234,
   DATE '2024-02-29', TIMESTAMP '2024-02-29 12:30:45.123456',
   TIMESTAMP_NTZ '1969-12-31 23:59:59.5', 'grüße; 世界', 'varchar', X'00FF10',
   named_struct('x', 1, 'y', 'one'), array(3, NULL, 1), map('k', 10)),
  (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);

SELECT a_boolean, an_int, a_long, a_float, a_double, a_decimal FROM {table} ORDER BY k;
-- expect:
-- true | -2147483648 | 9223372036854775807 | 1.5 | -2.25 | 1234567890.1234
-- NULL | NULL | NULL | NULL | NULL | NULL

SELECT a_date, a_timestamp, a_local_timestamp, a_string, a_varchar, hex(a_binary) FROM {table} ORDER BY k;
-- expect:
-- 2024-02-29 | 2024-02-29 12:30:45.123456 | 1969-12-31 23:59:59.5 | grüße; 世界 | varchar | 00FF10
-- NULL | NULL | NULL | NULL | NULL | NULL

SELECT a_struct, an_array, a_map, a_struct.y, an_array[2], a_map['k'] FROM {table} ORDER BY k;
-- expect:
-- {1, one} | [3, null, 1] | {k -> 10} | one | 1 | 10
-- NULL | NULL | NULL | NULL | NULL | NULL

-- A filter on each kind of value, which Iceberg evaluates on metrics and rows.
SELECT k FROM {table} WHERE a_long = 9223372036854775807 AND a_double < 0
  AND a_decimal > 1234567890 AND a_date >= DATE '2024-02-29'
  AND a_timestamp > TIMESTAMP '2024-02-29 12:30:45.123455' AND a_string LIKE 'grü%';
-- expect:
-- 1

SELECT k FROM {table} WHERE a_boolean IS NULL AND a_struct IS NULL;
-- expect:
-- 2
