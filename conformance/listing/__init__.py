"""Checks of lists, whole and in pages."""
