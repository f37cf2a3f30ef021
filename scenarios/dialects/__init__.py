"""Requests as published clients send them."""
