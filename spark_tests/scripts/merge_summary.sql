-- check: spark.merge-summary
-- title: The summary of a MERGE counts the rows that each clause changed
-- proves: client.spark.merge-summary
-- engine: spark >= 4.1, iceberg >= 1.11

CREATE TABLE {table} (id INT, word STRING) USING iceberg;

INSERT INTO {table} VALUES (1, 'a'), (2, 'b'), (3, 'c');

MERGE INTO {table} t USING (SELECT 2 AS id, 'B' AS word UNION ALL SELECT 4, 'd') s ON t.id = s.id
WHEN MATCHED THEN UPDATE SET *
WHEN NOT MATCHED THEN INSERT *
WHEN NOT MATCHED BY SOURCE AND t.id = 3 THEN DELETE;

SELECT summary['spark.merge-into.num-target-rows-updated'],
  summary['spark.merge-into.num-target-rows-inserted'],
  summary['spark.merge-into.num-target-rows-deleted']
FROM {table}.snapshots ORDER BY committed_at DESC LIMIT 1;
-- expect:
-- 1 | 1 | 1
