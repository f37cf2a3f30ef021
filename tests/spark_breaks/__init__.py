"""Which statements really fail in Spark on a defective catalog, against what the suite says.

Spark runs every script's statements without the suite: nothing of how the suite runs or judges them
is used, not even the rows that a script expects.
"""
