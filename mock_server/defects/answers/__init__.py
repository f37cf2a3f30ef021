"""Defects of answers that do not depend on the operation."""
