-- check: spark.cherrypick
-- title: CALL cherrypick_snapshot applies a staged snapshot to a table that has gone on
-- proves: client.spark.cherrypick
-- needs: snapshot-history

CREATE TABLE {table} (id INT) USING iceberg TBLPROPERTIES ('write.wap.enabled' = 'true');

INSERT INTO {table} VALUES (1);

SET spark.wap.id = audit;

INSERT INTO {table} VALUES (2);

SET spark.wap.id = other;

INSERT INTO {table} VALUES (3);

RESET spark.wap.id;

SELECT snapshot_id FROM {table}.snapshots WHERE summary['wap.id'] = 'audit';
-- save: staged

SELECT snapshot_id FROM {table}.snapshots WHERE summary['wap.id'] = 'other';
-- save: staged_later

INSERT INTO {table} VALUES (4);

CALL {catalog}.system.cherrypick_snapshot('{namespace}.{name}', {staged});

SELECT id FROM {table} ORDER BY id;
-- expect:
-- 1
-- 2
-- 4

CALL {catalog}.system.cherrypick_snapshot(snapshot_id => {staged_later}, table => '{namespace}.{name}');

SELECT id FROM {table} ORDER BY id;
-- expect:
-- 1
-- 2
-- 3
-- 4

-- A change is applied once.
CALL {catalog}.system.cherrypick_snapshot('{namespace}.{name}', {staged});
-- expect-error: DuplicateWAPCommitException

SELECT count(*), count_if(is_current_ancestor) FROM {table}.history;
-- expect:
-- 4 | 4
