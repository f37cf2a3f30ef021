"""HTTP between the suite and the catalog: connections, retries, exchanges, redaction."""
