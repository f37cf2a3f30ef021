"""The listings and explanations of the command line."""
