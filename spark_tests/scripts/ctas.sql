-- check: spark.ctas
-- title: A table is created from a query, partitioned and with properties, in one commit
-- proves: client.spark.ctas

CREATE TABLE {table} (id INT, country STRING) USING iceberg;

INSERT INTO {table} VALUES (1, 'FR'), (2, 'DE'), (3, 'FR');

CREATE TABLE {table2} USING iceberg PARTITIONED BY (country)
TBLPROPERTIES ('purpose' = 'copy')
AS SELECT id * 10 AS id, country FROM {table} WHERE id <> 2;

SELECT id, country FROM {table2} ORDER BY id;
-- expect:
-- 10 | FR
-- 30 | FR

SELECT partition.country, record_count FROM {table2}.partitions;
-- expect:
-- FR | 2

SHOW TBLPROPERTIES {table2} ('purpose');
-- expect:
-- purpose | copy

INSERT INTO {table2} VALUES (40, 'IT');

SELECT count(*) FROM {table2};
-- expect:
-- 3
