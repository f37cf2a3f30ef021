"""The operations of the protocol as methods, in a session that cleans up after itself."""
