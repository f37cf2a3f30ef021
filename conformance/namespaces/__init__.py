"""Checks of namespaces and their properties."""
