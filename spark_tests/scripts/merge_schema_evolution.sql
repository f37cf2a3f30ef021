-- check: spark.merge-schema-evolution
-- title: MERGE WITH SCHEMA EVOLUTION adds the columns that only its source has
-- proves: client.spark.merge-schema-evolution
-- engine: spark >= 4.1, iceberg >= 1.11

CREATE TABLE {table} (id INT, word STRING) USING iceberg;

INSERT INTO {table} VALUES (1, 'a'), (2, 'b');

MERGE WITH SCHEMA EVOLUTION INTO {table} t
USING (SELECT 2 AS id, 'B' AS word, 0.5D AS score UNION ALL SELECT 3, 'c', 1.5D) s ON t.id = s.id
WHEN MATCHED THEN UPDATE SET *
WHEN NOT MATCHED THEN INSERT *;

SELECT * FROM {table} ORDER BY id;
-- expect:
-- 1 | a | NULL
-- 2 | B | 0.5
-- 3 | c | 1.5
