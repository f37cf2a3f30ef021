"""The commands that read stored runs."""
