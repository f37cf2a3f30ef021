-- check: spark.time-travel-timestamp
-- title: A table is read as it was at a moment
-- proves: client.spark.time-travel-timestamp
-- needs: snapshot-history

CREATE TABLE {table} (id INT) USING iceberg;

INSERT INTO {table} VALUES (1);

INSERT INTO {table} VALUES (2);

SELECT min(committed_at), max(committed_at) FROM {table}.snapshots;
-- save: earlier, later

SELECT id FROM {table} TIMESTAMP AS OF '{earlier}' ORDER BY id;
-- expect:
-- 1

SELECT id FROM {table} TIMESTAMP AS OF '{later}' ORDER BY id;
-- expect:
-- 1
-- 2

SELECT id FROM {table} FOR SYSTEM_TIME AS OF '{earlier}';
-- expect:
-- 1

-- A number counts seconds: 2100 is after all that was written.
SELECT id FROM {table} TIMESTAMP AS OF 4102444800 ORDER BY id;
-- expect:
-- 1
-- 2

SELECT id FROM {table} FOR SYSTEM_TIME AS OF 978307200;
-- expect-error: IllegalArgumentException

-- Nothing was there before the first commit.
SELECT id FROM {table} TIMESTAMP AS OF '2001-01-01 00:00:00';
-- expect-error: IllegalArgumentException
