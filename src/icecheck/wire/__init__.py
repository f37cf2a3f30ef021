"""What travels to the catalog and back: connections, retries, exchanges, redaction."""
