"""The whole suite against catalogs that lack one thing, or many: that is said, and nothing else."""
