"""Defects of scan planning."""
