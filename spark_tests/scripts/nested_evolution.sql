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

-- Whole structures are added, and fields put into place within them.
ALTER TABLE {table} ADD COLUMN places MAP<STRUCT<x: INT>, STRUCT<a: INT>>;

ALTER TABLE {table} ADD COLUMN places.value.b INT;

ALTER TABLE {table} ADD COLUMN points ARRAY<STRUCT<x: DOUBLE, y: DOUBLE>>;

ALTER TABLE {table} ADD COLUMN points.element.z DOUBLE;

ALTER TABLE {table} ADD COLUMN point.w INT FIRST;

ALTER TABLE {table} ALTER COLUMN point.w AFTER x;

ALTER TABLE {table} DROP COLUMN point.z;

-- The keys of a map do not change.
ALTER TABLE {table} ADD COLUMN places.key.y INT;
-- expect-error: IllegalArgumentException

INSERT INTO {table} VALUES
  (3, named_struct('x', 1, 'w', 7, 'why', 5), NULL, NULL, map(named_struct('x', 1), named_struct('a', 2, 'b', 3)),
   array(named_struct('x', 0.5D, 'y', 1.5D, 'z', 2.5D)));

SELECT point, places, points FROM {table} ORDER BY id;
-- expect:
-- {1, null, 2} | NULL | NULL
-- {3000000000, null, 4} | NULL | NULL
-- {1, 7, 5} | {{1} -> {2, 3}} | [{0.5, 1.5, 2.5}]
