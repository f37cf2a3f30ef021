apache-iceberg-1.11.0
