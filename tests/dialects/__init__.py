"""Requests of real clients: recorded once, and what is replayed of them."""
