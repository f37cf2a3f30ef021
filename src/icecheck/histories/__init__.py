"""Races: concurrent requests of several clients, and the contradictions in their answers."""
