"""Merges findings of one root cause: how groups are connected, and the reasons to connect them."""
