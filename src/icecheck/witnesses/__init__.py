"""Real clients that checks drive: PyIceberg, whose requests our client carries, and Spark."""
