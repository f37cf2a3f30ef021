-- check: spark.rollback-to-timestamp
-- title: CALL rollback_to_timestamp goes back to what was current before a moment
-- proves: client.spark.rollback-to-timestamp
-- needs: snapshot-history

CREATE TABLE {table} (id INT) USING iceberg;

INSERT INTO {table} VALUES (1);

INSERT INTO {table} VALUES (2);

INSERT INTO {table} VALUES (3);

SELECT max(committed_at), max_by(snapshot_id, committed_at), max_by(parent_id, committed_at)
FROM {table}.snapshots;
-- save: moment, third, second

CALL {catalog}.system.rollback_to_timestamp('{namespace}.{name}', TIMESTAMP '{moment}');
-- expect:
-- {third} | {second}

SELECT id FROM {table} ORDER BY id;
-- expect:
-- 1
-- 2

-- What was rolled back can still be read, and is no ancestor any more.
SELECT id FROM {table} VERSION AS OF {third} ORDER BY id;
-- expect:
-- 1
-- 2
-- 3

SELECT is_current_ancestor FROM {table}.history WHERE snapshot_id = {third};
-- expect:
-- false

CALL {catalog}.system.rollback_to_timestamp(timestamp => TIMESTAMP '2001-01-01 00:00:00',
  table => '{namespace}.{name}');
-- expect-error: IllegalArgumentException

INSERT INTO {table} VALUES (4);

SELECT id FROM {table} ORDER BY id;
-- expect:
-- 1
-- 2
-- 4
