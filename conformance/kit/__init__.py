"""Shared parts of the checks: arrange steps, commits, edge values and readers of answers."""
