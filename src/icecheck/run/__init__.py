"""A whole run: checks collected, run by several workers, finished and written."""
