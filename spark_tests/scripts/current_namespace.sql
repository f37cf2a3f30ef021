-- check: spark.current-namespace
-- title: USE makes a namespace current, and bare names mean what is in it
-- proves: client.spark.current-namespace

USE {catalog}.{namespace};

SHOW CURRENT NAMESPACE;
-- expect:
-- {catalog} | {namespace}

CREATE TABLE {name} (id INT) USING iceberg;

INSERT INTO {name} VALUES (1);

SELECT id FROM {table};
-- expect:
-- 1

SHOW TABLES;
-- expect:
-- {namespace} | {name} | false

CREATE NAMESPACE {catalog}.{namespace2};

USE {namespace2};

SHOW TABLES;
-- expect: no rows

SELECT id FROM {name};
-- expect-error: AnalysisException

DROP NAMESPACE {catalog}.{namespace2};
