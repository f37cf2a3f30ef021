"""Defects of names: mangled, confused with others, or remembered for too long."""
