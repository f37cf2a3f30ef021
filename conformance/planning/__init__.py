"""Checks of plans with ids, credentials and limits, and of who plans."""
