-- check: spark.expire-metadata
-- title: CALL expire_snapshots removes schemas and specs that no snapshot needs
-- proves: client.spark.expire-metadata
-- needs: snapshot-history

CREATE TABLE {table} (id INT, word STRING) USING iceberg PARTITIONED BY (word);

INSERT INTO {table} VALUES (1, 'a');

ALTER TABLE {table} DROP PARTITION FIELD word;

ALTER TABLE {table} ADD COLUMN note STRING;

INSERT OVERWRITE {table} VALUES (2, 'b', 'c');

CALL {catalog}.system.expire_snapshots(table => '{namespace}.{name}',
  older_than => TIMESTAMP '2100-01-01 00:00:00', clean_expired_metadata => true);
-- may-refuse: the catalog removes no schemas and no partition specs

SELECT count(*) FROM {table}.snapshots;
-- expect:
-- 1

SELECT id, word, note FROM {table};
-- expect:
-- 2 | b | c

-- Columns that come later get ids of their own.
ALTER TABLE {table} ADD COLUMN more INT;

INSERT INTO {table} VALUES (3, 'c', 'd', 4);

SELECT id, note, more FROM {table} ORDER BY id;
-- expect:
-- 2 | c | NULL
-- 3 | d | 4
