"""Takes steps in order, and judges after each that the catalog is as the model expects."""
