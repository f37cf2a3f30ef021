-- check: spark.awkward-names
-- title: Columns may have names of spaces, dots, quotes and letters of any script
-- proves: client.spark.awkward-names

CREATE TABLE {table} (`a space` INT, `a.dot` STRING, `it's "quoted"` STRING, `Größe 世界` INT,
  `select` INT, `50%/y` STRUCT<`x-y`: INT>) USING iceberg
PARTITIONED BY (`a.dot`, bucket(4, `a space`))
TBLPROPERTIES ('a key.with = signs' = 'a \'value\' with "quotes" and 世界');
-- may-refuse: the catalog accepts no such names

DESCRIBE TABLE {table};
-- expect-including:
-- Größe 世界 | int | NULL
-- "it's \"quoted\"" | string | NULL

INSERT INTO {table} VALUES (1, 'one/1', 'q', 2, 3, named_struct('x-y', 4));

INSERT INTO {table} VALUES (5, 'five 5%', NULL, 6, 7, NULL);

SELECT `a space`, `a.dot`, `it's "quoted"`, `Größe 世界`, `select`, `50%/y`.`x-y` FROM {table}
ORDER BY `a space`;
-- expect:
-- 1 | one/1 | q | 2 | 3 | 4
-- 5 | five 5% | NULL | 6 | 7 | NULL

SELECT `select` FROM {table} WHERE `a.dot` = 'five 5%' AND `Größe 世界` > 1;
-- expect:
-- 7

ALTER TABLE {table} RENAME COLUMN `Größe 世界` TO `naïve ✓`;
-- may-refuse: the catalog accepts no such names

ALTER TABLE {table} ALTER COLUMN `a space` COMMENT 'a "comment" with 世界 and \\ signs';
-- may-refuse: the catalog accepts no such comments

ALTER TABLE {table} ADD COLUMN `50%/y`.`z z` STRING;
-- may-refuse: the catalog accepts no such names

UPDATE {table} SET `naïve ✓` = 60 WHERE `a space` = 5;

SELECT `naïve ✓`, `50%/y` FROM {table} ORDER BY `a space`;
-- expect:
-- 2 | {4, null}
-- 60 | NULL

SHOW TBLPROPERTIES {table} ('a key.with = signs');
-- expect:
-- a key.with = signs | "a 'value' with \"quotes\" and 世界"

DESCRIBE TABLE {table};
-- expect-including:
-- a space | int | "a \"comment\" with 世界 and \\ signs"
