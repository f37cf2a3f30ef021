"""Bundles: a recorded run in one file, and every verdict in it derived again without a catalog."""
