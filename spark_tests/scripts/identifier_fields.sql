-- check: spark.identifier-fields
-- title: Identifier fields are kept by the catalog and protect their column
-- proves: client.spark.identifier-fields

CREATE TABLE {table} (id BIGINT NOT NULL, name STRING) USING iceberg;

ALTER TABLE {table} SET IDENTIFIER FIELDS id;

-- The client refuses because the schema that the catalog returned says so.
ALTER TABLE {table} DROP COLUMN id;
-- expect-error: IllegalArgumentException

ALTER TABLE {table} DROP IDENTIFIER FIELDS id;

ALTER TABLE {table} DROP COLUMN id;

INSERT INTO {table} VALUES ('only');

SELECT * FROM {table};
-- expect:
-- only

CREATE TABLE {table2} (id BIGINT NOT NULL, part STRING NOT NULL, name STRING) USING iceberg;

ALTER TABLE {table2} SET IDENTIFIER FIELDS id, part;

ALTER TABLE {table2} DROP COLUMN part;
-- expect-error: IllegalArgumentException

-- The later statement takes the place of the former.
ALTER TABLE {table2} SET IDENTIFIER FIELDS part;

SHOW TBLPROPERTIES {table2} ('identifier-fields');
-- expect:
-- identifier-fields | [part]

ALTER TABLE {table2} SET IDENTIFIER FIELDS id, part;

ALTER TABLE {table2} DROP IDENTIFIER FIELDS id, part;

ALTER TABLE {table2} DROP COLUMN id;
