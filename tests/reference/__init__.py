"""Catalogs of other authors: started from their published packages, verified, compared."""
