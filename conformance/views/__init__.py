"""Checks of views: created, loaded, listed, committed to, dropped."""
