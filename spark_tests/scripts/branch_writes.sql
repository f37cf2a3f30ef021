-- check: spark.branch-writes
-- title: MERGE, UPDATE, DELETE and INSERT change a branch and leave main as it is
-- proves: client.spark.branch-writes

CREATE TABLE {table} (id INT, data STRING) USING iceberg;

INSERT INTO {table} VALUES (1, 'a'), (2, 'b');

ALTER TABLE {table} CREATE BRANCH audit;
-- may-refuse: the catalog keeps no branches

INSERT INTO {table}.branch_audit VALUES (3, 'c');

MERGE INTO {table}.branch_audit t USING (SELECT 1 AS id, 'A' AS data UNION ALL SELECT 4, 'd') s
ON t.id = s.id
WHEN MATCHED THEN UPDATE SET *
WHEN NOT MATCHED THEN INSERT *;

UPDATE {table}.branch_audit AS t SET data = 'C' WHERE id = 3;

DELETE FROM {table}.branch_audit WHERE id = 2;

SELECT id, data FROM {table}.branch_audit ORDER BY id;
-- expect:
-- 1 | A
-- 3 | C
-- 4 | d

SELECT id, data FROM {table} ORDER BY id;
-- expect:
-- 1 | a
-- 2 | b

-- A column that is added belongs to the table, and so to every branch.
ALTER TABLE {table} ADD COLUMN note STRING;

INSERT INTO {table}.branch_audit VALUES (5, 'e', 'new');

SELECT id, note FROM {table}.branch_audit WHERE id IN (4, 5) ORDER BY id;
-- expect:
-- 4 | NULL
-- 5 | new

-- Whatever is written goes to the branch that the session names.
ALTER TABLE {table} SET TBLPROPERTIES ('write.wap.enabled' = 'true');

SET spark.wap.branch = audit;

INSERT INTO {table} VALUES (6, 'f', 'wap');

SELECT count(*) FROM {table};
-- expect:
-- 5

RESET spark.wap.branch;

SELECT id FROM {table} ORDER BY id;
-- expect:
-- 1
-- 2

INSERT OVERWRITE {table}.branch_audit VALUES (9, 'z', NULL);

SELECT id FROM {table}.branch_audit;
-- expect:
-- 9

INSERT INTO {table}.branch_absent VALUES (1, 'a', NULL);
-- expect-error: ValidationException

SELECT id FROM {table} ORDER BY id;
-- expect:
-- 1
-- 2
