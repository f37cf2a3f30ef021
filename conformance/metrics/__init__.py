"""Checks of metrics reports."""
