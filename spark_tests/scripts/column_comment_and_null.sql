-- check: spark.column-comment-and-null
-- title: A column gets a comment and becomes optional
-- proves: client.spark.column-comment-and-null

CREATE TABLE {table} (id BIGINT NOT NULL, name STRING NOT NULL COMMENT 'first') USING iceberg
COMMENT 'a table';

DESCRIBE TABLE {table};
-- expect-including:
-- id | bigint | NULL
-- name | string | first

ALTER TABLE {table} ALTER COLUMN name COMMENT 'second';

ALTER TABLE {table} ALTER COLUMN name DROP NOT NULL;

INSERT INTO {table} VALUES (1, NULL);

SELECT id, name FROM {table};
-- expect:
-- 1 | NULL

DESCRIBE TABLE {table};
-- expect-including:
-- name | string | second

COMMENT ON TABLE {table} IS 'another comment';

DESCRIBE TABLE EXTENDED {table};
-- expect-including:
-- Comment | another comment | ""
