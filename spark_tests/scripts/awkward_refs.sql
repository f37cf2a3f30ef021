-- check: spark.awkward-refs
-- title: Branches and tags may have names of spaces, dots, slashes and letters of any script
-- proves: client.spark.awkward-refs

CREATE TABLE {table} (id INT) USING iceberg;

INSERT INTO {table} VALUES (1);

ALTER TABLE {table} CREATE BRANCH `Feature. a space`;
-- may-refuse: the catalog keeps no branches of such names

ALTER TABLE {table} CREATE BRANCH `topic/one`;
-- may-refuse: the catalog keeps no branches of such names

ALTER TABLE {table} CREATE TAG `v1.0 (世界)`;
-- may-refuse: the catalog keeps no tags of such names

INSERT INTO {table} VALUES (3);

SELECT id FROM {table} VERSION AS OF 'Feature. a space';
-- expect:
-- 1

-- A branch is moved by its name. To write into it, Spark would first ask for a table that is called
-- so, and a catalog may refuse to look for such tables.
CALL {catalog}.system.fast_forward(table => '{namespace}.{name}', branch => 'Feature. a space',
  to => 'main');

SELECT id FROM {table} VERSION AS OF 'Feature. a space' ORDER BY id;
-- expect:
-- 1
-- 3

SELECT id FROM {table} VERSION AS OF 'topic/one';
-- expect:
-- 1

SELECT id FROM {table} VERSION AS OF 'v1.0 (世界)';
-- expect:
-- 1

SELECT name, type FROM {table}.refs ORDER BY name;
-- expect:
-- Feature. a space | BRANCH
-- main | BRANCH
-- topic/one | BRANCH
-- v1.0 (世界) | TAG

SELECT id FROM {table} ORDER BY id;
-- expect:
-- 1
-- 3
