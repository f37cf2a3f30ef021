"""Checks of commits to one table: requirements, updates, and what holds after any of them."""
