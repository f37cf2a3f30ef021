-- check: spark.create-or-replace
-- title: CREATE OR REPLACE creates a table, then empties it under another schema
-- proves: client.spark.create-or-replace

CREATE OR REPLACE TABLE {table} (id INT, word STRING) USING iceberg
TBLPROPERTIES ('first' = '1');

INSERT INTO {table} VALUES (1, 'old');

SELECT snapshot_id FROM {table}.refs WHERE name = 'main';
-- save: before

CREATE OR REPLACE TABLE {table} (id INT, amount DOUBLE) USING iceberg PARTITIONED BY (id)
TBLPROPERTIES ('second' = '2');

SELECT * FROM {table};
-- expect: no rows

INSERT INTO {table} VALUES (2, 0.5);

SELECT id, amount FROM {table};
-- expect:
-- 2 | 0.5

SELECT * FROM {table} VERSION AS OF {before};
-- expect:
-- 1 | old

SHOW TBLPROPERTIES {table} ('second');
-- expect:
-- second | 2
