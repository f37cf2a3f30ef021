-- check: spark.expire-forms
-- title: CALL expire_snapshots takes named snapshots, keeps the last ones and those with a name
-- proves: client.spark.expire-forms
-- needs: snapshot-history

CREATE TABLE {table} (id INT) USING iceberg;

INSERT INTO {table} VALUES (1);

SELECT snapshot_id FROM {table}.refs WHERE name = 'main';
-- save: first

INSERT INTO {table} VALUES (2);

SELECT snapshot_id FROM {table}.refs WHERE name = 'main';
-- save: second

INSERT INTO {table} VALUES (3);

SELECT snapshot_id FROM {table}.refs WHERE name = 'main';
-- save: third

INSERT INTO {table} VALUES (4);

SELECT snapshot_id FROM {table}.refs WHERE name = 'main';
-- save: fourth

ALTER TABLE {table} CREATE TAG kept AS OF VERSION {first};
-- may-refuse: the catalog keeps no tags

CALL {catalog}.system.expire_snapshots(table => '{namespace}.{name}', snapshot_ids => array({second}));

SELECT snapshot_id FROM {table}.snapshots ORDER BY committed_at;
-- expect:
-- {first}
-- {third}
-- {fourth}

-- Older than that moment are all; two are kept, and the one that has a tag.
CALL {catalog}.system.expire_snapshots('{namespace}.{name}', TIMESTAMP '2100-01-01 00:00:00.000', 2);

SELECT snapshot_id FROM {table}.snapshots ORDER BY committed_at;
-- expect:
-- {first}
-- {third}
-- {fourth}

CALL {catalog}.system.expire_snapshots(table => '{namespace}.{name}',
  older_than => TIMESTAMP '2100-01-01 00:00:00', retain_last => 1, max_concurrent_deletes => 2,
  stream_results => true);

SELECT snapshot_id FROM {table}.snapshots ORDER BY committed_at;
-- expect:
-- {first}
-- {fourth}

SELECT id FROM {table} VERSION AS OF 'kept';
-- expect:
-- 1

-- Nothing is older than the five days that are the default.
CALL {catalog}.system.expire_snapshots('{namespace}.{name}');

SELECT id FROM {table} ORDER BY id;
-- expect:
-- 1
-- 2
-- 3
-- 4
