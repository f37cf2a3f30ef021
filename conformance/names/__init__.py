"""Checks of names: alike, odd, renamed, freed and used again."""
