"""Spark SQL scripts and a retail pipeline, run end to end through the catalog under test.

PYTEST_DONT_REWRITE: checks contain no assert statements.
"""
