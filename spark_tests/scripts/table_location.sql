-- check: spark.table-location
-- title: A table and a view are kept below the location that is asked for
-- proves: client.spark.table-location

CREATE TABLE {table} (id INT) USING iceberg;

INSERT INTO {table} VALUES (1);

-- Below a table's own location nothing is in the way of others.
SELECT regexp_replace(file_path, '^(.*)/data/.*$', '$1') FROM {table}.files;
-- save: location

CREATE TABLE {table2} (id INT) USING iceberg LOCATION '{location}/within';
-- may-refuse: the catalog chooses the locations of tables

INSERT INTO {table2} VALUES (2);

-- A location without a scheme may come back with one.
SELECT count(*) FROM {table2}.files WHERE startswith(
  regexp_replace(file_path, '^file:(//)?', ''),
  concat(regexp_replace('{location}', '^file:(//)?', ''), '/within/'));
-- expect:
-- 1
