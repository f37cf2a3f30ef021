-- check: spark.add-column
-- title: Columns are added at the end, first and in between; old rows read NULL
-- proves: client.spark.add-column

CREATE TABLE {table} (id INT, name STRING) USING iceberg;

INSERT INTO {table} VALUES (1, 'a');

ALTER TABLE {table} ADD COLUMNS (note STRING COMMENT 'free text', score DOUBLE);

ALTER TABLE {table} ADD COLUMN leading BIGINT FIRST;

ALTER TABLE {table} ADD COLUMN middle DATE AFTER id;

INSERT INTO {table} VALUES (7, 2, DATE '2024-01-31', 'b', 'words', 0.5);

SELECT * FROM {table} ORDER BY id;
-- expect:
-- NULL | 1 | NULL | a | NULL | NULL
-- 7 | 2 | 2024-01-31 | b | words | 0.5

DESCRIBE TABLE {table};
-- expect-including:
-- leading | bigint | NULL
-- note | string | free text

SELECT id FROM {table} WHERE score IS NULL;
-- expect:
-- 1
