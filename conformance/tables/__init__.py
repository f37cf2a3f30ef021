"""Checks of tables: created, loaded, registered, dropped."""
