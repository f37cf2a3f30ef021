-- check: spark.namespaces
-- title: Namespaces are created, described, changed, listed and dropped
-- proves: client.spark.namespaces

CREATE NAMESPACE {catalog}.{namespace2} COMMENT 'first words';

-- Spark asks the catalog whether the namespace is there and then sends nothing.
CREATE NAMESPACE IF NOT EXISTS {catalog}.{namespace2};

CREATE NAMESPACE {catalog}.{namespace2};
-- expect-error: NamespaceAlreadyExistsException

SHOW NAMESPACES IN {parent};
-- expect-including:
-- {namespace}
-- {namespace2}

DESCRIBE NAMESPACE {catalog}.{namespace2};
-- expect-including:
-- Comment | first words

COMMENT ON NAMESPACE {catalog}.{namespace2} IS 'second words';

DESCRIBE NAMESPACE {catalog}.{namespace2};
-- expect-including:
-- Comment | second words

SHOW TABLES IN {catalog}.{namespace2};
-- expect: no rows

DROP NAMESPACE {catalog}.{namespace2};

DESCRIBE NAMESPACE {catalog}.{namespace2};
-- expect-error: NoSuchNamespaceException

DROP NAMESPACE IF EXISTS {catalog}.{namespace2};
