"""Defects of the updates of a table."""
