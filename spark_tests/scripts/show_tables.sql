-- check: spark.show-tables
-- title: SHOW TABLES lists what is in a namespace, and only that
-- proves: client.spark.show-tables

SHOW TABLES IN {catalog}.{namespace};
-- expect: no rows

CREATE TABLE {table} (id INT) USING iceberg;

CREATE TABLE {table2} (id INT) USING iceberg;

SHOW TABLES IN {catalog}.{namespace};
-- expect:
-- {namespace} | {name} | false
-- {namespace} | {name2} | false

SHOW TABLES IN {catalog}.{namespace} LIKE '{name2}';
-- expect:
-- {namespace} | {name2} | false

DROP TABLE {table};

SHOW TABLES IN {catalog}.{namespace};
-- expect:
-- {namespace} | {name2} | false
