"""Defects of lists and their pages."""
