"""Callers, their permissions, and their storage credentials."""
