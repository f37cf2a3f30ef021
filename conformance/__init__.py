"""The checks of the specification, by family of operations.

PYTEST_DONT_REWRITE: checks contain no assert statements.
"""
