-- check: spark.create-insert-select
-- title: A table is created, written twice and read
-- proves: client.spark.create-insert-select

CREATE TABLE {table} (id BIGINT NOT NULL, name STRING, price DECIMAL(10, 2)) USING iceberg;

SELECT * FROM {table};
-- expect: no rows

INSERT INTO {table} VALUES (1, 'alpha', 1.50), (2, NULL, 20.00);

INSERT INTO {table} SELECT id + 10, name, price FROM {table} WHERE name IS NOT NULL;

SELECT id, name, price FROM {table} ORDER BY id;
-- expect:
-- 1 | alpha | 1.50
-- 2 | NULL | 20.00
-- 11 | alpha | 1.50

SELECT count(*), sum(price), count(name) FROM {table};
-- expect:
-- 3 | 23.00 | 2
