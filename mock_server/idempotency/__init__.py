"""Idempotency keys (1.11.0, L2079-L2107): a request that is repeated has one effect."""
