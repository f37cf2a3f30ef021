"""Catalogs that fail, stall or answer nonsense: what a run does with them."""
