-- check: spark.branch
-- title: A branch is written apart from main, read, fast-forwarded to and dropped
-- proves: client.spark.branch

CREATE TABLE {table} (id INT) USING iceberg;

INSERT INTO {table} VALUES (1);

ALTER TABLE {table} CREATE BRANCH audit;
-- may-refuse: the catalog keeps no branches

INSERT INTO {table}.branch_audit VALUES (2);

SELECT id FROM {table} ORDER BY id;
-- expect:
-- 1

SELECT id FROM {table} VERSION AS OF 'audit' ORDER BY id;
-- expect:
-- 1
-- 2

SELECT id FROM {table}.branch_audit ORDER BY id;
-- expect:
-- 1
-- 2

SELECT name, type FROM {table}.refs ORDER BY name;
-- expect:
-- audit | BRANCH
-- main | BRANCH

CALL {catalog}.system.fast_forward('{namespace}.{name}', 'main', 'audit');

SELECT id FROM {table} ORDER BY id;
-- expect:
-- 1
-- 2

ALTER TABLE {table} DROP BRANCH audit;

SELECT name FROM {table}.refs;
-- expect:
-- main
