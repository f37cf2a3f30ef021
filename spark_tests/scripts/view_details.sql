-- check: spark.view-details
-- title: A view shows its comment, columns, properties and query
-- proves: client.spark.view-details

CREATE TABLE {table} (id INT, zip STRING) USING iceberg;

INSERT INTO {table} VALUES (1, '75001');

CREATE VIEW {view} (ID COMMENT 'Unique ID', CODE COMMENT 'Zipcode')
COMMENT 'View Comment'
TBLPROPERTIES ('key1' = 'val1', 'key2' = 'val2')
AS SELECT id, zip FROM {table};

SELECT ID, CODE FROM {view};
-- expect:
-- 1 | 75001

DESCRIBE {view};
-- expect:
-- ID | int | Unique ID
-- CODE | string | Zipcode

DESCRIBE EXTENDED {view};
-- expect-including:
-- ID | int | Unique ID
-- CODE | string | Zipcode
-- Comment | View Comment | ""

SHOW TBLPROPERTIES {view};
-- expect-including:
-- key1 | val1
-- key2 | val2

ALTER VIEW {view} SET TBLPROPERTIES ('key1' = 'new', 'key3' = 'val3');

ALTER VIEW {view} UNSET TBLPROPERTIES ('key2');

SHOW TBLPROPERTIES {view};
-- expect-including:
-- key1 | new
-- key3 | val3

SHOW TBLPROPERTIES {view} ('key2');
-- expect:
-- key2 | View {view} does not have property: key2

ALTER VIEW {view} UNSET TBLPROPERTIES ('key2');
-- expect-error: AnalysisException

ALTER VIEW {view} UNSET TBLPROPERTIES IF EXISTS ('key2');

CREATE OR REPLACE VIEW {view} (updated_id COMMENT 'updated ID') TBLPROPERTIES ('key1' = 'newest')
AS SELECT id FROM {table};

DESCRIBE {view};
-- expect:
-- updated_id | int | updated ID

SHOW TBLPROPERTIES {view} ('key1');
-- expect:
-- key1 | newest

SHOW CREATE TABLE {view};
-- save: statement
