"""Checks that the next load shows exactly what was accepted."""
