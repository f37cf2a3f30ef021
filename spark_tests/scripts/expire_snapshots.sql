-- check: spark.expire-snapshots
-- title: CALL expire_snapshots removes old snapshots and no rows
-- proves: client.spark.expire-snapshots
-- needs: snapshot-history

CREATE TABLE {table} (id INT) USING iceberg;

INSERT INTO {table} VALUES (1);

SELECT snapshot_id FROM {table}.refs WHERE name = 'main';
-- save: first

INSERT INTO {table} VALUES (2);

INSERT INTO {table} VALUES (3);

CALL {catalog}.system.expire_snapshots(table => '{namespace}.{name}',
  older_than => TIMESTAMP '2100-01-01 00:00:00', retain_last => 1);

SELECT count(*) FROM {table}.snapshots;
-- expect:
-- 1

SELECT id FROM {table} ORDER BY id;
-- expect:
-- 1
-- 2
-- 3

SELECT id FROM {table} VERSION AS OF {first};
-- expect-error: IllegalArgumentException
