"""Defects made from the contract: one for each documented answer or operation."""
