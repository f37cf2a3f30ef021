-- check: spark.nested-evolution
-- title: Fields inside structs, arrays and maps are added, renamed, widened and dropped
-- proves: client.spark.nested-evolution

CREATE TABLE {table} (
  id INT,
  point STRUCT<x: INT, y: INT>,
  items ARRAY<STRUCT<sku: STRING, amount: INT>>,
  attributes MAP<STRING, STRUCT<v: INT>>
) USING iceberg;

INSERT INTO {table} VALUES
  (1, named_struct('x', 1, 'y', 2), array(named_struct('sku', 's1', 'amount', 5)),
   map('k', named_struct('v', 9)));

ALTER TABLE {table} ADD COLUMN point.z DOUBLE AFTER x;

ALTER TABLE {table} RENAME COLUMN point.y TO why;

ALTER TABLE {table} ALTER COLUMN point.x TYPE BIGINT;

ALTER TABLE {table} ADD COLUMN items.element.price DECIMAL(6, 2);

ALTER TABLE {table} DROP COLUMN items.element.amount;

ALTER TABLE {table} ADD COLUMN attributes.value.w STRING;

INSERT INTO {table} VALUES
  (2, named_struct('x', 3000000000, 'z', 0.5, 'why', 4),
   array(named_struct('sku', 's2', 'price', 9.99)), map('k', named_struct('v', 8, 'w', 'new')));

SELECT id, point, items, attributes FROM {table} ORDER BY id;
-- expect:
-- 1 | {1, null, 2} | [{s1, null}] | {k -> {9, null}}
-- 2 | {3000000000, 0.5, 4} | [{s2, 9.99}] | {k -> {8, new}}

SELECT id FROM {table} WHERE point.why = 2;
-- expect:
-- 1
