"""Defects of whole commits: requirements, transactions, races."""
