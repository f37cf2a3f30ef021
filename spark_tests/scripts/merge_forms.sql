-- check: spark.merge-forms
-- title: MERGE takes conditions on every clause, and refuses two changes of one row
-- proves: client.spark.merge-forms

CREATE TABLE {table} (id INT, amount INT, status STRING) USING iceberg;

INSERT INTO {table} VALUES (1, NULL, 'ok'), (2, 5, 'ok'), (3, 7, 'ok'), (4, 9, 'ok'), (5, 0, 'ok');

CREATE TABLE {table2} (id INT, op STRING, age INT) USING iceberg;

INSERT INTO {table2} VALUES
  (1, 'increment', 1), (2, 'increment', 1), (3, 'delete', 1), (6, 'new', 10), (7, 'new', 99);

MERGE INTO {table} t USING (SELECT * FROM {table2}) s ON t.id = s.id
WHEN MATCHED AND s.op = 'delete' THEN DELETE
WHEN MATCHED AND t.amount IS NULL AND s.op = 'increment' THEN UPDATE SET t.amount = 0
WHEN MATCHED AND s.op = 'increment' THEN UPDATE SET t.amount = t.amount + 1
WHEN NOT MATCHED AND s.age < 50 THEN INSERT (id, amount) VALUES (s.id, 1)
WHEN NOT MATCHED BY SOURCE AND t.amount = 0 THEN DELETE
WHEN NOT MATCHED BY SOURCE THEN UPDATE SET status = 'invalid';

SELECT id, amount, status FROM {table} ORDER BY id;
-- expect:
-- 1 | 0 | ok
-- 2 | 6 | ok
-- 4 | 9 | invalid
-- 6 | 1 | NULL

-- Two rows of the source may not change one row of the table.
MERGE INTO {table} t USING (SELECT 2 AS id UNION ALL SELECT 2) s ON t.id = s.id
WHEN MATCHED THEN UPDATE SET amount = 100;
-- expect-error: SparkRuntimeException

SELECT count(*), sum(amount) FROM {table};
-- expect:
-- 4 | 16
