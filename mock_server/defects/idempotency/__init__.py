"""Defects of idempotency keys: what is asked again is done again, or answered otherwise."""
