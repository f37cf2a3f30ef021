"""Checks of error answers of all operations."""
