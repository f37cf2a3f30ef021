module example.com/orders

go 1.25.9

require github.com/apache/iceberg-go v0.7.0
