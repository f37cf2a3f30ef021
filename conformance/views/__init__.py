"""Checks of views: create, load, list, commit, drop."""
