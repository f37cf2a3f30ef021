"""Building blocks for the defects of several families."""
