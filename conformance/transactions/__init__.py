"""Checks of several changes at once: in a transaction, or by clients that race."""
