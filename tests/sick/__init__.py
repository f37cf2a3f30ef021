"""Targets in bad health: what a run does with them."""
