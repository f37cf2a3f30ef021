"""Checks of names: look-alike names, odd names, renames, freed names and name reuse."""
