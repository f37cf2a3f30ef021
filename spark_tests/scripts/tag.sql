-- check: spark.tag
-- title: Tags name snapshots, are moved, expire by their own age, and are dropped
-- proves: client.spark.tag

CREATE TABLE {table} (id INT) USING iceberg;

INSERT INTO {table} VALUES (1);

SELECT snapshot_id FROM {table}.refs WHERE name = 'main';
-- save: first

ALTER TABLE {table} CREATE TAG here;
-- may-refuse: the catalog keeps no tags

INSERT INTO {table} VALUES (2);

ALTER TABLE {table} CREATE TAG there AS OF VERSION {first} RETAIN 7 DAYS;

SELECT id FROM {table} VERSION AS OF 'here' ORDER BY id;
-- expect:
-- 1

-- Seven days in milliseconds.
SELECT name, type, snapshot_id = {first}, max_reference_age_in_ms FROM {table}.refs ORDER BY name;
-- expect:
-- here | TAG | true | NULL
-- main | BRANCH | false | NULL
-- there | TAG | true | 604800000

SELECT id FROM {table}.tag_here;
-- expect:
-- 1

-- The tag is there and stays as it is.
ALTER TABLE {table} CREATE TAG IF NOT EXISTS here RETAIN 1 DAYS;

ALTER TABLE {table} CREATE TAG here;
-- expect-error: IllegalArgumentException

SELECT max_reference_age_in_ms FROM {table}.refs WHERE name = 'here';
-- expect:
-- NULL

ALTER TABLE {table} CREATE OR REPLACE TAG here;

SELECT id FROM {table} VERSION AS OF 'here' ORDER BY id;
-- expect:
-- 1
-- 2

ALTER TABLE {table} REPLACE TAG here AS OF VERSION {first} RETAIN 60 DAYS;

SELECT snapshot_id = {first}, max_reference_age_in_ms FROM {table}.refs WHERE name = 'here';
-- expect:
-- true | 5184000000

ALTER TABLE {table} REPLACE TAG here;

ALTER TABLE {table} DROP TAG here;

ALTER TABLE {table} DROP TAG IF EXISTS here;

SELECT name FROM {table}.refs WHERE type = 'TAG';
-- expect:
-- there
