-- check: spark.show-views
-- title: SHOW VIEWS lists the views of a namespace, and SHOW TABLES its tables
-- proves: client.spark.show-views

SHOW VIEWS IN {catalog}.{namespace};
-- expect: no rows

CREATE TABLE {table} (id INT) USING iceberg;

CREATE VIEW {view} AS SELECT id FROM {table};

CREATE VIEW {view2} AS SELECT id + 1 AS id FROM {view};

SHOW VIEWS IN {catalog}.{namespace};
-- expect:
-- {namespace} | {view_name} | false
-- {namespace} | {view_name2} | false

SHOW VIEWS IN {catalog}.{namespace} LIKE '{view_name2}';
-- expect:
-- {namespace} | {view_name2} | false

USE {catalog}.{namespace};

SHOW VIEWS;
-- expect:
-- {namespace} | {view_name} | false
-- {namespace} | {view_name2} | false

SHOW VIEWS IN {namespace};
-- expect:
-- {namespace} | {view_name} | false
-- {namespace} | {view_name2} | false

SHOW TABLES IN {catalog}.{namespace};
-- expect:
-- {namespace} | {name} | false

DROP VIEW {view2};

SHOW VIEWS IN {catalog}.{namespace};
-- expect:
-- {namespace} | {view_name} | false
