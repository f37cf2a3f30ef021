"""Defects of creating, loading, moving and dropping tables."""
