"""Checks of the configuration that a client requests first."""
