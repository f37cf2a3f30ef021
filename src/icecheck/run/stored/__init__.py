"""Runs that ended earlier, as one run again."""
