"""Checks of the configuration that a client asks for first."""
