"""Defects of namespaces."""
