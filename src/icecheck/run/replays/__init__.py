"""Histories that are run again, and those that are looked for until time is over."""
