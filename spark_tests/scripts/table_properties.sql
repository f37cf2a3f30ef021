-- check: spark.table-properties
-- title: Table properties are set, changed and removed
-- proves: client.spark.table-properties

CREATE TABLE {table} (id INT) USING iceberg
TBLPROPERTIES ('kept' = 'a', 'changed' = 'b', 'removed' = 'c');

ALTER TABLE {table} SET TBLPROPERTIES ('changed' = 'B', 'with space = and Ü' = 'd');

ALTER TABLE {table} UNSET TBLPROPERTIES ('removed');

SHOW TBLPROPERTIES {table};
-- expect-including:
-- kept | a
-- changed | B
-- with space = and Ü | d

SHOW TBLPROPERTIES {table} ('removed');
-- expect:
-- removed | Table {table} does not have property: removed

ALTER TABLE {table} SET TBLPROPERTIES ('comment' = 'A table comment.');

DESCRIBE TABLE EXTENDED {table};
-- expect-including:
-- Comment | A table comment. | ""

-- What is reserved for the table itself is not stored among its properties.
SHOW TBLPROPERTIES {table} ('format');
-- expect:
-- format | iceberg/parquet
