"""Attacks: what a hostile client or catalog tries, and what it must not get."""
