"""A pipeline of retail data as people write it: events, bronze, silver, gold, and their upkeep.

Every stage is compared with what pandas computes of the same events without Spark.
"""
