-- check: spark.metadata-tables-of-then
-- title: Metadata tables are read as of an earlier snapshot, moment or tag
-- proves: client.spark.metadata-tables-of-then
-- needs: snapshot-history

CREATE TABLE {table} (id INT, country STRING) USING iceberg PARTITIONED BY (country);

INSERT INTO {table} VALUES (1, 'FR');

SELECT snapshot_id, committed_at FROM {table}.snapshots;
-- save: first, moment

INSERT INTO {table} VALUES (2, 'DE');

DELETE FROM {table} WHERE country = 'FR';

SELECT partition.country, record_count FROM {table}.partitions;
-- expect:
-- DE | 1

SELECT partition.country, record_count FROM {table}.partitions VERSION AS OF {first};
-- expect:
-- FR | 1

SELECT added_snapshot_id, added_data_files_count FROM {table}.manifests TIMESTAMP AS OF '{moment}';
-- expect:
-- {first} | 1

SELECT partition.country FROM {table}.files FOR SYSTEM_VERSION AS OF {first};
-- expect:
-- FR

SELECT status, snapshot_id FROM {table}.entries FOR SYSTEM_TIME AS OF '{moment}';
-- expect:
-- 1 | {first}

-- The history of a table is joined with what was written.
SELECT s.operation, h.is_current_ancestor FROM {table}.history h
JOIN {table}.snapshots s ON h.snapshot_id = s.snapshot_id ORDER BY h.made_current_at;
-- expect:
-- append | true
-- append | true
-- delete | true
