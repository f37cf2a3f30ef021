-- check: spark.write-audit-publish
-- title: A snapshot is staged without being current, and published later
-- proves: client.spark.write-audit-publish
-- needs: snapshot-history

CREATE TABLE {table} (id INT) USING iceberg TBLPROPERTIES ('write.wap.enabled' = 'true');

INSERT INTO {table} VALUES (1);

SET spark.wap.id = audit;

INSERT INTO {table} VALUES (2);

RESET spark.wap.id;

-- The staged snapshot is in the table, and no branch points at it.
SELECT id FROM {table};
-- expect:
-- 1

SELECT snapshot_id FROM {table}.snapshots WHERE summary['wap.id'] = 'audit';
-- save: staged

SELECT id FROM {table} VERSION AS OF {staged} ORDER BY id;
-- expect:
-- 1
-- 2

CALL {catalog}.system.publish_changes('{namespace}.{name}', 'audit');

SELECT id FROM {table} ORDER BY id;
-- expect:
-- 1
-- 2
