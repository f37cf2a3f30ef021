-- check: spark.awkward-refs
-- title: Branches and tags may have names of spaces, dots, slashes and letters of any script
-- proves: client.spark.awkward-refs

CREATE TABLE {table} (id INT) USING iceberg;

INSERT INTO {table} VALUES (1);

ALTER TABLE {table} CREATE BRANCH `feature/a space`;
-- may-refuse: the catalog keeps no branches of such names

ALTER TABLE {table} CREATE TAG `v1.0 (世界)`;
-- may-refuse: the catalog keeps no tags of such names

ALTER TABLE {table} CREATE TAG `Main`;
-- may-refuse: the catalog keeps no tag that differs from a branch in case only

INSERT INTO {table}.`branch_feature/a space` VALUES (2);

SELECT id FROM {table} VERSION AS OF 'feature/a space' ORDER BY id;
-- expect:
-- 1
-- 2

INSERT INTO {table} VALUES (3);

SELECT id FROM {table} VERSION AS OF 'v1.0 (世界)';
-- expect:
-- 1

SELECT id FROM {table} VERSION AS OF 'Main';
-- expect:
-- 1

SELECT name, type FROM {table}.refs ORDER BY name;
-- expect:
-- Main | TAG
-- feature/a space | BRANCH
-- main | BRANCH
-- v1.0 (世界) | TAG

SELECT id FROM {table} ORDER BY id;
-- expect:
-- 1
-- 3
