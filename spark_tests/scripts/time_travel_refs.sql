-- check: spark.time-travel-refs
-- title: A branch is read with the columns of today, a tag with those of its snapshot
-- proves: client.spark.time-travel-refs
-- needs: snapshot-history

CREATE TABLE {table} (id INT, status STRING) USING iceberg;

INSERT INTO {table} VALUES (1, 'NEW'), (2, 'PAID');

SELECT snapshot_id FROM {table}.refs WHERE name = 'main';
-- save: first

ALTER TABLE {table} ADD COLUMN total DOUBLE;

INSERT INTO {table} VALUES (3, 'PAID', 0.5);

ALTER TABLE {table} CREATE BRANCH `audit-branch` AS OF VERSION {first};
-- may-refuse: the catalog keeps no branches

ALTER TABLE {table} CREATE TAG `first-load` AS OF VERSION {first};

SELECT * FROM {table} FOR SYSTEM_VERSION AS OF {first} ORDER BY id;
-- expect:
-- 1 | NEW
-- 2 | PAID

SELECT * FROM {table} VERSION AS OF 'first-load' ORDER BY id;
-- expect:
-- 1 | NEW
-- 2 | PAID

SELECT * FROM {table} FOR SYSTEM_VERSION AS OF 'first-load' ORDER BY id;
-- expect:
-- 1 | NEW
-- 2 | PAID

SELECT * FROM {table}.`tag_first-load` ORDER BY id;
-- expect:
-- 1 | NEW
-- 2 | PAID

SELECT * FROM {table} VERSION AS OF 'audit-branch' ORDER BY id;
-- expect:
-- 1 | NEW | NULL
-- 2 | PAID | NULL

SELECT * FROM {table} FOR SYSTEM_VERSION AS OF 'audit-branch' ORDER BY id;
-- expect:
-- 1 | NEW | NULL
-- 2 | PAID | NULL

SELECT * FROM {table}.`branch_audit-branch` ORDER BY id;
-- expect:
-- 1 | NEW | NULL
-- 2 | PAID | NULL

INSERT INTO {table}.`tag_first-load` VALUES (4, 'NEW');
-- expect-error: IllegalArgumentException

SELECT id FROM {table} ORDER BY id;
-- expect:
-- 1
-- 2
-- 3
