"""What the defects of several families are made of."""
