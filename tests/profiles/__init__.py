"""Profiles of the mock: what they are like is what the suite finds."""
