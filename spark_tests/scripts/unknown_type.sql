-- check: spark.unknown-type
-- title: A column of no known type reads NULL
-- proves: client.spark.unknown-type
-- engine: spark >= 4.0, iceberg >= 1.10

CREATE TABLE {table} (id INT, nothing VOID) USING iceberg TBLPROPERTIES ('format-version' = '3');
-- may-refuse: the catalog keeps no tables of format version 3 or no columns of unknown type

INSERT INTO {table} VALUES (1, NULL);

SELECT * FROM {table};
-- expect:
-- 1 | NULL

ALTER TABLE {table} ADD COLUMN word STRING;

INSERT INTO {table} VALUES (2, NULL, 'b');

SELECT id, nothing, word FROM {table} ORDER BY id;
-- expect:
-- 1 | NULL | NULL
-- 2 | NULL | b
