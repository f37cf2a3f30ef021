"""Checks that lead a table through many states and look at it in each."""
