"""Checks of idempotency keys: a request that comes again with its key has its effect once."""
