"""Sequences of steps that are written down."""
