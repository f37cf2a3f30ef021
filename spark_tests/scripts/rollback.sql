-- check: spark.rollback
-- title: CALL rollback_to_snapshot and set_current_snapshot move the table back and forth
-- proves: client.spark.rollback
-- needs: snapshot-history

CREATE TABLE {table} (id INT) USING iceberg;

INSERT INTO {table} VALUES (1);

SELECT snapshot_id FROM {table}.refs WHERE name = 'main';
-- save: first

INSERT INTO {table} VALUES (2);

SELECT snapshot_id FROM {table}.refs WHERE name = 'main';
-- save: second

CALL {catalog}.system.rollback_to_snapshot('{namespace}.{name}', {first});
-- expect:
-- {second} | {first}

SELECT id FROM {table};
-- expect:
-- 1

CALL {catalog}.system.set_current_snapshot('{namespace}.{name}', {second});
-- expect:
-- {first} | {second}

SELECT id FROM {table} ORDER BY id;
-- expect:
-- 1
-- 2

CALL {catalog}.system.rollback_to_snapshot('{namespace}.{name}', {first});

-- History goes on from where the table was rolled back to.
INSERT INTO {table} VALUES (3);

SELECT id FROM {table} ORDER BY id;
-- expect:
-- 1
-- 3

SELECT unix_millis(a.committed_at), unix_millis(b.committed_at)
FROM {table}.snapshots a, {table}.snapshots b
WHERE a.snapshot_id = {first} AND b.snapshot_id = {second};
-- save: first_ms, second_ms

CALL {catalog}.system.ancestors_of('{namespace}.{name}', {second});
-- expect:
-- {second} | {second_ms}
-- {first} | {first_ms}

CALL {catalog}.system.ancestors_of(snapshot_id => {first}, table => '{namespace}.{name}');
-- expect:
-- {first} | {first_ms}

SELECT snapshot_id = {second} AND NOT is_current_ancestor FROM {table}.history
WHERE snapshot_id = {second} AND parent_id = {first} LIMIT 1;
-- expect:
-- true
