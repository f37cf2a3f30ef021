-- check: spark.namespace-not-empty
-- title: A namespace that holds a table is not dropped
-- proves: client.spark.namespace-not-empty

CREATE TABLE {table} (id INT) USING iceberg;

DROP NAMESPACE {catalog}.{namespace};
-- expect-error: NamespaceNotEmptyException

SHOW TABLES IN {catalog}.{namespace};
-- expect:
-- {namespace} | {name} | false

DROP TABLE {table};

SHOW TABLES IN {catalog}.{namespace};
-- expect: no rows

DROP NAMESPACE {catalog}.{namespace};

SHOW TABLES IN {catalog}.{namespace};
-- expect-error: NoSuchNamespaceException
