"""The checks: what the specification demands, by family of operations.

PYTEST_DONT_REWRITE: checks contain no assert statements.
"""
