"""Which statements really fail in Spark on a defective catalog, against what the suite says.

Spark runs every script's statements without the suite. What they show is compared with what they
show on a faithful mock; of a script only that is taken of which statements it expects anything.
"""
