"""Whole designs: catalogs unlike the mock in many ways at once, all of them allowed."""
