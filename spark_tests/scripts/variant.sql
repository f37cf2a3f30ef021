-- check: spark.variant
-- title: A column of variants keeps values of every shape
-- proves: client.spark.variant
-- engine: spark >= 4.0, iceberg >= 1.10

CREATE TABLE {table} (id INT, v VARIANT) USING iceberg TBLPROPERTIES ('format-version' = '3');
-- may-refuse: the catalog keeps no tables of format version 3 or no variants

INSERT INTO {table} SELECT 1, parse_json('{"a": 1, "b": [true, null, "x"]}');

INSERT INTO {table} SELECT 2, parse_json('"text"') UNION ALL SELECT 3, NULL;

SELECT id, to_json(v) FROM {table} ORDER BY id;
-- expect:
-- 1 | "{\"a\":1,\"b\":[true,null,\"x\"]}"
-- 2 | "\"text\""
-- 3 | NULL

SELECT id FROM {table} WHERE variant_get(v, '$.a', 'int') = 1;
-- expect:
-- 1

ALTER TABLE {table} ADD COLUMN w VARIANT;

INSERT INTO {table} SELECT 4, NULL, parse_json('[1, 2.5]');

SELECT id, CAST(variant_get(w, '$[1]', 'double') AS STRING) FROM {table} ORDER BY id;
-- expect:
-- 1 | NULL
-- 2 | NULL
-- 3 | NULL
-- 4 | 2.5

DESCRIBE TABLE {table};
-- expect-including:
-- v | variant | NULL
-- w | variant | NULL
