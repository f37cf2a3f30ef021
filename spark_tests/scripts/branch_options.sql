-- check: spark.branch-options
-- title: Branches are created if absent or anew, at any snapshot and with their own retention
-- proves: client.spark.branch-options
-- needs: snapshot-history

CREATE TABLE {table} (id INT) USING iceberg;

INSERT INTO {table} VALUES (1);

SELECT snapshot_id FROM {table}.refs WHERE name = 'main';
-- save: first

INSERT INTO {table} VALUES (2);

ALTER TABLE {table} CREATE BRANCH `audit-branch` AS OF VERSION {first} RETAIN 30 DAYS
WITH SNAPSHOT RETENTION 3 SNAPSHOTS 2 DAYS;
-- may-refuse: the catalog keeps no branches

-- Days in milliseconds.
SELECT snapshot_id, max_reference_age_in_ms, min_snapshots_to_keep, max_snapshot_age_in_ms
FROM {table}.refs WHERE name = 'audit-branch';
-- expect:
-- {first} | 2592000000 | 3 | 172800000

-- The branch is there and stays as it is.
ALTER TABLE {table} CREATE BRANCH IF NOT EXISTS `audit-branch` RETAIN 1 HOURS;

ALTER TABLE {table} CREATE BRANCH `audit-branch`;
-- expect-error: IllegalArgumentException

SELECT snapshot_id, max_reference_age_in_ms FROM {table}.refs WHERE name = 'audit-branch';
-- expect:
-- {first} | 2592000000

ALTER TABLE {table} CREATE OR REPLACE BRANCH `audit-branch`;

SELECT id FROM {table} VERSION AS OF 'audit-branch' ORDER BY id;
-- expect:
-- 1
-- 2

ALTER TABLE {table} REPLACE BRANCH `audit-branch` AS OF VERSION {first} RETAIN 60 DAYS;

SELECT snapshot_id, max_reference_age_in_ms FROM {table}.refs WHERE name = 'audit-branch';
-- expect:
-- {first} | 5184000000

SELECT id FROM {table}.`branch_audit-branch`;
-- expect:
-- 1

ALTER TABLE {table} CREATE BRANCH IF NOT EXISTS later WITH SNAPSHOT RETENTION 5 SNAPSHOTS;

SELECT min_snapshots_to_keep, max_snapshot_age_in_ms FROM {table}.refs WHERE name = 'later';
-- expect:
-- 5 | NULL

ALTER TABLE {table} DROP BRANCH `audit-branch`;

ALTER TABLE {table} DROP BRANCH IF EXISTS `audit-branch`;

SELECT name FROM {table}.refs ORDER BY name;
-- expect:
-- later
-- main

-- A table without any snapshot gets an empty one for its branch.
CREATE TABLE {table2} (id INT) USING iceberg;

ALTER TABLE {table2} CREATE BRANCH early;

INSERT INTO {table2}.branch_early VALUES (1);

SELECT id FROM {table2}.branch_early;
-- expect:
-- 1

SELECT id FROM {table2};
-- expect: no rows
