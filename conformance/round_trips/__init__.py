"""Checks that whatever was accepted is what the next load shows."""
