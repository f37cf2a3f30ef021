-- check: spark.create-replace-view
-- title: A view selects what its query says, is replaced by another query, and dropped
-- proves: client.spark.create-replace-view

CREATE TABLE {table} (id INT, word STRING) USING iceberg;

INSERT INTO {table} VALUES (1, 'one'), (2, 'two');

CREATE VIEW {view} (number COMMENT 'the key') TBLPROPERTIES ('color' = 'red')
AS SELECT id FROM {table} WHERE id > 1;

SELECT number FROM {view};
-- expect:
-- 2

INSERT INTO {table} VALUES (3, 'three');

SELECT number FROM {view} ORDER BY number;
-- expect:
-- 2
-- 3

DESCRIBE {view};
-- expect:
-- number | int | the key

SHOW TBLPROPERTIES {view} ('color');
-- expect:
-- color | red

CREATE VIEW {view} AS SELECT 5 AS five;
-- expect-error: ViewAlreadyExistsException

CREATE VIEW IF NOT EXISTS {view} AS SELECT 5 AS five;

-- A new schema and a new version, both named by -1, in one commit.
CREATE OR REPLACE VIEW {view} AS SELECT word, id * 2 AS twice FROM {table};

SELECT * FROM {view} ORDER BY twice;
-- expect:
-- one | 2
-- two | 4
-- three | 6

ALTER VIEW {view} SET TBLPROPERTIES ('size' = 'small');

SHOW TBLPROPERTIES {view} ('size');
-- expect:
-- size | small

DROP VIEW {view};

SELECT * FROM {view};
-- expect-error: AnalysisException

DROP VIEW IF EXISTS {view};

SELECT count(*) FROM {table};
-- expect:
-- 3
