"""Spark SQL and PySpark end to end through the catalog under test. PYTEST_DONT_REWRITE."""
