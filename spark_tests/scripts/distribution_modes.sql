-- check: spark.distribution-modes
-- title: Rows are written under every distribution mode, and in every file format
-- proves: client.spark.distribution-modes

CREATE TABLE {table} (id INT, country STRING) USING iceberg PARTITIONED BY (country)
TBLPROPERTIES ('write.distribution-mode' = 'none', 'write.spark.fanout.enabled' = 'true');

INSERT INTO {table} VALUES (1, 'FR'), (2, 'DE'), (3, 'FR');

ALTER TABLE {table} SET TBLPROPERTIES
  ('write.distribution-mode' = 'range', 'write.format.default' = 'orc');

INSERT INTO {table} VALUES (4, 'DE'), (5, 'FR');

ALTER TABLE {table} SET TBLPROPERTIES
  ('write.distribution-mode' = 'hash', 'write.format.default' = 'avro');

INSERT INTO {table} VALUES (6, 'IT');

SELECT DISTINCT file_format FROM {table}.files ORDER BY file_format;
-- expect:
-- AVRO
-- ORC
-- PARQUET

SELECT id, country FROM {table} ORDER BY id;
-- expect:
-- 1 | FR
-- 2 | DE
-- 3 | FR
-- 4 | DE
-- 5 | FR
-- 6 | IT

SELECT sum(id) FROM {table} WHERE country = 'FR';
-- expect:
-- 9
