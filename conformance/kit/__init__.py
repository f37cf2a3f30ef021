"""What checks of several families use: arrange steps, commits, values, and what is read back."""
