"""Sequences of steps that are drawn."""
