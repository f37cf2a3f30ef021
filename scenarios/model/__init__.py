"""The reference world: what should be there after each step, and reading whether it is."""
