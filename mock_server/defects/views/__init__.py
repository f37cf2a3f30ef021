"""Defects of views."""
