"""Checks that change a table step by step and read it in each state."""
