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

ALTER TABLE {table} REPLACE TAG here;

SELECT id FROM {table} VERSION AS OF 'here' ORDER BY id;
-- expect:
-- 1
-- 2

ALTER TABLE {table} DROP TAG here;

SELECT name FROM {table}.refs WHERE type = 'TAG';
-- expect:
-- there
