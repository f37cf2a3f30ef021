"""Catalogs and clients that attack the suite, the mock, or what belongs to somebody else."""
