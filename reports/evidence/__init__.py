"""Evidence of many runs as Iceberg tables: taken in by Spark, through any REST catalog."""
