"""Checks of several changes at once: in transactions and in races."""
