-- check: spark.set-ref-current
-- title: CALL set_current_snapshot takes the snapshot of a tag or branch
-- proves: client.spark.set-ref-current
-- needs: snapshot-history

CREATE TABLE {table} (id INT) USING iceberg;

INSERT INTO {table} VALUES (1);

ALTER TABLE {table} CREATE TAG s1;
-- may-refuse: the catalog keeps no tags

INSERT INTO {table} VALUES (2);

SELECT max_by(snapshot_id, committed_at), min_by(snapshot_id, committed_at) FROM {table}.snapshots;
-- save: last, first

CALL {catalog}.system.set_current_snapshot(table => '{namespace}.{name}', ref => 's1');
-- expect:
-- {last} | {first}

SELECT id FROM {table};
-- expect:
-- 1

CALL {catalog}.system.set_current_snapshot('{namespace}.{name}', {last});

CALL {catalog}.system.ancestors_of('{namespace}.{name}');

CALL {catalog}.system.fast_forward('{namespace}.{name}', 'main', 's1');
-- expect-error: IllegalArgumentException

SELECT id FROM {table} ORDER BY id;
-- expect:
-- 1
-- 2
