"""Checks of tables: create, load, register, drop."""
