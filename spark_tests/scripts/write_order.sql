-- check: spark.write-order
-- title: A write order sorts the rows inside new files
-- proves: client.spark.write-order

CREATE TABLE {table} (id INT, name STRING) USING iceberg;

ALTER TABLE {table} WRITE ORDERED BY name DESC NULLS LAST, id;

INSERT INTO {table} VALUES (3, 'a'), (1, 'c'), (5, NULL), (2, 'b'), (4, 'c');

SELECT id, name FROM {table} ORDER BY _pos;
-- expect:
-- 1 | c
-- 4 | c
-- 2 | b
-- 3 | a
-- 5 | NULL

SHOW TBLPROPERTIES {table} ('sort-order');
-- expect:
-- sort-order | name DESC NULLS LAST, id ASC NULLS FIRST

ALTER TABLE {table} WRITE UNORDERED;

ALTER TABLE {table} WRITE DISTRIBUTED BY PARTITION LOCALLY ORDERED BY bucket(4, id), name;

SHOW TBLPROPERTIES {table} ('sort-order');
-- expect:
-- sort-order | bucket(4, id) ASC NULLS FIRST, name ASC NULLS FIRST

ALTER TABLE {table} WRITE LOCALLY ORDERED BY name ASC NULLS LAST, id DESC NULLS FIRST;

SHOW TBLPROPERTIES {table} ('sort-order');
-- expect:
-- sort-order | name ASC NULLS LAST, id DESC NULLS FIRST

ALTER TABLE {table} WRITE DISTRIBUTED BY PARTITION;

SHOW TBLPROPERTIES {table} ('write.distribution-mode');
-- expect:
-- write.distribution-mode | hash

ALTER TABLE {table} WRITE ORDERED BY name, truncate(10, id) DESC;

SHOW TBLPROPERTIES {table} ('write.distribution-mode');
-- expect:
-- write.distribution-mode | range

SHOW TBLPROPERTIES {table} ('sort-order');
-- expect:
-- sort-order | name ASC NULLS FIRST, truncate(id, 10) DESC NULLS LAST
