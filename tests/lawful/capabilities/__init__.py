"""The whole suite against catalogs that lack capabilities: reports name those and no faults."""
