"""Checks of error answers, whatever was asked."""
