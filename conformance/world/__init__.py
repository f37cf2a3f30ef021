"""Checks that run a fixed sequence of steps over several namespaces, tables and views."""
