"""Checks of scan planning."""
