"""Formats of one run that are rendered when somebody asks for them, and not with every run."""
