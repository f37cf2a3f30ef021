"""What the command line lists and explains."""
