-- check: spark.changelog
-- title: The changes between two snapshots are read as rows
-- proves: client.spark.changelog
-- needs: snapshot-history

CREATE TABLE {table} (id INT, name STRING) USING iceberg;

INSERT INTO {table} VALUES (1, 'a'), (2, 'b');

SELECT snapshot_id FROM {table}.refs WHERE name = 'main';
-- save: start

INSERT INTO {table} VALUES (3, 'c');

DELETE FROM {table} WHERE id = 1;

-- The rows that stay in a file which is written again come as deleted and inserted.
SELECT id, _change_type, _change_ordinal FROM {table}.changes
ORDER BY _change_ordinal, id, _change_type;
-- expect:
-- 1 | INSERT | 0
-- 2 | INSERT | 0
-- 3 | INSERT | 1
-- 1 | DELETE | 2
-- 2 | DELETE | 2
-- 2 | INSERT | 2

CALL {catalog}.system.create_changelog_view(table => '{namespace}.{name}',
  options => map('start-snapshot-id', '{start}'), changelog_view => 'changes');

SELECT id, name, _change_type, _change_ordinal FROM changes ORDER BY _change_ordinal;
-- expect:
-- 3 | c | INSERT | 0
-- 1 | a | DELETE | 1
