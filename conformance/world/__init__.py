"""Checks that walk through a small world of namespaces, tables and views."""
