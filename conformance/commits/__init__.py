"""Checks of commits to one table: requirements, updates, and rules that hold after every commit."""
