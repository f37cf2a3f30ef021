"""Checks of lists, in one answer and in pages."""
