"""Catalogs that nobody here wrote: started from their published packages, verified, compared."""
