"""Checks in which a real PyIceberg works on the catalog, and our own client looks at what it did.

PYTEST_DONT_REWRITE: checks contain no assert statements.
"""
