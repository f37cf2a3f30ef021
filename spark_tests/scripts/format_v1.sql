-- check: spark.format-v1
-- title: A table of format version 1 is written, rewritten and upgraded to version 2
-- proves: client.spark.format-v1

CREATE TABLE {table} (id INT, country STRING) USING iceberg PARTITIONED BY (country)
TBLPROPERTIES ('format-version' = '1');
-- may-refuse: the catalog keeps no tables of format version 1

INSERT INTO {table} VALUES (1, 'FR'), (2, 'DE'), (3, 'FR');

UPDATE {table} SET id = 30 WHERE id = 3;

ALTER TABLE {table} DROP PARTITION FIELD country;

INSERT INTO {table} VALUES (4, 'IT');

SELECT id, country FROM {table} ORDER BY id;
-- expect:
-- 1 | FR
-- 2 | DE
-- 4 | IT
-- 30 | FR

SHOW TBLPROPERTIES {table} ('format-version');
-- expect:
-- format-version | 1

ALTER TABLE {table} SET TBLPROPERTIES
  ('format-version' = '2', 'write.delete.mode' = 'merge-on-read');

SHOW TBLPROPERTIES {table} ('format-version');
-- expect:
-- format-version | 2

DELETE FROM {table} WHERE id = 1;

SELECT id FROM {table} ORDER BY id;
-- expect:
-- 2
-- 4
-- 30
