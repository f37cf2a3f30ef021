-- check: spark.rename-view
-- title: A renamed view selects the same, and renaming destroys nothing
-- proves: client.spark.rename-view

CREATE TABLE {table} (id INT) USING iceberg;

INSERT INTO {table} VALUES (1);

CREATE VIEW {view} AS SELECT id + 10 AS id FROM {table};

-- Unlike a table's, the new name of a view is given with the catalog.
ALTER VIEW {view} RENAME TO {view2};
-- may-refuse: the catalog does not rename views

SELECT id FROM {view2};
-- expect:
-- 11

SELECT id FROM {view};
-- expect-error: AnalysisException

CREATE VIEW {view} AS SELECT 'other' AS word;

-- The name is taken, by a view or by a table: all stay as they are.
ALTER VIEW {view} RENAME TO {view2};
-- expect-error: ViewAlreadyExistsException

ALTER VIEW {view} RENAME TO {table};
-- expect-error: ViewAlreadyExistsException

SELECT id FROM {view2};
-- expect:
-- 11

SELECT word FROM {view};
-- expect:
-- other

SELECT id FROM {table};
-- expect:
-- 1
