"""The state of a catalog, and the inputs and results of operations."""
