apache-iceberg-1.10.0
