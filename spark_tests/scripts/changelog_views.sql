-- check: spark.changelog-views
-- title: Changes are read as net changes, and as pairs of images of a row
-- proves: client.spark.changelog-views
-- needs: snapshot-history

CREATE TABLE {table} (id INT, name STRING) USING iceberg;

INSERT INTO {table} VALUES (1, 'Alice'), (2, 'Bob'), (3, 'Robert');

SELECT snapshot_id, unix_millis(committed_at) FROM {table}.snapshots;
-- save: start, start_ms

DELETE FROM {table} WHERE id = 1;

UPDATE {table} SET name = 'Dan' WHERE id = 3;

INSERT INTO {table} VALUES (4, 'Eve');

SELECT snapshot_id, unix_millis(committed_at) FROM {table}.snapshots
ORDER BY committed_at DESC LIMIT 1;
-- save: last, last_ms

DELETE FROM {table} WHERE id = 4;

-- All that happened, with rows that stayed in a rewritten file left out.
CALL {catalog}.system.create_changelog_view(table => '{namespace}.{name}',
  options => map('start-snapshot-id', '{start}', 'end-snapshot-id', '{last}'),
  changelog_view => 'between_ids');

SELECT id, name, _change_type, _change_ordinal FROM between_ids
ORDER BY _change_ordinal, id, _change_type;
-- expect:
-- 1 | Alice | DELETE | 0
-- 3 | Robert | DELETE | 1
-- 3 | Dan | INSERT | 1
-- 4 | Eve | INSERT | 2

SELECT count(*) FROM between_ids WHERE _commit_snapshot_id = {last};
-- expect:
-- 1

CALL {catalog}.system.create_changelog_view(table => '{namespace}.{name}',
  options => map('start-timestamp', '{start_ms}', 'end-timestamp', '{last_ms}'),
  changelog_view => 'between_times');

SELECT count(*) FROM between_times;
-- expect:
-- 4

CALL {catalog}.system.create_changelog_view(table => '{namespace}.{name}',
  options => map('start-snapshot-id', '{start}', 'end-snapshot-id', '{last}'),
  changelog_view => 'images', identifier_columns => array('id'));

SELECT id, name, _change_type FROM images ORDER BY _change_ordinal, id, _change_type DESC;
-- expect:
-- 1 | Alice | DELETE
-- 3 | Robert | UPDATE_BEFORE
-- 3 | Dan | UPDATE_AFTER
-- 4 | Eve | INSERT

-- From the first snapshot on: Alice and Eve came and went.
CALL {catalog}.system.create_changelog_view(table => '{namespace}.{name}', net_changes => true,
  changelog_view => 'net');

SELECT id, name, _change_type FROM net ORDER BY id;
-- expect:
-- 2 | Bob | INSERT
-- 3 | Dan | INSERT
